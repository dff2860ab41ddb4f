/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one-screen summary at the end of a run (summary.h).
 *
 * Limits: no allocation, no locale; names are taken to be one column a character wide.
 */
#include "config.h"

#include "lib/assemble/report/summary.h"
#include "lib/assemble/archive/worker.h"
#include "lib/assemble/util/losses.h"
#include "lib/assemble/util/shorten.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CLOCK_ERROR_WORTH_NS 1000 /* below, it is not worth a line */

enum { ROWS = 10, ROWS_WITH_LOSSES = 6, LOSS_ROWS = 5, SHORTFALL_ROWS = 3, MIN_NAME = 16 };

struct printer {
	FILE *out;
	bool colour;
	unsigned width;
};

#define BOLD   "\033[1m"
#define RED    "\033[1;31m"
#define YELLOW "\033[33m"
#define NORMAL "\033[0m"

/* ---- text ------------------------------------------------------------------------------------ */

/*
 * Length of the harmless character at `s`, or 0: controls (C0, DEL, C1), what is not UTF-8, and the
 * marks that reorder text on a terminal.
 */
static size_t harmless(const unsigned char *s)
{
	uint32_t c;
	size_t n;

	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	n = s[0] >= 0xf0 && s[0] < 0xf5	  ? 4
	    : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
	    : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
					  : 0;
	c = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (n < 2 || c < 0xa0 || (n == 3 && c < 0x800) ||
	    (n == 4 && (c < 0x10000 || c > 0x10ffff)) || (c >= 0xd800 && c < 0xe000) ||
	    (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	    (c >= 0x2066 && c <= 0x2069))
		return 0;
	return n;
}

const char *gt_summary_escape(char *buffer, size_t size, const char *text, unsigned columns)
{
	const unsigned char *s;
	size_t total = 0, head, tail, at = 0, n = 0, length;

	for (s = (const unsigned char *)text; *s; s += length ? length : 1) {
		length = harmless(s);
		total += length ? 1 : 4;
	}
	head = total <= columns ? total : columns > 3 ? (columns - 3 + 1) / 2 : columns;
	tail = total <= columns ? 0 : columns > 3 ? columns - 3 - head : 0;
	for (s = (const unsigned char *)text; *s; s += length ? length : 1) {
		size_t wide;

		length = harmless(s);
		wide = length ? 1 : 4;
		if (at + wide <= head || at >= total - tail) {
			if (n + (length ? length : 4) >= size)
				break;
			if (length)
				memcpy(buffer + n, s, length);
			else
				snprintf(buffer + n, 5, "\\x%02x", *s);
			n += length ? length : 4;
		} else if (columns > 3 && n + 3 < size) {
			/* The first that is left out: skip to the tail. */
			memcpy(buffer + n, "...", 3);
			n += 3;
			while (*s && at + wide < total - tail) {
				at += wide;
				s += length ? length : 1;
				length = harmless(s);
				wide = length ? 1 : 4;
			}
		}
		at += wide;
	}
	if (size)
		buffer[n] = '\0';
	return buffer;
}

/* 1,234,567 */
static const char *counted(char buffer[32], uint64_t value)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *to = buffer;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return buffer;
}

const char *gt_summary_count(char buffer[32], uint64_t value)
{
	return counted(buffer, value);
}

/* Three or four digits and a unit: 1.84 s, 12.3 ms, 450 us, 7 ns */
const char *gt_summary_time(char buffer[32], uint64_t ns)
{
	double value = (double)ns;

	if (ns < 1000)
		snprintf(buffer, 32, "%" PRIu64 " ns", ns);
	else if (ns < 999500)
		snprintf(buffer, 32, "%.*f us", ns < 9995 ? 2 : ns < 99950 ? 1 : 0, value / 1e3);
	else if (ns < 999500000)
		snprintf(buffer, 32, "%.*f ms",
			 ns < 9995000	 ? 2
			 : ns < 99950000 ? 1
					 : 0,
			 value / 1e6);
	else if (value < 99.95e9)
		snprintf(buffer, 32, "%.*f s", value < 9.995e9 ? 2 : 1, value / 1e9);
	else
		snprintf(buffer, 32, "%.0f s", value / 1e9);
	return buffer;
}

