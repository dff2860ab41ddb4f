/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace run`: makes the archive directory, says in the environment where it is and what to
 * preload, starts the command and waits for its end (run_parent.c), and makes the archive (watch.c).
 *
 * Limits: what cannot be recorded is refused unless --force-untraced is given; a rank of an MPI program
 * runs if merely its directory cannot be made. A command that is not watched (untraced, within another
 * run, --exec) takes our place.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launchers/job.h"
#include "lib/common/needed.h"
#include "lib/common/process.h"
#include "lib/common/rundir.h"
#include "lib/common/settings.h"
#include "lib/common/settings_names.h"
#include "lib/format.h"
#include "tools/binary.h"
#include "tools/cmds.h"
#include "tools/hand_on.h"
#include "tools/options.h"
#include "tools/paths.h"
#include "tools/run_parent.h"
#include "tools/wraps.h"

#define RC_REFUSED 125 /* like env, nohup and timeout: the fault is ours, not the command's */
#define CORE       "libgputrace.so"
#define WRAPS_MAX  32
#define CHECK_SECONDS 10

#define USUAL_RATE "1000"

enum { KEY_UNTRACED = 0x100, KEY_SAMPLE, KEY_NO_SAMPLE };

static const struct gt_option options[] = {
	{'o', "output", "DIR", "Make this archive directory (default: gputrace-<program>-<time>)."},
	{'f', "filter", "FILE", "Apply a filter file (VT_FILTER_SPEC)."},
	{'w', "wrap", "NAME|DIR", "Record the calls of a library, too; may be repeated (libwrapgen)."},
	{KEY_SAMPLE, "sample", "[=RATE]",
	 "Sample call stacks, RATE times (1000) a second of processor time (VT_SAMPLING)."},
	{KEY_NO_SAMPLE, "no-sample", NULL, "Sample nothing (VT_SAMPLING=0)."},
	{'s', "set", "VT_X=VALUE", "Set one setting; see gputrace info --config."},
	{'v', "verbose", NULL, "Print what gputrace does; twice: everything."},
	{'q', "quiet", NULL, "Print errors only."},
	{'e', "exec", NULL, "Replace gputrace run with the command (exec)."},
	{'S', "strict", NULL, "Do not run what cannot be traced as asked, MPI ranks included."},
	{KEY_UNTRACED, "force-untraced", NULL, "Run the command even if it cannot be recorded."},
	{0, NULL, NULL, NULL},
};

static const struct gt_usage usage = {
	.command = "gputrace run",
	.synopsis = "[options] [--] command [arguments]",
	.summary = "Runs a command and records it into an OTF2 archive.",
	.options = options,
	.notes = "The exit status is the command's own; 127: no such command, 126: it cannot be run,\n"
		 "125: it cannot be traced, 2: wrong usage.\n",
	.stop_at_operand = true,
};

struct request {
	const char *output;
	bool strict, force, exec, started;
	bool no_preload; /* gputrace lies where no library can be preloaded from */
	int verbose; /* levels above or below the setting */
	bool quiet;
	char *wraps[WRAPS_MAX]; /* paths of wrappers */
	size_t wraps_n;
	const char *checking;   /* the name given to --set, while it is being checked */
	char complaint[512];    /* what the settings had to say about it */
};
static struct request request;

/* ---- settings given as options ------------------------------------------------------------- */

/*
 * The traced program complains about its environment itself, but for what is said once for a run; else
 * only --set is of interest here.
 */
static void complain(const char *sentence)
{
	if (request.started && strstr(sentence, "is VampirTrace's"))
		gt_say(1, "%s", sentence);
	if (request.checking && strstr(sentence, request.checking) && !request.complaint[0])
		snprintf(request.complaint, sizeof(request.complaint), "%s", sentence);
}

static const struct gt_setting_row *find_setting(const char *name, size_t length)
{
	for (size_t i = 0; i < gt_setting_count; i++)
		if (strlen(gt_setting_rows[i].name) == length &&
		    !strncmp(gt_setting_rows[i].name, name, length))
			return &gt_setting_rows[i];
	return NULL;
}

static int set_to(const char *name, const char *value)
{
	char *tail;

	setenv(name, value, 1);
	request.checking = name;
	request.complaint[0] = '\0';
	gt_settings_load(environ, complain);
	request.checking = NULL;
	tail = strstr(request.complaint, "; the default");
	if (tail) /* as it is where the program runs */
		*tail = '\0';
	return request.complaint[0] ? gt_usage_error(&usage, "%s; nothing was run", request.complaint) : 0;
}

static int set(const char *assignment)
{
	const char *equals = strchr(assignment, '=');
	size_t length = equals ? (size_t)(equals - assignment) : strlen(assignment);
	const struct gt_setting_row *row = find_setting(assignment, length);
	const char *near = NULL;

	if (!equals)
		return gt_usage_error(&usage, "--set takes NAME=VALUE, not '%s'", assignment);
	if (row)
		return set_to(row->name, equals + 1);
	gt_setting_name_kind(assignment, length, &near);
	return gt_usage_error(&usage, "there is no setting '%.*s'%s%s%s", (int)length, assignment,
			      near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static int set_filter(const char *file)
{
	char *full = realpath(file, NULL);
	int fd = full ? open(full, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0) {
		free(full);
		return gt_usage_error(&usage, "the filter file %s cannot be read: %s", file,
				      strerror(errno));
	}
	close(fd);
	setenv("VT_FILTER_SPEC", full, 1);
	free(full);
	return 0;
}

/* Files that a setting names must be found from any folder the program may go to. */
static void make_absolute(const char *name)
{
	const char *value = getenv(name);
	char *full;

	if (!value || !*value || *value == '/' || strchr(value, '$'))
		return;
	full = realpath(value, NULL);
	if (full)
		setenv(name, full, 1);
	free(full);
}

/* --wrap: one wrapper, or several with commas between them. */
static int add_wraps(const char *list)
{
	int rc = 0;

	while (*list && !rc) {
		char path[PATH_MAX], why[PATH_MAX + 256], *word = strndup(list, strcspn(list, ","));

		if (!word)
			return gt_usage_error(&usage, "no memory");
		if (request.wraps_n == WRAPS_MAX)
			rc = gt_usage_error(&usage, "more than %d wrappers", WRAPS_MAX);
		else if (!gt_wrap_file(word, GT_WRAP_SHARED, path, sizeof(path), why, sizeof(why)))
			rc = gt_usage_error(&usage, "%s", why);
		else
			request.wraps[request.wraps_n++] = strdup(path);
		list += strlen(word);
		list += *list == ',';
		free(word);
	}
	return rc;
}

static void apply_verbosity(void)
{
	char number[16];

	if (!request.quiet && !request.verbose)
		return;
	snprintf(number, sizeof(number), "%d", request.quiet ? 0 : 1 + request.verbose);
	setenv("VT_VERBOSE", number, 1);
}

static int parse(int argc, char **argv)
{
	int key, rc = 0;

	while (!rc && (key = gt_option_next(&usage, argc, argv)) > 0) {
		switch (key) {
		case 'o':
			request.output = optarg;
			if (!*optarg)
				rc = gt_usage_error(&usage, "-o needs the name of a folder");
			break;
		case 'f':
			rc = set_filter(optarg);
			break;
		case 's':
			rc = set(optarg);
			break;
		case KEY_SAMPLE:
			rc = set_to("VT_SAMPLING", optarg ? optarg : USUAL_RATE);
			break;
		case KEY_NO_SAMPLE:
			rc = set_to("VT_SAMPLING", "0");
			break;
		case 'w':
			rc = *optarg ? add_wraps(optarg) : gt_usage_error(&usage, "--wrap needs a name");
			break;
		case 'v':
			request.verbose += request.verbose < 2;
			break;
		case 'q':
			request.quiet = true;
			break;
		case 'e':
			request.exec = true;
			break;
		case 'S':
			request.strict = true;
			break;
		case KEY_UNTRACED:
			request.force = true;
			break;
		}
	}
	if (rc)
		return rc;
	if (key < 0)
		return key == GT_OPT_HELP ? -1 : GT_OPT_STATUS(key);
	if (optind == argc)
		return gt_usage_error(&usage, "no command was given");
	return 0;
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- can it be traced? --------------------------------------------------------------------- */

/* A sentence on what to do about a program that cannot be traced, or NULL. */
static const char *obstacle(const struct gt_binary *b)
{
	switch (b->kind) {
	case GT_BINARY_STATIC:
		return "is linked statically, so nothing can be loaded into it: link it dynamically";
	case GT_BINARY_FOREIGN:
		return "is made for another architecture than this gputrace: use a gputrace built for it";
	case GT_BINARY_LIBC:
		return "uses another C library than this gputrace: use a gputrace built with it";
	case GT_BINARY_SETID:
		return "runs with other privileges than yours, which forbids tracing: run gputrace with "
		       "those privileges, or trace a copy of the program without them";
	default:
		return NULL;
	}
}

/* ---- the run ------------------------------------------------------------------------------- */

/* Are we inside a run that still goes on? */
static bool inside_run(void)
{
	const char *dir = getenv(GT_RUN_DIR_VAR);
	struct gt_run_header header;
	char path[PATH_MAX];
	bool open_run = false;
	int fd;

	if (!dir || *dir != '/')
		return false;
	snprintf(path, sizeof(path), "%s/spool/run", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	if (read(fd, &header, sizeof(header)) == (ssize_t)sizeof(header))
		open_run = header.magic == GT_MAGIC_RUN && header.version == GT_FORMAT_VERSION &&
			   (header.state == GT_RUN_OPEN || header.state == GT_RUN_ENDED);
	close(fd);
	return open_run;
}

/* Does the list (separated by blanks and colons) have this word? */
static bool listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (list && *list) {
		size_t n = strcspn(list, ": ");

		if (n == length && !strncmp(list, word, n))
			return true;
		list += n + (list[n] != '\0');
	}
	return false;
}

static void append(char *list, size_t size, const char *path)
{
	size_t length = strlen(list);

	if (!listed(list, path))
		snprintf(list + length, size - length, "%s%s", length ? ":" : "", path);
}

/* Libraries with names that only some programs may see. */
static const struct gt_shown shown_rows[] = {
#define GT_SHOWN_WITH(library, symbol) {library, symbol},
#include "registry/adapters.def"
};
enum { SHOWN_ROWS = sizeof(shown_rows) / sizeof(shown_rows[0]) };

static bool is_shown_with(const char *library)
{
	return gt_needed_hide(NULL, library, shown_rows, SHOWN_ROWS, 0) != 0;
}

/* A sanitizer's runtime that the user preloads must stay in front of everything. */
static size_t leading_runtime(const char *list)
{
	size_t n = strcspn(list, ": ");
	char first[PATH_MAX];

	snprintf(first, sizeof(first), "%.*s", (int)n, list);
	return strstr(first, "libasan.so") || strstr(first, "libtsan.so") ? n : 0;
}

static void preload_adapter(char *list, size_t room, const char *libdir, const char *library, bool always,
			    bool asked)
{
	char path[PATH_MAX + 64], name[64] = "", why[512];

	snprintf(path, sizeof(path), "%s/%s", libdir, library);
	if (!always && !asked)
		return;
	sscanf(library, "gputrace/libgputrace-wrap-%63[^.]", name);
	gt_wrap_why(name, why, sizeof(why));
	if (access(path, R_OK))
		gt_say(asked ? 1 : 2, "%s is not installed%s", library, why);
	else
		append(list, room, path);
}

/* An outer `gputrace run` preloads it, and the settings of this one do not ask for it. */
static bool is_not_wanted(const char *word)
{
#define GT_ADAPTER(library, always, asked, linked, inject, what) \
	if (!strcmp(base(word), library)) \
		return !(always) && !(asked) && is_shown_with(library);
#include "registry/adapters.def"
	return false;
}

/*
 * The value of LD_PRELOAD: our libraries in front of what is preloaded already. NULL, with a
 * sentence in `why`, if there can be none.
 */
static char *preload_list(const struct gt_binary *binary, char *why, size_t size)
{
	const char *old = getenv("LD_PRELOAD");
	size_t room = (old ? strlen(old) : 0) + (8 + WRAPS_MAX) * PATH_MAX;
	char libdir[PATH_MAX], path[PATH_MAX + 64];
	char *list;

	if (!gt_path_libdir(libdir, sizeof(libdir))) {
		snprintf(why, size, "the folder of gputrace's libraries cannot be found");
		return NULL;
	}
	if (libdir[strcspn(libdir, ": $")]) {
		snprintf(why, size,
			 "libraries cannot be preloaded from %s: its name must not contain a blank, "
			 "colon or $",
			 libdir);
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/" CORE, libdir);
	if (access(path, R_OK)) {
		snprintf(why, size, "%s cannot be read: %s", path, strerror(errno));
		return NULL;
	}
	list = calloc(1, room);
	if (!list) {
		snprintf(why, size, "no memory");
		return NULL;
	}
	if (binary->runtime[0])
		append(list, room, binary->runtime);
	if (old && leading_runtime(old)) {
		snprintf(list, room, "%.*s", (int)leading_runtime(old), old);
		old += leading_runtime(old);
	}
#define GT_ADAPTER(library, always, asked, linked, inject, what) \
	preload_adapter(list, room, libdir, library, always, asked);
#include "registry/adapters.def"
	for (size_t i = 0; i < request.wraps_n; i++) {
		const char *wrap = request.wraps[i];

		if (!wrap || wrap[strcspn(wrap, ": $")]) {
			snprintf(why, size,
				 "%s cannot be preloaded: its name must not contain a blank, colon or $",
				 wrap ? wrap : "a wrapper");
			free(list);
			return NULL;
		}
		append(list, room, wrap);
	}
	append(list, room, path);
	while (old && *old) { /* the rest of the old list, without what is there already */
		size_t n = strcspn(old, ": ");
		char *word = strndup(old, n);

		if (word && n && !is_not_wanted(word))
			append(list, room, word);
		free(word);
		old += n + (old[n] != '\0');
	}
	return list;
}

/*
 * Some libraries load what a variable names, once a program uses them (the CUDA driver, NVTX). It holds one
 * library: another tool's is left alone. Of a variable with an older name only one may be set.
 */
static void inject(const char *variables, const char *library, const char *what)
{
	char libdir[PATH_MAX], path[PATH_MAX + 64], name[64];

	if (!*variables || !gt_path_libdir(libdir, sizeof(libdir)))
		return;
	snprintf(path, sizeof(path), "%s/%s", libdir, library);
	if (access(path, R_OK)) {
		gt_say(2, "%s is not installed", library);
		return;
	}
	while (sscanf(variables, "%63s", name) == 1) {
		char *older = strchr(name, '/');
		const char *taken = name, *old;

		variables += strlen(name);
		variables += *variables == ' ';
		if (older)
			*older++ = '\0';
		if (older && getenv(older))
			taken = older;
		old = getenv(taken);
		if (taken == name && (!old || !*old || strstr(old, library)))
			setenv(name, path, 1);
		else if (!strstr(old, library))
			gt_say(1, "%s is already set to %s: %s goes to that tool and is not in the trace",
			       taken, old, what);
	}
}

/* The same where the variable only says that there is something to load. */
static void let_load(const char *variable, bool asked, const char *what)
{
	const char *old = getenv(variable);

	if (asked && (!old || !*old))
		setenv(variable, "1", 1);
	else if (asked && strcmp(old, "1") != 0)
		gt_say(1, "%s is already set to %s: %s is not in the trace", variable, old, what);
}

static void inject_adapters(void)
{
#define GT_LOADED_WITH(library, file, variable, asked, what) let_load(variable, asked, what);
#define GT_ADAPTER(library, always, asked, linked, variables, what) inject(variables, library, what);
#include "registry/adapters.def"
}

/*
 * Before the program starts, which may be long: can the metrics of the GPU that are asked for be sampled
 * here? Those that cannot are named by a process of its own, as CUPTI must not stay in this one. True: all of
 * them, or nobody knows.
 */
static bool check_gpu_metrics(void)
{
	const char *names = getenv("VT_CUPTI_METRICS"), *file = getenv("VT_CUPTI_METRICS_SPEC");
	int status = 0;
	pid_t pid;

	if ((!names || !*names) && (!file || !*file))
		return true;
	pid = fork();
	if (pid == 0) {
		alarm(CHECK_SECONDS);
		_exit(gt_info_wrong_gpu_metrics() ? 1 : 0);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	return !WIFEXITED(status) || !WEXITSTATUS(status);
}

/* Takes back a directory in which nothing was recorded. */
static void remove_run(const char *dir)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/spool/run", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/spool", dir);
	rmdir(path);
	rmdir(dir);
}

/* Is the path, made absolute and without slashes at its end, this one? */
static bool ends_like(const char *whole, const char *path)
{
	size_t length = strlen(whole), n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return n <= length && !strncmp(whole + length - n, path, n);
}

/*
 * An MPI rank that does not start takes the others with it, which may be recorded well: only a
 * command of its own is refused unasked.
 */
static bool run_untraced(void)
{
	int64_t when;

	return request.force || (!request.strict && gt_job(environ, &when));
}

/*
 * Sets the environment for recording. Returns the new archive directory, "" when the command joins
 * a run, or NULL with a sentence in `why`.
 */
static const char *prepare(const char *program, const struct gt_binary *binary, char *why, size_t size)
{
	static char dir[PATH_MAX]; /* stays empty in a run that is joined */
	int64_t when = 0;
	uint64_t job = gt_job(environ, &when);
	const struct gt_rundir_wish wish = {
		.dir = request.output,
		.parent = gt_settings.pform_gdir,
		.prefix = gt_settings.file_prefix,
		.program = base(program),
		.local = gt_settings.pform_ldir,
		.host = gt_settings.test_host,
		.job = job,
		.when = when,
	};

	char *list = preload_list(binary, why, size), filters[16];

	request.no_preload = !list;
	if (!list)
		return NULL;
	if (inside_run()) {
		if (request.output)
			gt_say(1, "-o %s is ignored: this command joins the run in %s", request.output,
			    getenv(GT_RUN_DIR_VAR));
	} else if (gt_rundir_create(&wish, dir, sizeof(dir), why, size)) {
		free(list);
		return NULL;
	} else {
		if (request.output && !job && !ends_like(dir, request.output))
			gt_say(1, "%s already holds an archive: this run is recorded into %s",
			    request.output, dir);
		setenv(GT_RUN_DIR_VAR, dir, 1);
		snprintf(filters, sizeof(filters), "%u", gt_process_filters());
		setenv(GT_FILTERS_VAR, filters, 1);
		gt_say(2, "archive directory %s", dir);
	}
	make_absolute("VT_FILTER_SPEC");
	make_absolute("VT_GROUPS_SPEC");
	make_absolute("VT_CUPTI_METRICS_SPEC");
	make_absolute("VT_CUPTI_CAPTURE");
	setenv("LD_PRELOAD", list, 1);
	free(list);
	inject_adapters();
	return dir;
}

/* ---- signals that a sentence of ours may cause --------------------------------------------- */

static const int write_signals[] = {SIGXFSZ, SIGPIPE};
static void (*callers_handlers[2])(int); /* of them: SIG_DFL or SIG_IGN */

/* A sentence that cannot be written, for a limit of files or as nobody reads it, must not end us. */
static void ignore_write_signals(void)
{
	for (int i = 0; i < 2; i++)
		callers_handlers[i] = signal(write_signals[i], SIG_IGN);
}

static void restore_write_signals(void)
{
	for (int i = 0; i < 2; i++)
		signal(write_signals[i], callers_handlers[i]);
}

/*
 * What the program is not to see (GT_SHOWN_WITH) is left out of LD_PRELOAD; the core puts it back for what
 * the program starts.
 */
static void hide_names(const char *program)
{
	const char *list = getenv("LD_PRELOAD");
	const struct gt_needed ask = {
		.rows = shown_rows,
		.count = SHOWN_ROWS,
		.library_path = getenv("LD_LIBRARY_PATH"),
		.preload = list,
	};
	int fd = open(program, O_RDONLY | O_CLOEXEC);
	char *some = list ? strdup(list) : NULL;
	uint32_t shown = fd < 0 ? GT_NEEDED_UNKNOWN : gt_needed_by_program(&ask, fd);

	if (some && gt_needed_hide(some, list, shown_rows, SHOWN_ROWS, shown)) {
		setenv(GT_PRELOAD_VAR, list, 1);
		setenv("LD_PRELOAD", some, 1);
	}
	free(some);
	if (fd >= 0)
		close(fd);
}

/* Runs the command as the shell would; returns only if that fails. */
static int become(const char *path, char **argv)
{
	restore_write_signals();
	execv(path, argv);
	if (errno == ENOEXEC) { /* a script without "#!" */
		size_t n = 0;
		char **shell;

		while (argv[n])
			n++;
		shell = calloc(n + 2, sizeof(*shell));
		if (shell) {
			shell[0] = (char *)"sh";
			shell[1] = (char *)path;
			memcpy(shell + 2, argv + 1, n * sizeof(*argv));
			execv("/bin/sh", shell);
			free(shell);
		}
	}
	return errno == ENOENT ? 127 : 126;
}

/* Runs the command and makes the archive when it has ended. */
static int watch(const char *dir, const char *command, char **words)
{
	int status, failed, pid = gt_parent_start(become, command, words, &status, &failed);

	if (pid > 0)
		return gt_parent_attend(pid);
	gt_say(0, "%s: %s", words[0], strerror(failed));
	gt_watch_cancel();
	remove_run(dir);
	return status;
}

int gt_cmd_run(int argc, char **argv)
{
	char command[PATH_MAX], program[PATH_MAX], why[2 * PATH_MAX];
	const char *dir = NULL, *reason;
	struct gt_binary binary;
	char **words;
	int rc;

	rc = parse(argc, argv);
	if (rc)
		return rc < 0 ? GT_RC_OK : rc;
	words = argv + optind;
	apply_verbosity();
	request.started = true;
	ignore_write_signals();
	gt_settings_load(environ, complain);

	rc = gt_path_command(words[0], command, sizeof(command));
	if (rc) {
		gt_say(0, rc == 127 ? "%s: no such command" : "%s: cannot be executed", words[0]);
		return rc;
	}
	snprintf(program, sizeof(program), "%s", command);
	gt_binary_follow(program, sizeof(program), &binary);
	reason = obstacle(&binary);
	if (reason) {
		gt_say(0, "%s %s%s", program, reason, request.force ? "; it runs untraced" : "");
		if (!request.force)
			return RC_REFUSED;
	} else if (gt_settings.mode == GT_MODE_OFF) {
		gt_say(1, "VT_MODE=OFF: %s runs untraced", words[0]);
	} else if (!inside_run() && !check_gpu_metrics() && request.strict) {
		gt_say(0, "nothing was run (--strict)");
		return RC_REFUSED;
	} else {
		dir = prepare(words[0], &binary, why, sizeof(why));
		if (!dir) {
			gt_say(0, "%s; %s", why, run_untraced() ? "the command runs untraced"
				: request.no_preload
				? "nothing was run (install gputrace in another folder, or --force-untraced)"
				: "nothing was run (choose another folder with -o, or --force-untraced)");
			if (!run_untraced())
				return RC_REFUSED;
			unsetenv(GT_RUN_DIR_VAR);
			setenv("VT_MODE", "OFF", 1);
		} else {
			gt_hand_on(command, words);
			hide_names(program);
		}
	}
	if (!request.exec && dir && *dir) {
		if (gt_watch_begin(dir, gt_settings.test_host, why, sizeof(why)))
			return watch(dir, command, words);
		gt_say(1, "%s", why);
	}
	rc = become(command, words);
	gt_say(0, "%s: %s", words[0], strerror(errno));
	if (dir && *dir)
		remove_run(dir);
	return rc;
}
