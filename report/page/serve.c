/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server: who may ask, and when it ends.
 *
 * Other programs of this machine can connect, and pages of other sites can make a browser send requests. So a
 * request must have the token in its path, and this host's name in "Host" (a foreign name that leads here has
 * its own name there); answers are for pages of the same origin only.
 *
 * Limits: see serve.h.
 */
#include "config.h"

#include "report/page/serve.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "report/page/answer.h"

/* libmicrohttpd is loaded when it is needed: it and its libraries would double the start of every command. */
#define FUNCTIONS(F)                                                                               \
	F(add_response_header)                                                                     \
	F(create_response_from_buffer)                                                             \
	F(destroy_response)                                                                        \
	F(get_daemon_info)                                                                         \
	F(get_timeout)                                                                             \
	F(lookup_connection_value)                                                                 \
	F(queue_response)                                                                          \
	F(run)                                                                                     \
	F(start_daemon)                                                                            \
	F(stop_daemon)
#define POINTER(name) __typeof__(MHD_##name) *name;
static struct {
	FUNCTIONS(POINTER)
} http;
#undef POINTER

static bool load(void)
{
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	bool found = library;

#define FIND(name)                                                                                 \
	if (found) {                                                                               \
		http.name = (__typeof__(http.name))dlsym(library, "MHD_" #name);                   \
		found = http.name;                                                                 \
	}
	FUNCTIONS(FIND)
#undef FIND
	return found;
}

static volatile sig_atomic_t told;

static void on_signal(int number)
{
	(void)number;
	told = 1;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- requests ------------------------------------------------------------------------------------ */

/* "127.0.0.1", "localhost", with any port: `ssh -L` may have another one at its end. */
static bool is_here(const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };

	for (unsigned i = 0; host && i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);

		if (!strncasecmp(host, names[i], length) && (!host[length] || host[length] == ':'))
			return true;
	}
	return false;
}

/* The rest of the path after "/TOKEN/", or NULL. Takes the same time whatever is wrong. */
static const char *behind_token(const struct gt_serve *serve, const char *path)
{
	unsigned char differs = 0;

	if (strlen(path) < GT_SERVE_TOKEN + 2 || path[0] != '/' || path[GT_SERVE_TOKEN + 1] != '/')
		return NULL;
	for (unsigned i = 0; i < GT_SERVE_TOKEN; i++)
		differs |= (unsigned char)(path[1 + i] ^ serve->token[i]);
	return differs ? NULL : path + GT_SERVE_TOKEN + 2;
}

static const char *parameter(void *connection, const char *name)
{
	return http.lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

static enum MHD_Result reply(struct MHD_Connection *connection, unsigned status, const char *type,
			     struct gt_bytes *body)
{
	static const char *const headers[][2] = {
		{ "Cache-Control", "no-store" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "X-Frame-Options", "DENY" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
	};
	struct MHD_Response *response =
		http.create_response_from_buffer(body->count, body->data, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response) {
		free(body->data);
		return MHD_NO;
	}
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		http.add_response_header(response, headers[i][0], headers[i][1]);
	if (status != MHD_HTTP_NO_CONTENT)
		http.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		http.add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, POST");
	result = http.queue_response(connection, status, response);
	http.destroy_response(response);
	return result;
}

static unsigned respond(struct gt_serve *serve, struct MHD_Connection *connection, const char *path,
			const char *method, struct gt_bytes *out, const char **type)
{
	const char *what = behind_token(serve, path);
	bool get = !strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD);

	*type = "text/plain; charset=utf-8";
	if (!is_here(http.lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST))) {
		gt_bytes_print(out, "Host must be 127.0.0.1 or localhost\n");
		return MHD_HTTP_FORBIDDEN;
	}
	if (!what) {
		gt_bytes_print(out, "there is nothing here\n");
		return MHD_HTTP_NOT_FOUND;
	}
	if (!get && (strcmp(method, MHD_HTTP_METHOD_POST) || strcmp(what, "quit"))) {
		gt_bytes_print(out, "not with this method\n");
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	}
	if (!get) {
		serve->over = true;
		return MHD_HTTP_NO_CONTENT;
	}
	return gt_answer(serve, what, parameter, connection, out, type);
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *upload, size_t *size,
				  void **begun)
{
	static int any;
	struct gt_bytes out = { .count = 0 };
	struct gt_serve *serve = user;
	const char *type;
	unsigned status;

	(void)version, (void)upload;
	if (!*begun) { /* only the headers are there */
		*begun = &any;
		return MHD_YES;
	}
	if (*size) { /* what somebody posts is not looked at */
		*size = 0;
		return MHD_YES;
	}
	status = respond(serve, connection, path, method, &out, &type);
	if (status != MHD_HTTP_FORBIDDEN && status != MHD_HTTP_NOT_FOUND)
		serve->last = now();
	return reply(connection, status, type, &out);
}