const char *gt_summary_size(char buffer[32], uint64_t bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	double value = (double)bytes;
	int unit = 0;

	if (bytes < 1000) {
		snprintf(buffer, 32, "%" PRIu64 " bytes", bytes);
		return buffer;
	}
	while (value >= 999.5 && unit < 4) {
		value /= 1000;
		unit++;
	}
	snprintf(buffer, 32, "%.*f %s", value < 9.95 ? 1 : 0, value, units[unit]);
	return buffer;
}

/* One line: prefix, text, colour if wished. */
__attribute__((format(printf, 3, 4))) static void line(const struct printer *p, const char *colour,
						       const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (p->colour && colour)
		fprintf(p->out, "[gputrace] %s%s%s\n", colour, text, NORMAL);
	else
		fprintf(p->out, "[gputrace] %s\n", text);
}

static const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static uint64_t all_losses(const struct gt_summary *s)
{
	uint64_t sum = s->unknown_records;

	for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
		if (gt_loss_real(cause))
			sum += s->lost[cause];
	return sum;
}

/* killed by SIGSEGV (segmentation fault) */
static void put_signal(int number, char *text, size_t size)
{
	const char *name = sigabbrev_np(number), *meaning = sigdescr_np(number);

	if (name && meaning)
		snprintf(text, size, "killed by SIG%s (%c%s)", name, tolower((unsigned char)*meaning),
			 meaning + 1);
	else
		snprintf(text, size, "killed by signal %d", number);
}

static void put_end(const struct gt_summary *s, char *text, size_t size)
{
	switch (s->how) {
	case GT_END_EXIT:
	case GT_END__EXIT:
	case GT_END_QUICK_EXIT:
		snprintf(text, size, "exit status %u", s->status);
		return;
	case GT_END_EXEC:
		snprintf(text, size, "ended by exec");
		return;
	case GT_END_ABORT:
		snprintf(text, size, "ended by abort");
		return;
	case GT_END_SIGNAL:
		put_signal((int)s->status, text, size);
		return;
	}
	snprintf(text, size, s->killed ? "was killed" : "end not recorded");
}

static void print_outside(const struct printer *p, const struct gt_summary *s)
{
	char name[64], a[32];

	if (!s->outside)
		return;
	gt_summary_escape(name, sizeof(name), s->outside_first ? s->outside_first : "?", 24);
	if (s->outside == 1)
		line(p, YELLOW,
		     "%s ran untraced: it is static, 32-bit, of another C library or privileged, or was "
		     "started without LD_PRELOAD",
		     name);
	else
		line(p, YELLOW,
		     "%s programs ran untraced (%s ...): static, 32-bit, of another C library or privileged, "
		     "or started without LD_PRELOAD",
		     counted(a, s->outside), name);
}

static void print_killed(const struct printer *p, const struct gt_summary *s)
{
	uint64_t others = s->killed - (s->killed && (s->how == GT_END_NONE || s->how == GT_END_SIGNAL));
	char name[64], a[32], b[32], how[80] = "killed", more[64] = "";

	if (!s->killed_one.pid || !others)
		return;
	gt_summary_escape(name, sizeof(name), s->killed_one.program, 24);
	if (s->killed_one.signal)
		put_signal((int)s->killed_one.signal, how, sizeof(how));
	if (others > 1)
		snprintf(more, sizeof(more), ", and %s more %s", counted(b, others - 1),
			 plural(others - 1, "process", "processes"));
	snprintf(a, sizeof(a), "%u", s->killed_one.pid);
	line(p, YELLOW, "%s [%s] was %s%s", name, a, how, more);
}

/* A share of all processors would be wrong without some processes, or with the start of a very short run. */
static void print_use(const struct printer *p, const struct gt_summary *s)
{
	const struct gt_used *used = &s->used;
	double whole = (double)s->wall_ns * (double)used->processors;
	char a[32], b[32], c[32], share[64] = "", memory[80] = "";

	if (!used->measured)
		return;
	if (used->unmeasured)
		snprintf(share, sizeof(share), " (%s of %s processes)", counted(a, used->measured),
			 counted(b, used->measured + used->unmeasured));
	else if (used->processors && (double)used->processor_ns <= whole)
		snprintf(share, sizeof(share), ", %.0f %% of %s %s", 100 * (double)used->processor_ns / whole,
			 counted(a, used->processors), plural(used->processors, "core", "cores"));
	if (used->memory_peak)
		snprintf(memory, sizeof(memory), "   memory: %s peak%s",
			 gt_summary_size(b, used->memory_peak),
			 used->measured > 1 ? " (largest)" : "");
	line(p, NULL, "processor: %s%s%s", gt_summary_time(c, used->processor_ns), share, memory);
}

