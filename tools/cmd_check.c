/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace check`: is a trace well-formed? Finds the anchor file and reads the archive in a child
 * process with limits of memory and time, because libotf2 crashes, loops or takes all memory on
 * some damaged files.
 *
 * Limits: the rules are those of check_report.c; that the trace tells the truth is not among them.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/assemble/summary.h"
#include "tools/check.h"
#include "tools/cmds.h"
#include "tools/options.h"

enum { REPORT_MAX = 1 << 20, KEY_JSON = 0x100, KEY_WERROR };

/* AddressSanitizer and ThreadSanitizer reserve terabytes of addresses. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                              \
	__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { LIMIT_MEMORY = false };
#else
enum { LIMIT_MEMORY = true };
#endif

struct options {
	bool json, quiet, werror;
};

static const struct gt_option option_table[] = {
	{'q', "quiet", NULL, "Print the last line only, and nothing if all is well."},
	{KEY_JSON, "json", NULL, "Print the result as JSON."},
	{KEY_WERROR, "werror", NULL, "Warnings (events that were lost) are failures."},
	{0, NULL, NULL, NULL},
};

static const struct gt_usage usage = {
	"gputrace check",
	"[options] DIR|FILE...",
	"Says whether a trace is well-formed, or which rule it breaks, and where.",
	option_table,
	"DIR is the directory of an archive, FILE its anchor file (traces.otf2).\n"
	"Exit status: 0 all are well-formed, 1 one breaks a rule, 2 one cannot be read.\n",
	false};

/* ---- in the child ---------------------------------------------------------------------------- */

static struct check *complaining; /* libotf2 has one callback for a process */

static OTF2_ErrorCode on_library_error(void *data, const char *file, uint64_t line,
				       const char *function, OTF2_ErrorCode code,
				       const char *format, va_list args)
{
	(void)data, (void)file, (void)line, (void)function;
	snprintf(complaining->library, sizeof(complaining->library), "%s",
		 OTF2_Error_GetDescription(code));
	if (format && *format) {
		size_t n = strlen(complaining->library);

		snprintf(complaining->library + n, sizeof(complaining->library) - n, ": ");
		n = strlen(complaining->library);
		vsnprintf(complaining->library + n, sizeof(complaining->library) - n, format, args);
	}
	return code;
}

static bool number_of(const char *value, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(value, &end, 10);
	return end != value && *end == '\0' && !errno && *value != '-';
}

/*
 * What the archive says about itself (lib/assemble/report.c). Events that are missing are warnings,
 * and excuse that halves of pairs are missing.
 */
static const struct {
	const char *name, *sentence; /* NULL: no warning */
} telling[] = {
	{"LOST_FILTER", NULL}, /* whole regions, asked for: pairs stay pairs */
	{"PROCESSES_KILLED", "of the processes did not end by themselves"},
	{"RANKS_WITHOUT_MPI", "of the processes were started as MPI ranks, but no MPI was recorded"},
	{"PROGRAMS_UNTRACED", "of the programs that were started could not be traced"},
	{"UNKNOWN_RECORDS", "records of an unknown type were left out"},
	{"DAMAGED_PARTS", "parts of the recording were damaged"},
	{"UNMATCHED_MESSAGES", "messages have only one endpoint"},
};

static void look_at_property(struct check *check, const char *name, const char *value)
{
	static const char prefix[] = "GPUTRACE::";
	uint64_t number = 0;

	if (strncmp(name, prefix, sizeof(prefix) - 1))
		return;
	name += sizeof(prefix) - 1;
	if (!strcmp(name, "COMPLETE") && !strcmp(value, "no")) {
		check_warn(check, "the archive is not complete");
		check->excused = true;
	}
	if (!strcmp(name, "ABSENT")) {
		check_warn(check, "not in the trace: %s", value);
		check->excused = true;
	}
	if (!strcmp(name, "RANKS_MISSING")) {
		check_warn(check, "%s; were they traced, and is the directory shared by all hosts?", value);
		check->excused = true;
	}
	if (!number_of(value, &number) || !number)
		return;
	if (!strcmp(name, "CLOCK_ERROR_NS"))
		check->clock_error = number; /* ticks once the resolution is known */
	if (!strcmp(name, "CLOCK_READING_ERROR_NS"))
		check->reading_error = number;
	for (size_t i = 0; i < sizeof(telling) / sizeof(telling[0]); i++) {
		if (strcmp(name, telling[i].name))
			continue;
		if (telling[i].sentence) {
			check_warn(check, "%s %s", value, telling[i].sentence);
			check->excused = true;
		}
		return;
	}
	if (!strcmp(name, "LOST_REWIND")) {
		check->excused = true;
	} else if (!strncmp(name, "LOST_", 5)) {
		check_warn(check, "the archive lacks %s events (%s)", value, name);
		check->excused = true;
	}
}

static void look_at_properties(struct check *check)
{
	uint32_t count = 0;
	char **names = NULL;

	if (OTF2_Reader_GetPropertyNames(check->reader, &count, &names) != OTF2_SUCCESS)
		return;
	for (uint32_t i = 0; i < count; i++) {
		char *value = NULL;

		if (OTF2_Reader_GetProperty(check->reader, names[i], &value) == OTF2_SUCCESS &&
		    value)
			look_at_property(check, names[i], value);
		free(value);
	}
	free(names);
}

static int check_archive(const char *anchor, const char *spool, const struct options *options,
			 FILE *out)
{
	struct check *check = calloc(1, sizeof(*check));

	if (!check || !(check->pairs = pairs_new()))
		abort();
	complaining = check;
	snprintf(check->anchor, sizeof(check->anchor), "%s", anchor);
	OTF2_Error_RegisterCallback(on_library_error, NULL);
	if (*spool)
		check_warn(check, "%s still holds what was recorded: run 'gputrace recover'",
			   spool);
	check->reader = OTF2_Reader_Open(anchor);
	if (!check->reader) {
		check_broken(check, RULE_FILES, ~UINT64_C(0), NO_EVENT, 0, "the anchor file: %s",
			     check->library);
		return check_report(check, out, options->json, options->quiet, options->werror);
	}
	OTF2_Reader_SetSerialCollectiveCallbacks(check->reader);
	look_at_properties(check);
	if (check_definitions(check)) {
		if (check->several_clocks)
			check->clock_error = check->reading_error;
		check->clock_error =
			(uint64_t)((double)check->clock_error / 1e9 * (double)check->resolution);
		check_events(check);
		check_markers(check);
		/* Halves of pairs may be in what could not be read. */
		if (check->broken[RULE_FILES].count)
			check_warn(check, "rules that span locations were not checked");
		else
			check_pairs(check);
		if (!check->events)
			check_warn(check, "the trace has no events");
	}
	/* The reader is not closed: the process ends, and libotf2 may be in any state. */
	return check_report(check, out, options->json, options->quiet, options->werror);
}

static void child(const char *anchor, const char *spool, const struct options *options,
		  uint64_t memory, int to)
{
	struct rlimit limit = {memory, memory}, no_core = {0, 0};
	FILE *out = fdopen(to, "w");
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (LIMIT_MEMORY)
		setrlimit(RLIMIT_AS, &limit);
	setrlimit(RLIMIT_CORE, &no_core);
	/* abort() is how "no memory" is told to the parent, a crash of libotf2 ends as it ends. */
	if (!out)
		_exit(GT_RC_USAGE);
	status = check_archive(anchor, spool, options, out);
	if (fflush(out))
		status = GT_RC_USAGE;
	_exit(status);
}

/* ---- in the parent --------------------------------------------------------------------------- */

/* Reads the child's report until it ends or the time is over. */
static size_t collect(int from, char *report, size_t size, unsigned seconds, bool *late)
{
	struct timespec start, now;
	size_t n = 0;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (;;) {
		struct pollfd p = {.fd = from, .events = POLLIN};
		char scrap[4096];
		ssize_t got;

		if (poll(&p, 1, 1000) > 0) {
			got = n < size ? read(from, report + n, size - n)
				       : read(from, scrap, sizeof(scrap));
			if (got == 0 || (got < 0 && errno != EINTR))
				return n;
			if (got > 0 && n < size)
				n += (size_t)got;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec > (time_t)seconds) {
			*late = true;
			return n;
		}
	}
}

static int unreadable(const struct options *options, const char *path, const char *reason)
{
	char name[512];

	gt_summary_escape(name, sizeof(name), path, 400);
	if (options->json)
		printf("{\"ok\": false, \"status\": 2, \"unreadable\": \"%s\"}\n", reason);
	fprintf(stderr, "gputrace check: %s cannot be read: %s\n", name, reason);
	return GT_RC_USAGE;
}

/* Sum of the sizes of the archive's files: bounds how long reading may take. */
static uint64_t bytes_of(const char *anchor)
{
	char path[4096];
	const char *dot = strrchr(anchor, '.');
	uint64_t sum = 0;
	struct dirent *e;
	struct stat st;
	DIR *dir;

	snprintf(path, sizeof(path), "%.*s", (int)(dot - anchor), anchor);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (!fstatat(dirfd(dir), e->d_name, &st, 0) && S_ISREG(st.st_mode))
			sum += (uint64_t)st.st_size;
	if (dir)
		closedir(dir);
	return sum;
}

static uint64_t definition_bytes(const char *anchor)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%.*s.def", (int)(strrchr(anchor, '.') - anchor), anchor);
	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

static int check_in_child(const char *anchor, const char *spool, const struct options *options)
{
	/* Definitions are held in memory; events are not, beyond what is under way. */
	uint64_t memory = (UINT64_C(3) << 30) + 32 * definition_bytes(anchor);
	unsigned seconds = 60 + (unsigned)(bytes_of(anchor) >> 20) * 2;
	char *report = malloc(REPORT_MAX);
	bool late = false;
	int ends[2], status;
	size_t n;
	pid_t pid;

	if (!report || pipe(ends)) {
		free(report);
		return unreadable(options, anchor, strerror(errno));
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		child(anchor, spool, options, memory, ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		free(report);
		return unreadable(options, anchor, strerror(errno));
	}
	n = collect(ends[0], report, REPORT_MAX, seconds, &late);
	close(ends[0]);
	if (late)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (late || !WIFEXITED(status)) {
		free(report);
		return unreadable(options, anchor,
				  late ? "reading it takes too long"
				  : WTERMSIG(status) == SIGABRT
					  ? "it wants more memory than it can need"
					  : "the OTF2 library crashes on it");
	}
	fwrite(report, 1, n, stdout);
	free(report);
	return WEXITSTATUS(status);
}

static bool exists(const char *path, bool folder)
{
	struct stat st;

	return !stat(path, &st) && (folder ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode));
}

/* DIR/traces.otf2, or the one *.otf2 there is. */
static bool find_anchor(const char *dir, char *anchor, size_t size)
{
	struct dirent *e;
	unsigned found = 0;
	DIR *d;

	snprintf(anchor, size, "%s/traces.otf2", dir);
	if (exists(anchor, false))
		return true;
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		size_t length = strlen(e->d_name);

		if (length > 5 && !strcmp(e->d_name + length - 5, ".otf2") && !found++)
			snprintf(anchor, size, "%s/%s", dir, e->d_name);
	}
	if (d)
		closedir(d);
	return found == 1;
}

static int check_one(const char *name, const struct options *options)
{
	char path[3072], anchor[3500], spool[3500] = "";
	size_t length = strlen(name);

	if (!length || length >= sizeof(path))
		return unreadable(options, name, strerror(length ? ENAMETOOLONG : ENOENT));
	strcpy(path, name);
	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	if (!exists(path, true)) {
		if (!exists(path, false))
			return unreadable(options, path, errno ? strerror(errno) : "not a file");
		if (length < 6 || strcmp(path + length - 5, ".otf2"))
			return unreadable(options, path,
					  "an anchor file has a name that ends in .otf2");
		return check_in_child(path, spool, options);
	}
	snprintf(spool, sizeof(spool), "%s/spool/run", path);
	if (exists(spool, false))
		snprintf(spool, sizeof(spool), "%s/spool", path);
	else
		*spool = '\0';
	if (!find_anchor(path, anchor, sizeof(anchor))) {
		if (*spool)
			return unreadable(options, path,
					  "it was not assembled yet: run 'gputrace recover' on it");
		return unreadable(options, path, "there is no archive (no .otf2 file) in it");
	}
	return check_in_child(anchor, spool, options);
}

int gt_cmd_check(int argc, char **argv)
{
	struct options options = {false, false, false};
	int key, rc = GT_RC_OK;
	bool several;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		options.quiet |= key == 'q';
		options.json |= key == KEY_JSON;
		options.werror |= key == KEY_WERROR;
	}
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (optind == argc)
		return gt_usage_error(&usage, "no trace was named.");
	several = optind + 1 < argc && !options.quiet && !options.json;
	for (; optind < argc; optind++) {
		int one;

		if (several)
			printf("%s:\n", argv[optind]);
		one = check_one(argv[optind], &options);
		rc = one > rc ? one : rc;
	}
	return rc;
}
