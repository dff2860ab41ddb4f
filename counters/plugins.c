/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plug-ins: libraries that VT_PLUGIN_CNTR_METRICS names. A library is tried in a copy of the process first,
 * where all that it does is begun, read and ended once: one that crashes there, or does not return in time,
 * is not used.
 *
 * Limits: what a plug-in does later, on the program's threads or its own, is done to the program. What it
 * does to the outside of the process it does twice. Tried on x86-64 and aarch64 only.
 */
#include "counters/scorep.h"
#include "gputrace/syscall.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SETTING  "VT_PLUGIN_CNTR_METRICS"
#define TRY_MS   5000
#define PATH     1024
#define READINGS 2

/* One name of the setting: LIBRARY_METRIC or LIBRARY::METRIC. */
struct wish {
	char library[GT_PLUGIN_NAME], path[PATH];
	const char *metric;
};

static struct library {
	char name[GT_PLUGIN_NAME];
	const struct gt_plugin *plugin; /* NULL: it is not used, which has been said */
} libraries[GT_CN_SOURCES];
static unsigned library_count;

/* ---- a copy of the process ------------------------------------------------------------------- */

#if defined(__x86_64__) || defined(__aarch64__)
#define CAN_TRY true
#else
#define CAN_TRY false
#endif

/*
 * Waits for the child, whose end sends no signal; ends it after a time. Its wait status, -1: it took too
 * long.
 */
static int wait_for(long pid)
{
	const struct timespec nap = { 0, 2000000 };
	uint64_t end = gt_monotonic() + TRY_MS * UINT64_C(1000000);
	int status = 0;

	while (!gt_raw(SYS_wait4, pid, &status, WNOHANG | __WALL, 0)) {
		if (gt_monotonic() > end) {
			gt_raw(SYS_kill, pid, SIGKILL);
			gt_raw(SYS_wait4, pid, &status, __WALL, 0);
			return -1;
		}
		gt_raw(SYS_nanosleep, &nap, NULL);
	}
	return status;
}

/* What it says is said again when it is used; and no core file. */
static void become_silent(void)
{
	const struct rlimit none = { 0, 0 };
	long null = gt_raw(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC);

	gt_raw(SYS_dup3, null, 1, 0);
	gt_raw(SYS_dup3, null, 2, 0);
	gt_raw(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL);
}

/* Calls the function in a copy of the process. Returns what is wrong with that, or NULL. */
static const char *try_apart(void (*function)(const struct wish *), const struct wish *wish)
{
	/* No signal at its end, no handlers of fork. */
	long pid = CAN_TRY ? gt_raw(SYS_clone, 0, 0, 0, 0, 0) : -ENOSYS;
	int status;

	if (pid == -ENOSYS)
		return NULL;
	if (pid < 0)
		return "it cannot be tried: no process can be made";
	if (!pid) {
		gt_copy_unrecorded();
		become_silent();
		function(wish);
		gt_raw(SYS_exit_group, 0);
	}
	status = wait_for(pid);
	if (status < 0)
		return "it did not return within five seconds when it was tried";
	if (WIFSIGNALED(status))
		return "it crashed when it was tried";
	return WEXITSTATUS(status) ? "it ended the process in which it was tried" : NULL;
}

/* ---- loading --------------------------------------------------------------------------------- */