/* Of the run, as shares are: of the threads' lives. */
static void put_cost(const struct gt_summary *s, char *text, size_t size)
{
	double percent = s->threads_ns ? 100 * (double)s->cost_ns / (double)s->threads_ns : 0;
	char a[32], share[32];

	snprintf(share, sizeof(share), percent < 0.1 ? "less than 0.1" : "%.*f", percent < 9.95, percent);
	text[0] = '\0';
	if (s->cost_ns && s->threads_ns)
		snprintf(text, size, "; measurement: about %s, %s %% of the run",
			 gt_summary_time(a, s->cost_ns), share);
}

static void print_head(const struct printer *p, const struct gt_summary *s)
{
	char a[32], b[32], c[32], d[32], e[32], end[96], streams[64] = "", program[64] = "";
	char f[32], ranks[64] = "", cost[96];

	if (s->program) {
		gt_summary_escape(program, sizeof(program) - 2, s->program, 40);
		strcat(program, ": ");
	}
	if (s->gpu_streams)
		snprintf(streams, sizeof(streams), ", %s GPU %s", counted(a, s->gpu_streams),
			 plural(s->gpu_streams, "stream", "streams"));
	if (s->ranks)
		snprintf(ranks, sizeof(ranks), " (%s %s %s)", counted(f, s->ranks), s->ranks_of,
			 plural(s->ranks, "rank", "ranks"));
	put_end(s, end, sizeof(end));
	line(p, BOLD, "%s%s, %s; %s %s%s, %s %s%s", program, gt_summary_time(a, s->wall_ns), end,
	     counted(b, s->processes), plural(s->processes, "process", "processes"), ranks,
	     counted(c, s->threads), plural(s->threads, "thread", "threads"), streams);
	put_cost(s, cost, sizeof(cost));
	line(p, BOLD, "%s %s, %s%s%s", counted(d, s->events), plural(s->events, "event", "events"),
	     gt_summary_size(e, s->archive_bytes), s->recovered ? " (recovered)" : "", cost);
	print_use(p, s);
	print_killed(p, s);
	if (s->silent)
		line(p, YELLOW, "%s %s started as %s ranks, but no %s was recorded", counted(a, s->silent),
		     plural(s->silent, "process was", "processes were"), s->ranks_of, s->ranks_of);
	print_outside(p, s);
	if (s->missing && *s->missing)
		line(p, RED, "%s; is %s shared by all hosts?", s->missing, s->dir ? s->dir : "its directory");
	if (s->missing && *s->missing && s->spool_kept)
		line(p, NULL,
		     "the spool is kept: gputrace recover %s OTHER... joins the archives of other hosts",
		     s->dir ? s->dir : "DIR");
	if (s->absent && *s->absent)
		line(p, RED, "NOT IN THE TRACE: %s", s->absent);
}

static unsigned shortfall_lines(const struct gt_summary *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->shortfall_count; i++)
		n += !s->shortfalls[i].told;
	return n < SHORTFALL_ROWS ? n : SHORTFALL_ROWS;
}

/* A sentence is never cut. */
static void print_shortfalls(const struct printer *p, const struct gt_summary *s)
{
	unsigned left = SHORTFALL_ROWS;
	char text[512];

	for (unsigned i = 0; left && i < s->shortfall_count; i++) {
		const struct gt_summary_shortfall *one = &s->shortfalls[i];

		if (one->told)
			continue;
		line(p, one->what->kind == GT_MISSING ? RED : YELLOW, "%s",
		     gt_shortfall_text(one->what, one->count, *one->first ? one->first : NULL, text,
				       sizeof(text)));
		left--;
	}
}