/* ---- the socket ---------------------------------------------------------------------------------- */

static int open_socket(struct gt_serve *serve)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)serve->port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int one = 1;

	serve->listen = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (serve->listen < 0)
		return -errno;
	setsockopt(serve->listen, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(serve->listen, (struct sockaddr *)&address, sizeof(address)) || listen(serve->listen, 64) ||
	    getsockname(serve->listen, (struct sockaddr *)&address, &size)) {
		int error = errno;

		close(serve->listen);
		return -error;
	}
	serve->port = ntohs(address.sin_port);
	return 0;
}

static bool make_token(struct gt_serve *serve)
{
	unsigned char random[GT_SERVE_TOKEN / 2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return false;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(serve->token + 2 * i, 3, "%02x", random[i]);
	return true;
}

int gt_serve_begin(struct gt_serve *serve, const char *anchor, const struct gt_store *store)
{
	int rc = !load() ? -ELIBACC : make_token(serve) ? open_socket(serve) : -errno;

	if (rc)
		return rc;
	serve->store = store;
	serve->single = (struct gt_single){ .anchor = anchor, .store = store };
	if (!gt_answer_prepare(serve))
		return -EINVAL;
	serve->daemon = http.start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, serve,
					 MHD_OPTION_LISTEN_SOCKET, serve->listen,
					 MHD_OPTION_CONNECTION_LIMIT, 64u,
					 MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_END);
	return serve->daemon ? 0 : -EIO;
}

/* Milliseconds until something is to be done without a request. */
static int patience(const struct gt_serve *serve)
{
	uint64_t passed = (now() - serve->last) / 1000000, all = (uint64_t)serve->idle * 1000;
	MHD_UNSIGNED_LONG_LONG own;
	int most = 60000;

	if (serve->over)
		return 100;
	if (http.get_timeout(serve->daemon, &own) == MHD_YES && own < (unsigned)most)
		most = (int)own;
	if (serve->idle && all <= passed)
		return 0;
	return serve->idle && all - passed < (uint64_t)most ? (int)(all - passed) : most;
}

void gt_serve_run(struct gt_serve *serve)
{
	const union MHD_DaemonInfo *info = http.get_daemon_info(serve->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct sigaction action = { .sa_handler = on_signal };
	struct pollfd p = { .fd = info ? info->epoll_fd : -1, .events = POLLIN };
	sigset_t ends, before;
	struct timespec wait;
	unsigned rounds = 0;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	serve->last = now();
	while (!told && rounds < 5) {
		int ms = patience(serve);

		wait = (struct timespec){ ms / 1000, ms % 1000 * 1000000L };
		ppoll(&p, 1, &wait, &before);
		http.run(serve->daemon);
		rounds += serve->over; /* its last answer is on its way */
		if (serve->idle && now() - serve->last >= (uint64_t)serve->idle * 1000000000)
			break;
	}
	http.stop_daemon(serve->daemon);
	gt_single_end(&serve->single);
	free(serve->sum_levels);
	sigprocmask(SIG_SETMASK, &before, NULL);
}
