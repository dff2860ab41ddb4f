/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace info`: what this installation is, what it finds on this machine, and every setting
 * with type, default, present value and meaning.
 *
 * Limits: looks, changes nothing; names only what is there.
 */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <getopt.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "gputrace/gpu_metrics.h"
#include "lib/assemble/report/word.h"
#include "lib/assemble/util/utf8.h"
#include "lib/common/settings.h"
#include "tools/cmds.h"
#include "tools/options.h"
#include "tools/paths.h"
#include "tools/wraps.h"

enum { CHIP = 256 };

static const struct gt_option options[] = {
	{ 'c', "config", NULL, "Show every setting with type, default, present value and meaning." },
	{ 'm', "metrics", NULL,
	  "Show the counters that VT_METRICS can name here, and why others are missing." },
	{ 'g', "gpu-metrics", NULL,
	  "Show the metrics that VT_CUPTI_METRICS can name; with METRIC ...: can these be sampled?" },
	{ CHIP, "chip", "NAME", "With --gpu-metrics: of this chip (GH100), which need not be here." },
	{ 'j', "json", NULL, "Print JSON." },
	{ 0, NULL, NULL, NULL },
};

static const struct gt_usage usage = {
	.command = "gputrace info",
	.synopsis = "[--config] [--metrics] [--gpu-metrics [--chip NAME] [METRIC ...]] [--json]",
	.summary = "Shows the version, what was found on this machine, and the settings.",
	.options = options,
};

/* ---- facts, printed as "name  value" or as members of a JSON object --------------------------- */

static bool json, comma;

static void fact(const char *key, const char *label, const char *value)
{
	if (!json) {
		printf("  %-18s %s\n", label, value);
		return;
	}
	printf("%s\n  ", comma ? "," : "");
	gt_utf8_json_put(stdout, key);
	printf(": ");
	gt_utf8_json_put(stdout, value);
	comma = true;
}

static bool first_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool found = file && fgets(line, (int)size, file);

	if (file)
		fclose(file);
	if (!found)
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return found;
}

/* The parts of the recording side that `gputrace run` and the wrappers find in the libdir. */
static const char *const libraries[] = {
	"libgputrace.so",
#define GT_ADAPTER(library, always, asked, linked, inject, what) library,
#include "registry/adapters.def"
};

/* The names that --wrap takes, from the files that are installed. */
static void list_wraps(const char *libdir, char *list, size_t size)
{
	static const char begin[] = "libgputrace-wrap-", end[] = ".so";
	char folder[PATH_MAX + 64];
	struct dirent *e;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s/gputrace", libdir);
	dir = opendir(folder);
	while (dir && (e = readdir(dir))) {
		size_t length = strlen(e->d_name), n = strlen(list);

		if (length < sizeof(begin) + sizeof(end) || strncmp(e->d_name, begin, sizeof(begin) - 1) ||
		    strcmp(e->d_name + length - (sizeof(end) - 1), end))
			continue;
		length -= sizeof(begin) + sizeof(end) - 2;
		snprintf(list + n, size - n, "%s%.*s", n ? " " : "", (int)length,
			 e->d_name + sizeof(begin) - 1);
	}
	if (dir)
		closedir(dir);
}

/* ---- what was left out when gputrace was built ----------------------------------------------------- */

static unsigned left_out;

static void show_left_out(const char *part, const char *why, void *unused)
{
	(void)unused;
	if (!json) {
		printf("  %-18s %s: %s\n", left_out++ ? "" : "left out", part, why);
		return;
	}
	printf("%s\n    {\"part\": ", left_out++ ? "," : "");
	gt_utf8_json_put(stdout, part);
	printf(", \"why\": ");
	gt_utf8_json_put(stdout, why);
	printf("}");
}

/* Wrappers that lack the same are on one line. */
static struct {
	char names[256], why[512];
} group;

static void show_group(void)
{
	char part[300];

	snprintf(part, sizeof(part), "--wrap%s", group.names);
	if (*group.names)
		show_left_out(part, group.why, NULL);
	group.names[0] = '\0';
}

static void name_wrap(const char *name, const char *why, void *unused)
{
	size_t n;

	(void)unused;
	if (json || strcmp(why, group.why))
		show_group();
	n = strlen(group.names);
	snprintf(group.names + n, sizeof(group.names) - n, " %s", name);
	snprintf(group.why, sizeof(group.why), "%s", why);
}

/* configure's list has a line for each part, "part: why"; the wrappers have their own. */
static void show_all_left_out(void)
{
	char lines[] = GT_PARTS_OUT, *rest = lines, *line;

	if (json)
		printf(",\n  \"left_out\": [");
	while ((line = strsep(&rest, "\n"))) {
		char *why = strstr(line, ": ");

		if (!why)
			continue;
		*why = '\0';
		show_left_out(line, why + 2, NULL);
	}
	gt_wrap_absent(name_wrap, NULL);
	show_group();
	if (json)
		printf("\n  ]");
}

static void list_compilers(char *list, size_t size)
{
	static const char *const compilers[] = {GT_DEFAULT_CC, GT_DEFAULT_CXX, GT_DEFAULT_FC};

	for (size_t i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		char name[PATH_MAX], path[PATH_MAX];
		size_t n = strlen(list);

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(compilers[i], " "), compilers[i]);
		if (!gt_path_command(name, path, sizeof(path)))
			snprintf(list + n, size - n, "%s%s", n ? ", " : "", compilers[i]);
	}
}

static void show_installation(void)
{
	char libdir[PATH_MAX] = "", list[1024] = "", path[PATH_MAX + 64];

	if (gt_path_libdir(libdir, sizeof(libdir)))
		fact("libdir", "libraries in", libdir);
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		size_t n = strlen(list);

		snprintf(path, sizeof(path), "%s/%s", libdir, libraries[i]);
		if (!access(path, R_OK))
			snprintf(list + n, sizeof(list) - n, "%s%s", n ? " " : "", libraries[i]);
	}
	fact("libraries", "installed", list[0] ? list : "none: nothing can be recorded");
	list[0] = '\0';
	list_wraps(libdir, list, sizeof(list));
	fact("wraps", "--wrap", list[0] ? list : "none");
	fact("otf2", "OTF2", GT_OTF2_VERSION);
	gt_export_list(list, sizeof(list));
	fact("exports", "export", list);
	list[0] = '\0';
	list_compilers(list, sizeof(list));
	fact("compilers", "wrappers call", list[0] ? list : "none that is here");
	fact("built_with", "built with", GT_PARTS_IN);
	show_all_left_out();
}

/* ---- the machine -------------------------------------------------------------------------------- */

static bool cpu_has(const char *flag)
{
	char *line = NULL;
	size_t room = 0, n = strlen(flag);
	bool found = false;
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && !found && getline(&line, &room, file) > 0) {
		const char *at = strncmp(line, "flags", 5) ? NULL : strstr(line, flag);

		found = at && at[-1] == ' ' && (at[n] == ' ' || at[n] == '\n');
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

#if defined(__aarch64__)
#define COUNTER_ALWAYS 1
#else
#define COUNTER_ALWAYS 0
#endif

/* The same decision as lib/record/clock.c takes. */
static void show_clock(void)
{
	char source[64], text[256];

	first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
		   sizeof(source));
	if (COUNTER_ALWAYS)
		snprintf(text, sizeof(text), "the processor's counter");
	else if (!strcmp(source, "tsc") && cpu_has("constant_tsc") && cpu_has("nonstop_tsc"))
		snprintf(text, sizeof(text), "the processor's counter (TSC; the kernel uses it, too)");
	else
		snprintf(text, sizeof(text), "CLOCK_MONOTONIC, slower (the kernel's own is %s)",
			 source[0] ? source : "unknown");
	fact("clock", "clock", text);
}

static void show_disk(void)
{
	const char *folder = gt_settings.pform_gdir && *gt_settings.pform_gdir ? gt_settings.pform_gdir
									       : ".";
	char text[PATH_MAX + 64];
	struct statvfs fs;

	if (statvfs(folder, &fs))
		snprintf(text, sizeof(text), "%s cannot be used: %m", folder);
	else
		snprintf(text, sizeof(text), "%.1f GiB in %s%s",
			 (double)fs.f_bavail * (double)fs.f_frsize / (1 << 30), folder,
			 access(folder, W_OK) ? " (but you may not write there)" : "");
	fact("disk", "free disk", text);
}

/* Is there such a library, and where? It is unloaded again at once. */
static bool library_there(const char *const *names, char *text, size_t size)
{
	for (; *names; names++) {
		void *handle = dlopen(*names, RTLD_LAZY | RTLD_LOCAL);

		if (handle) {
			snprintf(text, size, "%s", *names);
			dlclose(handle);
			return true;
		}
	}
	snprintf(text, size, "not found");
	return false;
}

/* Shows whether the libraries that adapters use are found. */
static void show_others(void)
{
	static const char *const cuda[] = {"libcuda.so.1", NULL};
	/* As cuda/api.c looks for it. */
	static const char *const cupti[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
					    "libcupti.so",
					    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
					    "/usr/local/cuda/lib64/libcupti.so", NULL};
	static const char *const papi[] = {"libpapi.so", "libpapi.so.7.0", "libpapi.so.7", NULL};
	char text[PATH_MAX], level[32];

	library_there(cuda, text, sizeof(text));
	fact("cuda_driver", "CUDA driver", text);
	library_there(cupti, text, sizeof(text));
	fact("cupti", "CUPTI", text);
	if (gt_path_command("mpirun", text, sizeof(text)))
		snprintf(text, sizeof(text), "not found");
	fact("mpirun", "mpirun", text);
	library_there(papi, text, sizeof(text));
	fact("papi", "PAPI", text);
	if (first_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level)))
		snprintf(text, sizeof(text), "perf_event_paranoid is %s", level);
	else
		snprintf(text, sizeof(text), "the kernel offers none");
	fact("perf_events", "perf events", text);
}

static void show_info(void)
{
	char number[32];

	if (json) {
		printf("{");
		fact("version", "", PACKAGE_VERSION);
	} else {
		printf("gputrace %s\n", PACKAGE_VERSION);
	}
	show_installation();
	if (!json)
		printf("This machine:\n");
	snprintf(number, sizeof(number), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	fact("processors", "processors", number);
	show_clock();
	show_disk();
	show_others();
}

/* ---- settings ----------------------------------------------------------------------------------- */

static const char *type_of(const struct gt_setting_row *row, char *text, size_t size)
{
	switch (row->type) {
	case GT_SET_BOOL:
		return "yes|no";
	case GT_SET_NUMBER:
		snprintf(text, size, "number, %lld to %lld%s%s", (long long)row->min, (long long)row->max,
			 isalpha((unsigned char)*row->def) ? ", or " : "",
			 isalpha((unsigned char)*row->def) ? row->def : "");
		return text;
	case GT_SET_SIZE:
		return "bytes (K, M, G)";
	case GT_SET_ENUM:
		return row->words;
	case GT_SET_PATH:
		return "path";
	default:
		return "text";
	}
}

static const char *kind_of(enum gt_setting_type type)
{
	static const char *const names[] = {"bool", "number", "size", "enum", "path", "text"};

	return (unsigned)type < sizeof(names) / sizeof(names[0]) ? names[type] : "text";
}

/* Help is one long line in the table; here it is folded at blanks. */
static void print_folded(const char *text, size_t indent, size_t width)
{
	while (*text) {
		size_t n = strlen(text);

		if (n > width - indent) {
			n = width - indent;
			while (n > 20 && text[n] != ' ')
				n--;
		}
		printf("%*s%.*s\n", (int)indent, "", (int)n, text);
		text += n + (text[n] == ' ');
	}
}

static void show_settings(void)
{
	char value[4200], type[80];

	for (size_t i = 0; i < gt_setting_count; i++) {
		const struct gt_setting_row *row = &gt_setting_rows[i];
		const char *now = gt_settings_text(row, value, sizeof(value));
		const char *given = getenv(row->name);

		if (json) {
			printf("%s\n    {\"name\": ", i ? "," : "");
			gt_utf8_json_put(stdout, row->name);
			printf(", \"type\": \"%s\", \"allowed\": ", kind_of(row->type));
			gt_utf8_json_put(stdout, type_of(row, type, sizeof(type)));
			printf(", \"default\": ");
			gt_utf8_json_put(stdout, row->def);
			printf(", \"value\": ");
			gt_utf8_json_put(stdout, now);
			printf(", \"set\": %s, \"help\": ", given ? "true" : "false");
			gt_utf8_json_put(stdout, row->help);
			printf("}");
		} else {
			printf("%s=%s%s\n", row->name, now, given ? "   (from the environment)" : "");
			printf("    %s; default: %s\n", type_of(row, type, sizeof(type)),
			       row->def[0] ? row->def : "none");
			print_folded(row->help, 4, 92);
		}
	}
}

/* ---- counters ----------------------------------------------------------------------------------- */

static const char *source; /* the one whose counters are being shown */
static unsigned shown;
#define WIDTH 100u /* of a list of names */

static void member(const char *key, const char *value)
{
	printf(", \"%s\": ", key);
	gt_utf8_json_put(stdout, value);
}

/* Those that one reason keeps from being counted: a list of names, as long as the reason stays the same. */
static void show_missing(const char *name, const char *why)
{
	static char reason[GT_PLUGIN_TEXT];
	static size_t column;

	if (column && strcmp(reason, why)) {
		putchar('\n');
		column = 0;
	}
	if (!why[0])
		return;
	if (!column) {
		printf("    not here: %s\n       ", why);
		snprintf(reason, sizeof(reason), "%s", why);
		column = 7;
	} else if (column + 1 + strlen(name) > WIDTH) {
		printf("\n       ");
		column = 7;
	}
	printf(" %s", name);
	column += 1 + strlen(name);
}

static void show_source(const char *name, const char *description, const char *file, const char *why,
			void *unused)
{
	(void)unused;
	if (!json)
		show_missing("", "");
	source = name;
	description = description ? description : "";
	if (!json) {
		printf("%s:%s%s%s%s%s%s\n", name, *description ? " " : "", description,
		       file ? "\n    plug-in: " : "", file ? file : "", why ? "\n    not here: " : "",
		       why ? why : "");
	} else if (why || file) {
		printf("%s\n    {\"source\": ", shown++ ? "," : "");
		gt_utf8_json_put(stdout, name);
		if (file)
			member("plugin", file);
		if (file && *description)
			member("description", description);
		if (why)
			member("missing", why);
		printf("}");
	}
}

static void show_metric(const struct gt_plugin_metric *metric, void *unused)
{
	(void)unused;
	if (!json) {
		show_missing(metric->name, metric->missing);
		if (!metric->missing[0])
			printf("    %s::%-28s %-8s %s\n", source, metric->name, metric->unit,
			       metric->description);
		return;
	}
	printf("%s\n    {\"source\": ", shown++ ? "," : "");
	gt_utf8_json_put(stdout, source);
	member("name", metric->name);
	member("unit", metric->unit);
	member("description", metric->description);
	if (metric->missing[0])
		member("missing", metric->missing);
	printf("}");
}

static void *load(const char *library)
{
	char libdir[PATH_MAX], path[PATH_MAX + 64];

	if (!gt_path_libdir(libdir, sizeof(libdir)))
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", libdir, library);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/*
 * A function of an adapter, which is loaded into this process and told not to record. It needs the core,
 * which no path leads to. NULL: there is none, which is said.
 */
static void *adapter_function(const char *library, const char *name)
{
	void *handle, *symbol;

	setenv("VT_MODE", "OFF", 1);
	handle = load("libgputrace.so") ? load(library) : NULL;
	symbol = handle ? dlsym(handle, name) : NULL;
	if (!symbol && handle)
		gt_say(0, "the counters cannot be listed: %s is of another version", library);
	else if (!symbol)
		gt_say(0, "the counters cannot be listed: %s", dlerror());
	return symbol;
}

static int show_metrics(void)
{
	void (*list)(void (*)(const char *, const char *, const char *, const char *, void *),
		     gt_plugin_each *, void *) = NULL;
	void *symbol = adapter_function("libgputrace-counters.so", "gt_counters_list");

	memcpy(&list, &symbol, sizeof(list));
	if (!list)
		return GT_RC_BAD;
	list(show_source, show_metric, NULL);
	show_missing("", "");
	return GT_RC_OK;
}

/* ---- metrics of the GPU ------------------------------------------------------------------------- */

static const char *const gpu_types[] = {"counter", "ratio", "throughput"};
static unsigned refused, listed;
static struct gt_gpu_listing about;
static bool kernels_shown; /* behind the list, in JSON */

static void show_gpu_metric(const struct gt_plugin_metric *metric, void *unused)
{
	const char *type = gpu_types[metric->kind < 3 ? metric->kind : 0];

	(void)unused;
	refused += metric->missing[0] != 0;
	if (json) {
		printf("%s\n    {\"name\": ", shown++ ? "," : "");
		gt_utf8_json_put(stdout, metric->name);
		member("type", type);
		member("unit", metric->unit);
		member("description", metric->description);
		if (metric->missing[0])
			member("missing", metric->missing);
		printf("}");
	} else if (metric->missing[0]) {
		printf("%s\n    cannot be %s: %s\n", metric->name, about.sampled ? "sampled" : "counted",
		       metric->missing);
	} else {
		printf("%s\n    %s%s%s: %s\n", metric->name, type, *metric->unit ? ", " : "", metric->unit,
		       metric->description);
	}
}

/* The cost of replay was measured on an H100 (doc/cuda.md). */
static void show_passes(void)
{
	size_t passes = about.passes;

	kernels_shown = json;
	if (json) {
		printf("\n  ],\n  \"kernels\": {\"metrics\": %u, \"passes\": %zu", about.counted, passes);
		return;
	}
	if (!passes)
		return;
	printf("VT_CUPTI_KERNEL counts %u of these %u in ", about.counted, listed);
	if (passes == 1)
		printf("one pass: a replayed kernel runs once\n");
	else
		printf("%zu passes: a replayed kernel runs %zu times", passes, passes);
	if (passes > 1 && about.sampled)
		printf(", and takes some %zu ms", 8 + 7 * passes);
	if (passes > 1)
		printf("\n");
}

static void show_sampled(void)
{
	if (!about.sampled)
		printf("%s cannot be sampled, but single kernels and ranges are counted\n", about.chip);
	else if (refused)
		printf("%u of these cannot be sampled on %s\n", refused, about.chip);
	else
		printf("%s samples these in one pass\n", about.chip);
}

static void list_gpu_metric(const struct gt_plugin_metric *metric, void *unused)
{
	listed++;
	show_gpu_metric(metric, unused);
}

static int show_gpu_metrics(const char *chip, char **wanted)
{
	gt_cuda_metrics_function *list = NULL;
	void *symbol = adapter_function("libgputrace-cuda.so", "gt_cuda_metrics");
	char names[8192] = "", why[512] = "";
	size_t n = 0;

	memcpy(&list, &symbol, sizeof(list));
	for (; *wanted && n < sizeof(names); wanted++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s ", *wanted);
	if (!list)
		return GT_RC_BAD;
	if (!list(chip, names, why, sizeof(why), &about, list_gpu_metric, NULL)) {
		gt_say(0, "the metrics of the GPU cannot be listed: %s", why);
		return GT_RC_BAD;
	}
	if (!json && n)
		show_sampled();
	if (n)
		show_passes();
	return refused ? GT_RC_BAD : GT_RC_OK;
}

static void tell_refused(const struct gt_plugin_metric *metric, void *unused)
{
	(void)unused;
	if (metric->missing[0] && !refused++)
		gt_say(1, "metrics of the GPU that will be left out (gputrace info --gpu-metrics):");
	if (metric->missing[0])
		gt_say(1, "  %s: %s", metric->name, metric->missing);
}

unsigned gt_info_wrong_gpu_metrics(void)
{
	gt_cuda_metrics_function *list = NULL;
	const char *names = getenv("VT_CUPTI_METRICS"), *file = getenv("VT_CUPTI_METRICS_SPEC");
	void *symbol = adapter_function("libgputrace-cuda.so", "gt_cuda_metrics");
	char why[512] = "", wanted[16384];
	size_t n = (size_t)snprintf(wanted, sizeof(wanted), "%s\n", names ? names : "");
	FILE *in = file && *file ? fopen(file, "re") : NULL;

	if (in && n < sizeof(wanted))
		n += fread(wanted + n, 1, sizeof(wanted) - n - 1, in);
	if (in)
		fclose(in);
	if (n >= sizeof(wanted))
		return 0;
	wanted[n] = 0;
	memcpy(&list, &symbol, sizeof(list));
	if (list && !list(NULL, wanted, why, sizeof(why), &about, tell_refused, NULL))
		gt_say(2, "the metrics of the GPU cannot be checked: %s", why);
	return refused;
}

static void complain(const char *sentence)
{
	gt_say(0, "%s", sentence);
}

int gt_cmd_info(int argc, char **argv)
{
	bool config = false, metrics = false, gpu = false;
	const char *chip = NULL;
	char word[4200];
	int key, rc = GT_RC_OK;

	while ((key = gt_option_next(&usage, argc, argv)) > 0) {
		config |= key == 'c';
		metrics |= key == 'm';
		gpu |= key == 'g';
		chip = key == CHIP ? optarg : chip;
		json |= key == 'j';
	}
	if (key)
		return GT_OPT_STATUS(key);
	if (optind < argc && !strcmp(argv[optind], "config")) { /* gputrace info config */
		config = true;
		optind++;
	}
	if (optind < argc && !gpu)
		return gt_usage_error(&usage, "it takes no argument; to look at a trace: gputrace report %s",
				      gt_summary_word(word, sizeof(word), argv[optind]));
	gt_settings_load(environ, complain);
	if (json && config)
		printf("{\n  \"settings\": [");
	else if (json && (metrics || gpu))
		printf("{\n  \"metrics\": [");
	if (config)
		show_settings();
	else if (metrics)
		rc = show_metrics();
	else if (gpu)
		rc = show_gpu_metrics(chip, argv + optind);
	else
		show_info();
	if (json)
		printf(config || metrics || gpu ? kernels_shown ? "}\n}\n" : "\n  ]\n}\n" : "\n}\n");
	return rc;
}