/* Where the ranks spend their time, compared, and what they sent. */
static void print_ranks(const struct printer *p, const struct gt_summary *s)
{
	const struct gt_balance *b = &s->balance;
	char a[32], c[32], d[32], ranks[96] = "", messages[96] = "", collectives[64] = "";

	if (b->ranks > 1)
		snprintf(ranks, sizeof(ranks), " (least: rank %u, %.0f %%; most: rank %u, %.0f %%)",
			 b->least.rank, 100 * b->least.in_comm, b->most.rank, 100 * b->most.in_comm);
	if (b->ranks)
		line(p, NULL, "in %s (without %s_Init and %s_Finalize): %.0f %%%s", s->ranks_of, s->ranks_of,
		     s->ranks_of, 100 * b->in_comm, ranks);
	if (b->ranks > 1 && b->most_ns)
		line(p, NULL, "outside %s: mean %s, most %s (rank %u)", s->ranks_of,
		     gt_summary_time(a, b->mean_ns), gt_summary_time(c, b->most_ns), b->most_rank);
	if (s->messages)
		snprintf(messages, sizeof(messages), "%s %s with %s", counted(a, s->messages),
			 plural(s->messages, "message", "messages"), gt_summary_size(c, s->message_bytes));
	if (s->collectives)
		snprintf(collectives, sizeof(collectives), "%s %s", counted(d, s->collectives),
			 plural(s->collectives, "call of a collective", "calls of collectives"));
	if (*messages || *collectives)
		line(p, NULL, "%s%s%s", messages, *messages && *collectives ? ", " : "", collectives);
}

double gt_summary_parallel(const struct gt_summary *s)
{
	double host = s->load_balance > 0 ? s->load_balance * s->communication : s->offload > 0;

	if (s->rank_threads > 0)
		host *= s->rank_threads;
	return s->offload > 0 ? host * s->offload : host;
}

static void print_efficiency(const struct printer *p, const struct gt_summary *s)
{
	char factors[128] = "", threads[64] = "", offload[64] = "", copies[64] = "";

	if (s->load_balance > 0 && s->communication > 0)
		snprintf(factors, sizeof(factors), "load balance %.0f %%, communication %.0f %%",
			 100 * s->load_balance, 100 * s->communication);
	if (s->offload > 0)
		snprintf(offload, sizeof(offload), "%soffload %.0f %%", *factors ? ", " : "",
			 100 * s->offload);
	if (s->rank_threads > 0 && s->rank_threads < 0.995)
		snprintf(threads, sizeof(threads), ", threads %.0f %%", 100 * s->rank_threads);
	if (*factors || *offload)
		line(p, NULL, "parallel efficiency %.0f %%: %s%s%s", 100 * gt_summary_parallel(s), factors,
		     threads, offload);
	else if (s->no_efficiency)
		line(p, NULL, "efficiencies: %s", s->no_efficiency);
	if (s->device_copies > 0)
		snprintf(copies, sizeof(copies), ", copies %.0f %%, orchestration %.0f %%",
			 100 * s->device_copies, 100 * s->device_orchestration);
	if (s->device_parallel > 0)
		line(p, NULL, "GPU efficiency %.0f %%: load balance %.0f %%%s", 100 * s->device_parallel,
		     100 * s->device_balance, copies);
}

static bool copied(const struct gt_summary *s)
{
	return s->tally && s->tally->copied[0].count;
}

/* Bytes that GPUs copied, by direction. */
static void print_copies(const struct printer *p, const struct gt_summary *s)
{
	char text[GT_DIRECTIONS * 24] = "", size[32];
	size_t n = 0;

	for (unsigned i = 0; copied(s) && i < GT_DIRECTIONS && s->tally->copied[i].count; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %s", n ? ", " : "",
				      s->tally->copied[i].direction,
				      gt_summary_size(size, s->tally->copied[i].bytes));
	if (n)
		line(p, NULL, "copies of GPUs: %s", text);
}

/* What costs most; a sentence is never cut. */
static void print_findings(const struct printer *p, const struct gt_summary *s)
{
	char a[32];

	for (unsigned i = 0; i < s->finding_count; i++)
		line(p, YELLOW, "%s to gain: %s (%s)", gt_summary_time(a, s->findings[i].gain_ns),
		     s->findings[i].text, s->findings[i].id);
}