static const struct gt_plugin *load(const struct wish *wish, char *why, size_t room)
{
	void *handle = dlopen(wish->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	const struct gt_plugin *plugin = handle ? dlsym(handle, "gt_plugin") : NULL;
	char symbol[GT_PLUGIN_NAME + 40];
	void *get_info;

	if (!handle) {
		snprintf(why, room, "%s", dlerror());
		return NULL;
	}
	if (plugin)
		return plugin;
	snprintf(symbol, sizeof(symbol), "SCOREP_MetricPlugin_%s_get_info", wish->library);
	get_info = dlsym(handle, symbol);
	if (get_info)
		return gt_cn_scorep(wish->library, get_info, why, room);
	snprintf(why, room, "it exports neither gt_plugin nor %s", symbol);
	return NULL;
}

static int put_nothing(const struct gt_plugin_sink *sink, unsigned metric, uint64_t tick, uint64_t value)
{
	(void)sink;
	(void)metric;
	(void)tick;
	(void)value;
	return 0;
}

static void lost_nothing(const struct gt_plugin_sink *sink, uint64_t values)
{
	(void)sink;
	(void)values;
}

static void say_nothing(int level, const char *text)
{
	(void)level;
	(void)text;
}

static void try_reading(const struct gt_plugin *plugin, void *state, unsigned n)
{
	const struct gt_plugin_sink sink = { sizeof(sink), NULL, put_nothing, lost_nothing };
	uint64_t values[GT_PLUGIN_METRICS];

	for (int i = 0; plugin->ways & (GT_PLUGIN_SYNC | GT_PLUGIN_POLLED) && i < READINGS; i++)
		plugin->read(state, values, n);
	if (plugin->ways & GT_PLUGIN_CALLBACK && !plugin->start(state, &sink))
		plugin->stop(state);
	if (plugin->ways & GT_PLUGIN_POST_MORTEM)
		plugin->collect(state, &sink);
}

/* For a trial of list(), which `gputrace info --metrics` calls. */
static void no_metric(const struct gt_plugin_metric *metric, void *unused)
{
	(void)metric;
	(void)unused;
}

static void try_listing(const struct wish *wish)
{
	char why[GT_PLUGIN_TEXT] = "";
	const struct gt_plugin *plugin = load(wish, why, sizeof(why));

	if (!plugin || gt_cn_source_add(plugin) || gt_cn_source_begin(plugin))
		return;
	plugin->list(no_metric, NULL);
	if (plugin->end)
		plugin->end();
}

/* Its whole course, once. What it says of itself must be sound as well (gt_cn_source_add()). */
static void try_all(const struct wish *wish)
{
	struct gt_plugin_metric *metrics = calloc(GT_PLUGIN_METRICS, sizeof(*metrics));
	uint64_t ids[GT_PLUGIN_METRICS];
	char why[GT_PLUGIN_TEXT] = "";
	const struct gt_plugin *plugin = load(wish, why, sizeof(why));
	static struct gt_plugin_host host;
	void *state = NULL;
	int n;

	host = *gt_cn_host();
	host.say = say_nothing;
	if (!metrics || !plugin || gt_cn_source_add(plugin) ||
	    (plugin->begin && plugin->begin(&host, why, sizeof(why))))
		return;
	for (unsigned i = 0; i < GT_PLUGIN_METRICS; i++)
		metrics[i].bytes = sizeof(metrics[i]);
	n = plugin->find(wish->metric, metrics, GT_PLUGIN_METRICS, why, sizeof(why));
	n = n < 0 ? 0 : n < (int)GT_PLUGIN_METRICS ? n : (int)GT_PLUGIN_METRICS;
	for (int i = 0; i < n; i++)
		ids[i] = metrics[i].id;
	if (n && !plugin->open(ids, (unsigned)n, 0, &state)) {
		try_reading(plugin, state, (unsigned)n);
		plugin->close(state);
	}
	if (plugin->end)
		plugin->end();
}

static const struct gt_plugin *use(const struct wish *wish, void (*course)(const struct wish *), char *why,
				   size_t room)
{
	const char *wrong = try_apart(course, wish);
	const struct gt_plugin *plugin;

	if (wrong) {
		snprintf(why, room, "%s", wrong);
		return NULL;
	}
	plugin = load(wish, why, room);
	switch (plugin ? gt_cn_source_add(plugin) : 0) {
	case 0:
		return plugin;
	case -EPROTO:
		snprintf(why, room,
			 "it has abi version %lu and bytes %lu, and gputrace takes version %u from %lu "
			 "bytes up: compile it with the installed headers",
			 (unsigned long)plugin->abi, (unsigned long)plugin->bytes, GT_PLUGIN_ABI,
			 (unsigned long)gt_cn_source_first());
		gt_lost(GT_LOSS_DEFINITION, 1);
		return NULL;
	case -EALREADY:
		snprintf(why, room, "another source has its name, %s", plugin->name);
		return NULL;
	case -ENOSPC:
		snprintf(why, room, "too many sources");
		return NULL;
	default:
		snprintf(why, room, "a function is missing in it");
		return NULL;
	}
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_in_folders(struct wish *wish, const char *list)
{
	while (list && *list) {
		size_t n = strcspn(list, ":");

		snprintf(wish->path, sizeof(wish->path), "%.*s/lib%s.so", (int)n, list, wish->library);
		if (n && !gt_raw(SYS_faccessat, AT_FDCWD, wish->path, R_OK))
			return true;
		list += n + (list[n] == ':');
	}
	return false;
}

static bool find_library(struct wish *wish)
{
	return is_in_folders(wish, gt_setting("VT_PLUGIN_CNTR_PATH")) ||
	       is_in_folders(wish, getenv("LD_LIBRARY_PATH"));
}

/* The name's first part that is a library; what is behind it, and a _ or ::, is the metric. */
static bool split(const char *name, struct wish *wish)
{
	for (const char *at = name; (at = strpbrk(at, "_:")); at++) {
		bool colons = !strncmp(at, "::", 2);

		if (at == name || (*at == ':' && !colons))
			continue;
		snprintf(wish->library, sizeof(wish->library), "%.*s", (int)(at - name), name);
		wish->metric = at + (colons ? 2 : 1);
		if (*wish->metric && !strchr(wish->library, '/') && find_library(wish))
			return true;
	}
	return false;
}

static struct library *library_of(const struct wish *wish)
{
	char why[PATH] = "";
	struct library *library;

	for (unsigned i = 0; i < library_count; i++)
		if (!strcmp(libraries[i].name, wish->library))
			return &libraries[i];
	if (library_count == GT_CN_SOURCES)
		return NULL;
	library = &libraries[library_count++];
	memcpy(library->name, wish->library, sizeof(library->name));
	library->plugin = use(wish, try_all, why, sizeof(why));
	if (!library->plugin)
		gt_message(1, "the plug-in %s is not used: %s", wish->path, why);
	return library;
}

bool gt_cn_plugin(const char *name, const struct gt_plugin **plugin, const char **metric)
{
	struct wish wish = { .metric = "" };
	const struct library *library = split(name, &wish) ? library_of(&wish) : NULL;

	*plugin = library ? library->plugin : NULL;
	*metric = wish.metric;
	return library;
}

bool gt_cn_metric_sound(struct gt_plugin_metric *metric)
{
	metric->name[sizeof(metric->name) - 1] = '\0';
	metric->description[sizeof(metric->description) - 1] = '\0';
	metric->unit[sizeof(metric->unit) - 1] = '\0';
	metric->device_name[sizeof(metric->device_name) - 1] = '\0';
	return metric->name[0] && metric->scope <= GT_PLUGIN_ONCE && metric->base <= GT_PLUGIN_DECIMAL &&
	       (metric->mode & 0xf) <= 2 && metric->mode >> 4 <= 3 &&
	       (metric->value == GT_PLUGIN_UINT || metric->value == GT_PLUGIN_INT ||
		metric->value == GT_PLUGIN_DOUBLE);
}

/* ---- gputrace info --metrics ----------------------------------------------------------------- */

static void list_one(const struct gt_cn_listing *out, const struct wish *wish)
{
	const struct gt_plugin *plugin;
	const char *reason;
	char why[PATH] = "";

	for (unsigned i = 0; i < library_count; i++)
		if (!strcmp(libraries[i].name, wish->library))
			return;
	if (library_count < GT_CN_SOURCES)
		memcpy(libraries[library_count++].name, wish->library, sizeof(wish->library));
	plugin = use(wish, try_listing, why, sizeof(why));
	reason = plugin ? gt_cn_source_begin(plugin) : why;
	out->source(plugin ? plugin->name : wish->library, plugin ? plugin->description : NULL, wish->path,
		      reason, out->argument);
	if (!reason)
		plugin->list(out->each, out->argument);
}

void gt_cn_plugin_list(const struct gt_cn_listing *out, const char *name)
{
	struct wish wish = { .metric = "" };

	if (split(name, &wish))
		list_one(out, &wish);
	else
		out->source(name, NULL, NULL,
			      "it is in no folder of VT_PLUGIN_CNTR_PATH or LD_LIBRARY_PATH", out->argument);
}

/* Does the file have the text of such a symbol? Other libraries are not loaded. */
static bool looks_like_one(const char *path)
{
	struct stat own;
	long fd = gt_raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	long size = gt_raw_note_own(fd, &own) ? 0 : own.st_size;
	long at = size > 0 ? gt_raw(SYS_mmap, 0, size, PROT_READ, MAP_PRIVATE, fd, 0) : 0;
	bool mapped = at > 0 || at < -4095;
	bool found = mapped &&
		     (memmem((void *)at, (size_t)size, "gt_plugin", sizeof("gt_plugin")) ||
		      memmem((void *)at, (size_t)size, "SCOREP_MetricPlugin_",
			     strlen("SCOREP_MetricPlugin_")));

	if (mapped)
		gt_raw(SYS_munmap, at, size);
	gt_raw_close_own(fd, &own);
	return found;
}

static void list_file(const struct gt_cn_listing *out, const char *folder, int length, const char *name,
		      struct wish *wish)
{
	size_t n = strlen(name);

	if (n < sizeof("lib.so") || strncmp(name, "lib", 3) || strcmp(name + n - 3, ".so"))
		return;
	snprintf(wish->path, sizeof(wish->path), "%.*s/%s", length, folder, name);
	snprintf(wish->library, sizeof(wish->library), "%.*s", (int)(n - 6), name + 3);
	if (looks_like_one(wish->path))
		list_one(out, wish);
}

static void list_folder(const struct gt_cn_listing *out, const char *folder, int length)
{
	struct wish wish = { .metric = "" };
	struct dirent **files = NULL;
	char path[PATH];
	int n;

	snprintf(path, sizeof(path), "%.*s", length, folder);
	n = scandir(path, &files, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		list_file(out, folder, length, files[i]->d_name, &wish);
		free(files[i]);
	}
	free(files);
}

void gt_cn_plugins_list(const struct gt_cn_listing *out)
{
	const char *list = gt_setting("VT_PLUGIN_CNTR_PATH");

	while (list && *list) {
		size_t n = strcspn(list, ":");

		if (n)
			list_folder(out, list, (int)n);
		list += n + (list[n] == ':');
	}
}
