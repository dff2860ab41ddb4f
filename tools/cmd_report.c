/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace report`: figures computed from an archive (report/), or the summary of a run again.
 *
 * Limits: the summary is what the assembly has written into DIR/SUMMARY.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launchers/job.h"
#include "lib/assemble/report/summary.h"
#include "lib/assemble/util/utf8.h"
#include "report/findings/findings.h"
#include "tools/archive.h"
#include "tools/cmds.h"
#include "tools/sections.h"

enum { KEY_SUMMARY = GT_KEY_FREE, KEY_THRESHOLD, KEY_ALONE };

static const struct gt_option options[] = {
	GT_SECTIONS_OPTIONS,
	{ KEY_SUMMARY, "summary", NULL, "the summary that was printed at the end of the run" },
	{ KEY_ALONE, "alone", NULL, "do not share the work with the other ranks of this launcher" },
	{ KEY_THRESHOLD, "threshold", "ID=VALUE", "of a finding: gputrace-findings(7)" },
	{ 0, NULL, NULL, NULL },
};

struct choice {
	struct gt_sections asked;
	bool summary, all, alone, brief;
	const char *wrong; /* threshold */
	const char *name;  /* of the archive */
	struct gt_spread spread;
};

/* Sections that fit on a screen; the last one only if it is not empty. */
static const char *const short_sections[] = { "run",	 "efficiencies", "findings", "regions", "samples",
					      "kernels", "waits",	 "losses",   NULL };
enum { SHORT_SECTIONS = sizeof(short_sections) / sizeof(short_sections[0]) };

static const struct gt_usage usage = {
	.command = "gputrace report",
	.synopsis = "[options] DIR...",
	.summary = "Shows where the time of a run went, from its archive or another OTF2 archive.",
	.options = options,
	.notes = "Sections:\n"
		 "  run                      what ran: duration, processes, threads, GPUs, memory\n"
		 "  efficiencies             how well ranks, threads and GPUs were used\n"
		 "  findings                 what costs time, and what to try\n"
		 "  regions                  functions, by the time in themselves\n"
		 "  groups                   the same by group of functions\n"
		 "  locations                what each thread and stream did\n"
		 "  thread_states            how long each ran, was ready, was blocked (or: threads)\n"
		 "  samples                  functions, by their processor time in samples of call stacks\n"
		 "  lines                    the same by source line\n"
		 "  call_tree                call paths of all threads as one tree\n"
		 "  callers                  who makes calls that take long\n"
		 "  kernels                  kernels of GPUs\n"
		 "  copies                   copies to, from and between GPUs, by direction\n"
		 "  launches                 who launched kernels and copies\n"
		 "  devices                  when each GPU worked, and when it was idle\n"
		 "  kernel_counters          what GPUs counted while a kernel ran\n"
		 "  kernel_metrics           what GPUs counted in single kernels\n"
		 "  mpi                      calls of MPI\n"
		 "  messages                 messages by size, communicator and call, and from whom to whom\n"
		 "  collectives              collective operations, by communicator\n"
		 "  locks                    who waited for a lock, and who had it\n"
		 "  files                    reads and writes, by file\n"
		 "  metrics                  counters by region; memory and other values\n"
		 "  wait_classes             waits, summed up by their kind\n"
		 "  waits                    who waited how long, where, and for whom\n"
		 "  delays                   which call paths made others wait\n"
		 "  critical_path            what the duration consists of, and what each region could gain\n"
		 "  critical_path_locations  the same by thread and stream\n"
		 "  losses                   what the archive does not have\n\n"
		 "DIR: an archive directory, or the anchor file (*.otf2) of any OTF2 archive.\n"
		 "mpirun -np N gputrace report DIR: the ranks share the work, and rank 0 prints.\n"
		 "Exit status: 0; 1 if files of the archive are damaged: the report is of the rest;\n"
		 "2 if there is no archive, section or summary.\n",
};

/* The lines of a file, as a terminal only shows them. A summary is a page or two: what is far longer is
 * none. */
static int print_lines(FILE *file)
{
	enum { MOST = 256 << 10 };
	char line[1024], shown[4 * sizeof(line)];
	size_t length, taken = 0;
	bool ends;

	while (taken < MOST && fgets(line, sizeof(line), file)) {
		length = strlen(line);
		ends = length && line[length - 1] == '\n';
		line[length - ends] = '\0';
		printf("%s%s", gt_utf8_line(shown, sizeof(shown), line), ends ? "\n" : "");
		taken += ends ? length : sizeof(line); /* NULs end a string, but not what was read */
	}
	return taken < MOST ? GT_RC_OK : GT_RC_BAD;
}

static int print_summary(const char *dir)
{
	char path[3500];
	int fd, n, rc;
	FILE *file;

	snprintf(path, sizeof(path), "%s/SUMMARY", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		n = errno;
		snprintf(path, sizeof(path), "%s/spool", dir);
		fprintf(stderr, access(path, F_OK)
				? "gputrace report: %s has no summary: %s\n"
				: "gputrace report: %s was not assembled yet: run 'gputrace recover' on it\n",
			dir, strerror(n));
		return GT_RC_USAGE;
	}
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return GT_RC_USAGE;
	}
	rc = print_lines(file);
	fclose(file);
	if (rc)
		fprintf(stderr,
			"gputrace report: %s/SUMMARY is damaged: it is longer than a summary can be\n", dir);
	else
		printf("[gputrace] trace: %s/traces.otf2\n", dir);
	return rc;
}

/* Names further sections that are not empty for this archive. */
static void print_more(const struct choice *choice, const struct gt_figures *figures, FILE *out)
{
	static const char *const further[] = {
		"call_tree", "callers", "lines", "locations", "thread_states", "mpi", "messages",
		"collectives", "locks", "files", "copies", "launches", "devices", "kernel_counters",
		"kernel_metrics", "metrics", "delays", "critical_path", NULL };
	const char *between = "\nmore: gputrace report -s ";
	char name[4000];

	for (size_t i = 0; further[i]; i++) {
		const struct gt_section *section = gt_section_find(figures, further[i]);

		if (!section || (!section->rows && !section->left_out))
			continue;
		if (section->kind->shape == GT_OBJECT && !section->cells[0].count)
			continue; /* zeros: there are no messages */
		fprintf(out, "%s%s", between, further[i]);
		between = ",";
	}
	if (*between == ',')
		fprintf(out, " %s (or --all)\n",
			gt_summary_word(name, sizeof(name), choice->name));
}

/* The report, or its sections that fit on a screen. */
static int print_sections(struct choice *choice, const struct gt_report *report, FILE *out)
{
	const char *sections[SHORT_SECTIONS];
	int rc;

	memcpy(sections, short_sections, sizeof(sections));
	if (!gt_report_lacks(report))
		sections[SHORT_SECTIONS - 2] = NULL;
	if (choice->brief)
		choice->asked.face.sections = sections;
	rc = gt_sections_print(&choice->asked, usage.command, &report->figures, out);
	if (choice->brief && !rc)
		print_more(choice, &report->figures, out);
	return rc;
}

static int print_figures(const char *anchor, void *argument, FILE *out)
{
	struct choice *choice = argument;
	struct gt_spread *spread = choice->spread.size > 1 ? &choice->spread : NULL;
	const char *const *sections = choice->brief ? short_sections : choice->asked.face.sections;
	struct gt_report *report = gt_report_spread(anchor, 0, spread, sections);
	int rc;

	if (!report)
		return GT_RC_USAGE;
	if (spread && spread->rank)
		return GT_RC_OK; /* rank 0 prints */
	if (report->damaged && !choice->asked.form)
		gt_archive_incomplete(NULL, report->damaged, report->read->tables[GT_OTF2_LOCATION].count,
				      out);
	rc = print_sections(choice, report, out);
	/* The reader is not closed: the process ends, and libotf2 may be in any state. */
	return rc ? rc : report->damaged ? GT_RC_BAD : GT_RC_OK;
}

static void take_option(struct choice *choice, int key)
{
	gt_sections_option(&choice->asked, key);
	switch (key) {
	case 'a':
		choice->all = true;
		break;
	case KEY_SUMMARY:
		choice->summary = true;
		break;
	case KEY_ALONE:
		choice->alone = true;
		break;
	case KEY_THRESHOLD:
		choice->wrong = gt_threshold_set(optarg) ? choice->wrong : optarg;
		break;
	}
}

/*
 * Where the ranks of a launcher that all run this command meet: beside the archive, or in the folder for
 * temporary files. `number`: of the archive, for a command with several.
 */
static void find_ranks(struct choice *choice, const char *name, int number, char *dir, size_t size)
{
	const char *rank = gt_job_rank(environ), *base = name, *temporary = getenv("TMPDIR");
	uint64_t job;
	int64_t when;
	struct stat st;

	choice->spread = (struct gt_spread){ .size = rank && !choice->alone ? gt_job_size(environ) : 0,
					     .rank = rank ? (uint32_t)strtoul(rank, NULL, 10) : 0,
					     .dir = dir, .name = usage.command };
	if (choice->spread.rank >= choice->spread.size)
		choice->spread.size = 0;
	if (choice->spread.size < 2)
		return;
	job = gt_job(environ, &when);
	if (stat(name, &st) || !S_ISDIR(st.st_mode) || access(name, W_OK))
		base = temporary && *temporary ? temporary : "/tmp";
	snprintf(dir, size, "%s/.report-%016" PRIx64 "-%d", base, job, number);
}

static int report_one(struct choice *choice, const char *name, int number)
{
	char dir[4000];
	int rc;

	if (choice->summary)
		return (gt_archive_wait(&usage, name), print_summary(name));
	choice->name = name;
	find_ranks(choice, name, number, dir, sizeof(dir));
	rc = gt_archive_read(&usage, name, NULL, print_figures, choice);
	if (rc > GT_RC_BAD && choice->spread.size > 1)
		gt_spread_fail(&choice->spread);
	return rc;
}

int gt_cmd_report(int argc, char **argv)
{
	struct choice choice = { .asked.face = { .rows = 8, .width = gt_terminal_width(100) } };
	int key, one, rc = GT_RC_OK;

	while ((key = gt_option_next(&usage, argc, argv)) > 0)
		take_option(&choice, key);
	if (key < 0)
		return GT_OPT_STATUS(key);
	if (choice.wrong) {
		fprintf(stderr, "gputrace report: --threshold=%s is not one of these:\n", choice.wrong);
		gt_thresholds_print(stderr);
		return GT_RC_USAGE;
	}
	choice.brief = !choice.asked.form && !choice.all && !choice.asked.count;
	if (optind == argc)
		return gt_usage_error(&usage, "no trace was given");
	for (; optind < argc; optind++) {
		size_t length = strlen(argv[optind]);

		while (length > 1 && argv[optind][length - 1] == '/')
			argv[optind][--length] = '\0';
		one = report_one(&choice, argv[optind], optind);
		if (one)
			rc = rc == GT_RC_USAGE || one != GT_RC_BAD ? GT_RC_USAGE : GT_RC_BAD;
	}
	return rc;
}