static void print_nothing(const struct printer *p, const struct gt_summary *s)
{
	line(p, RED, "NO EVENT WAS RECORDED");
	if (all_losses(s))
		line(p, NULL, "  They were lost; the causes are below.");
	else if (s->switched_off)
		line(p, NULL,
		     "  Recording was switched off (VT_MODE=off, or VT_OFF() in the program).");
	else if (s->lost[GT_LOSS_FILTER])
		line(p, NULL,
		     "  Everything was filtered: look at VT_FILTER_SPEC and VT_GROUPS_SPEC.");
	else if (s->hooks_seen)
		line(p, NULL,
		     "  The program reached gputrace, but all that it recorded was taken back.");
	else
		line(p, NULL,
		     "  The program was not built with gputrace: make CC=gputrace-cc "
		     "CXX=gputrace-c++");
}

static uint64_t busy(const struct gt_summary_region *region)
{
	return region->exclusive_ns > region->apart_ns ? region->exclusive_ns - region->apart_ns : 0;
}

double gt_summary_share(const struct gt_summary *s, const struct gt_summary_region *region)
{
	uint64_t ns = busy(region);

	if (region->on_device || !s->threads_ns || (!ns && region->apart_ns))
		return -1;
	return (double)ns / (double)s->threads_ns;
}

/* What others did while they waited for the run comes last. Ties by name. */
static bool comes_before(const struct gt_summary_region *a, const struct gt_summary_region *b)
{
	bool a_apart = !a->on_device && a->apart_ns && a->apart_ns == a->exclusive_ns;
	bool b_apart = !b->on_device && b->apart_ns && b->apart_ns == b->exclusive_ns;
	uint64_t a_ns = a->on_device ? a->exclusive_ns : busy(a);
	uint64_t b_ns = b->on_device ? b->exclusive_ns : busy(b);

	if (a_apart != b_apart)
		return b_apart;
	if (a_apart) {
		a_ns = a->exclusive_ns;
		b_ns = b->exclusive_ns;
	}
	return a_ns != b_ns ? a_ns > b_ns : strcmp(a->name, b->name) < 0;
}

unsigned gt_summary_top(const struct gt_summary *s, const struct gt_summary_region **top, unsigned rows)
{
	unsigned n = 0;

	for (size_t i = 0; i < s->region_count; i++) {
		const struct gt_summary_region *r = &s->regions[i];
		unsigned at = n;

		if (!r->calls)
			continue;
		while (at > 0 && comes_before(r, top[at - 1]))
			at--;
		if (at == rows)
			continue;
		if (n < rows)
			n++;
		memmove(&top[at + 1], &top[at], (n - 1 - at) * sizeof(*top));
		top[at] = r;
	}
	return n;
}

static const char *share(char buffer[32], const struct gt_summary *s, const struct gt_summary_region *region)
{
	double share = gt_summary_share(s, region);

	snprintf(buffer, 32, share < 0 ? "-" : "%.1f %%", 100 * share);
	return buffer;
}

enum { NAME_ROOM = 512 };

static void put_name(char *name, const char *of, unsigned room, size_t keep)
{
	char buffer[GT_SHORTEN_MAX];

	gt_summary_escape(name, NAME_ROOM, gt_shorten(buffer, of, room, keep), room);
}

/* What tells functions apart stays, also two that would look the same. */
static void put_names(char names[][NAME_ROOM], const struct gt_summary_region *const *top, unsigned n,
		      unsigned room)
{
	size_t keep[ROWS] = { 0 };

	for (unsigned i = 0; i < n; i++)
		put_name(names[i], top[i]->name, room, GT_KEEP_NOTHING);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++) {
			size_t at;

			if (k == i || strcmp(names[k], names[i]) || !strcmp(top[k]->name, top[i]->name))
				continue;
			at = gt_differ_at(top[k]->name, top[i]->name) + 1;
			keep[i] = at > keep[i] ? at : keep[i];
		}
	for (unsigned i = 0; i < n; i++)
		if (keep[i])
			put_name(names[i], top[i]->name, room, keep[i] - 1);
}

static bool has_idle(const struct gt_summary_region *const *top, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (top[i]->idle_ns)
			return true;
	return false;
}

/* A column that is there only if one of the rows needs it. */
static const char *idle_of(char buffer[32], bool shown, const struct gt_summary_region *region)
{
	char time[32];

	if (!shown)
		return "";
	snprintf(buffer, 32, " %10.15s", region->idle_ns ? gt_summary_time(time, region->idle_ns) : "-");
	return buffer;
}

static void print_table(const struct printer *p, const struct gt_summary *s, unsigned rows)
{
	const struct gt_summary_region *top[ROWS];
	unsigned n = gt_summary_top(s, top, rows);
	bool idle = has_idle(top, n);
	unsigned used = 11 + 12 + 11 + 11 + 9 + 11 * idle; /* prefix and columns */
	unsigned room = p->width > used + MIN_NAME ? p->width - used : MIN_NAME;
	uint64_t called = 0;
	char a[32], b[32], c[32], d[32], e[32], names[ROWS][NAME_ROOM];

	for (size_t i = 0; i < s->region_count; i++)
		called += s->regions[i].calls != 0;
	if (!n)
		return;
	line(p, NULL, "%11s %10s%s %10s  %% of run, function", "calls", "exclusive",
	     idle ? "       idle" : "", "inclusive");
	put_names(names, top, n, room);
	for (unsigned i = 0; i < n; i++)
		line(p, NULL, "%11s %10s%s %10s %7s  %s", counted(a, top[i]->calls),
		     gt_summary_time(b, top[i]->exclusive_ns), idle_of(e, idle, top[i]),
		     gt_summary_time(c, top[i]->inclusive_ns), share(d, s, top[i]), names[i]);
	if (called > n)
		line(p, NULL, "%11s %s more %s", "...", counted(a, called - n),
		     plural(called - n, "function", "functions"));
}

static bool much_unseen(const struct gt_summary *s)
{
	return s->threads_ns && s->unseen_ns >= s->threads_ns / 100 * 5;
}

/* What is missing to 100 % in the table. */
static void print_unseen(const struct printer *p, const struct gt_summary *s)
{
	bool functions = false, script = false;
	char hint[96] = "";

	for (size_t i = 0; i < s->region_count; i++) {
		functions |= s->regions[i].function && !s->regions[i].script;
		script |= s->regions[i].script;
	}
	if (s->unseen_setting && !script)
		snprintf(hint, sizeof(hint), "; %s records more", s->unseen_setting);
	else if (!functions && !script)
		snprintf(hint, sizeof(hint), "; to record the program's own, build it with gputrace-cc");
	if (much_unseen(s))
		line(p, NULL, "%.0f %% of the threads' time was spent outside recorded functions%s",
		     100 * (double)s->unseen_ns / (double)s->threads_ns, hint);
}

static void print_losses(const struct printer *p, const struct gt_summary *s)
{
	uint64_t sum = all_losses(s), rest = 0;
	unsigned rows = 0;
	bool shown[GT_LOSS_N] = {false};
	char a[32];

	if (!sum)
		return;
	line(p, RED, "LOST %s %s, which the trace does not have:", counted(a, sum),
	     plural(sum, "event", "events"));
	for (; rows < LOSS_ROWS; rows++) {
		unsigned most = GT_LOSS_N;

		for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
			if (gt_loss_real(cause) && !shown[cause] && s->lost[cause] &&
			    (most == GT_LOSS_N || s->lost[cause] > s->lost[most]))
				most = cause;
		if (most == GT_LOSS_N)
			break;
		shown[most] = true;
		line(p, RED, "%11s %s", counted(a, s->lost[most]), gt_loss_which(most));
	}
	for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
		if (gt_loss_real(cause) && !shown[cause])
			rest += s->lost[cause];
	if (rest + s->unknown_records)
		line(p, RED, "%11s of other causes", counted(a, rest + s->unknown_records));
}

/* What is no loss, but worth a line. */
static void print_notes(const struct printer *p, const struct gt_summary *s)
{
	char a[32], b[32], c[32];

	if (s->idle_threads)
		line(p, NULL, "not in the table: %s idle %s, which only waited (%s)",
		     counted(a, s->idle_threads), plural(s->idle_threads, "thread", "threads"),
		     gt_summary_time(b, s->idle_ns));
	if (s->serving_ns && s->serving_ns >= s->threads_ns / 100)
		line(p, NULL, "idle, not part of the run: %s other %s waited for work (%s)",
		     counted(a, s->serving_threads), plural(s->serving_threads, "thread", "threads"),
		     gt_summary_time(b, s->serving_ns));
	if (s->flushes)
		line(p, NULL, "buffer flushes: %s, %s together, longest %s (TRACE BUFFER FLUSH)",
		     counted(a, s->flushes), gt_summary_time(b, s->flush_ns),
		     gt_summary_time(c, s->longest_flush_ns));
	if (s->lost[GT_LOSS_FILTER])
		line(p, NULL, "%s %s left out by the filter or by VT_MAX_STACK_DEPTH",
		     counted(a, s->lost[GT_LOSS_FILTER]), plural(s->lost[GT_LOSS_FILTER], "event", "events"));
	if (s->lost[GT_LOSS_REWIND])
		line(p, NULL, "%s %s taken back by VT_REWIND", counted(a, s->lost[GT_LOSS_REWIND]),
		     plural(s->lost[GT_LOSS_REWIND], "event", "events"));
	if (s->closed_frames)
		line(p, NULL, "%s %s did not return (jump, exception, end): closed",
		     counted(a, s->closed_frames), plural(s->closed_frames, "call", "calls"));
	if (s->dropped_leaves)
		line(p, NULL, "%s %s without an enter: left out", counted(a, s->dropped_leaves),
		     plural(s->dropped_leaves, "return", "returns"));
	if (s->clamped_times)
		line(p, NULL, "%s %s out of order in time and moved",
		     counted(a, s->clamped_times), plural(s->clamped_times, "event was", "events were"));
	if (s->unresolved)
		line(p, NULL, "without a name: %s %s (stripped file, or changed since)",
		     counted(a, s->unresolved), plural(s->unresolved, "function", "functions"));
	if (s->clock_error_ns >= CLOCK_ERROR_WORTH_NS)
		line(p, NULL, "times may be wrong by up to %s",
		     gt_summary_time(a, (uint64_t)s->clock_error_ns));
	else if (s->clock_error_ns < 0 && s->hosts > 1)
		line(p, NULL,
		     "the clocks of the %u hosts were not all compared: the wall clocks align them, with an "
		     "unknown error",
		     s->hosts);
}

/* ---- all ------------------------------------------------------------------------------------- */

enum gt_summary_style gt_summary_style_for(int fd)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if ((no && *no) || !term || !*term || !strcmp(term, "dumb") || !isatty(fd))
		return GT_SUMMARY_PLAIN;
	return GT_SUMMARY_COLOUR;
}

unsigned gt_summary_width_for(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < 40 ? 0 : size.ws_col;
}

void gt_summary_print(const struct gt_summary *summary, FILE *out, enum gt_summary_style style,
		      unsigned width)
{
	struct printer p = {out, style == GT_SUMMARY_COLOUR, width ? width : 100};
	char dir[800];
	unsigned rows, taken = summary->finding_count + much_unseen(summary) + copied(summary) +
			       shortfall_lines(summary);

	if (p.width > 400)
		p.width = 400;
	print_head(&p, summary);
	print_shortfalls(&p, summary);
	print_ranks(&p, summary);
	print_efficiency(&p, summary);
	print_copies(&p, summary);
	print_findings(&p, summary);
	if (!summary->events)
		print_nothing(&p, summary);
	rows = all_losses(summary) ? ROWS_WITH_LOSSES - (summary->used.measured != 0) : ROWS;
	print_table(&p, summary, taken < rows ? rows - taken : 1);
	print_unseen(&p, summary);
	print_losses(&p, summary);
	print_notes(&p, summary);
	if (!summary->dir)
		return;
	/* Never cut: it is there to be copied. */
	gt_summary_escape(dir, sizeof(dir), summary->dir, sizeof(dir));
	line(&p, NULL, "trace: %s/traces.otf2", dir);
	line(&p, NULL, "more: gputrace report %s", dir);
	if (summary->floods)
		line(&p, NULL, "fewer events: gputrace filter suggest -o rules %s, then VT_FILTER_SPEC=rules",
		     dir);
}
