/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading PC samples and counts of instructions. A function is known by its cubin's CRC and its number there,
 * whatever process ran it.
 *
 * Periods may differ (cuda/samples/pcsampling.c): while reading, a sample counts in units of the shortest
 * period that there can be.
 */
#include "config.h"

#include "report/source/samples.h"

#include "lib/assemble/names/symbols.h"
#include "lib/assemble/util/io.h"
#include "lib/assemble/util/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_PERIOD 5u
#define MOST_PERIOD  31u
#define PREFIX       "smsp__pcsamp_warps_issue_stalled_"
#define SUFFIX       "_not_issued"

static char *copy(const char *text)
{
	char *new = gt_need(strdup(text));

	return new;
}

/* ---- words --------------------------------------------------------------------------------------- */

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \xHH becomes the byte again; in place. */
static char *unescape(char *word)
{
	char *to = word;

	for (const char *from = word; *from; from++) {
		if (from[0] == '\\' && from[1] == 'x' && digit(from[2]) >= 0 && digit(from[3]) >= 0) {
			*to++ = (char)(digit(from[2]) << 4 | digit(from[3]));
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = 0;
	return word;
}

static char *next_word(char **line)
{
	return strsep(line, " ");
}

static bool number(char **line, int base, uint64_t most, uint64_t *value)
{
	char *word = next_word(line), *end;

	if (!word || digit(*word) < 0)
		return false;
	errno = 0;
	*value = strtoull(word, &end, base);
	return !*end && !errno && *value <= most;
}

/* ---- lines --------------------------------------------------------------------------------------- */

struct reader {
	struct gt_pc_samples *s;
	size_t function; /* the last one + 1 */
	unsigned metrics[GT_PC_METRICS]; /* the file's numbers -> those of all files, + 1 */
};

static bool read_process(struct reader *r, char *line)
{
	struct gt_pc_samples *s = r->s;
	struct gt_pc_process *p;
	char *rank, *host;
	uint64_t pid;

	if (!number(&line, 10, UINT32_MAX, &pid))
		return false;
	rank = next_word(&line);
	host = next_word(&line);
	s->processes = gt_resized(s->processes, s->process_count + 1, sizeof(*s->processes));
	p = &s->processes[s->process_count++];
	*p = (struct gt_pc_process){ .pid = (uint32_t)pid, .rank = rank ? atoi(rank) : -1 };
	p->host = copy(host ? unescape(host) : "");
	p->program = copy(line ? unescape(line) : "");
	p->sampling = copy("");
	return true;
}

static bool read_sampling(struct reader *r, char *line)
{
	struct gt_pc_samples *s = r->s;

	if (!s->process_count || !line)
		return false;
	free(s->processes[s->process_count - 1].sampling);
	s->processes[s->process_count - 1].sampling = copy(unescape(line));
	return true;
}

static bool read_total(struct reader *r, char *line)
{
	uint64_t *const to[] = { &r->s->total, &r->s->dropped, &r->s->others, &r->s->interrupted };

	for (unsigned i = 0; i < 4; i++) {
		uint64_t n;

		if (!number(&line, 10, UINT64_MAX, &n))
			return false;
		*to[i] += n;
	}
	return true;
}

static bool read_merged(struct reader *r, char *line)
{
	(void)line;
	return r->s->merged = true;
}

static bool read_reason(struct reader *r, char *line)
{
	uint64_t index;

	if (!number(&line, 10, GT_PC_REASONS - 1, &index) || !line)
		return false;
	if (!r->s->reasons[index].name)
		r->s->reasons[index].name = copy(unescape(line));
	return true;
}

static size_t find_function(struct gt_pc_samples *s, uint64_t crc, uint32_t index, const char *name)
{
	struct gt_pc_function *f;

	for (size_t i = 0; i < s->function_count; i++)
		if (s->functions[i].crc == crc && s->functions[i].index == index &&
		    !strcmp(s->functions[i].name, name))
			return i;
	s->functions = gt_resized(s->functions, s->function_count + 1, sizeof(*f));
	f = &s->functions[s->function_count];
	*f = (struct gt_pc_function){ .crc = crc, .index = index, .name = copy(name) };
	return s->function_count++;
}

static bool read_function(struct reader *r, char *line)
{
	uint64_t crc, index;

	r->function = 0;
	if (!number(&line, 16, UINT64_MAX, &crc) || !number(&line, 10, UINT32_MAX, &index) || !line)
		return false;
	r->function = find_function(r->s, crc, (uint32_t)index, unescape(line)) + 1;
	return true;
}

/* Lines come in the order of offsets, but those of several processes one after the other. */
static struct gt_pc_instruction *find_instruction(struct gt_pc_function *f, uint64_t offset)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->items[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < f->count && f->items[low].offset == offset)
		return &f->items[low];
	f->items = gt_grown(f->items, f->count, &f->room, sizeof(*f->items));
	memmove(&f->items[low + 1], &f->items[low], (f->count++ - low) * sizeof(*f->items));
	f->items[low] = (struct gt_pc_instruction){ .offset = offset };
	return &f->items[low];
}

static void add_launch(struct reader *r, uint32_t correlation, uint64_t samples)
{
	struct gt_pc_samples *s = r->s;

	if (!correlation || !s->process_count || !samples)
		return;
	s->launches = gt_grown(s->launches, s->launch_count, &s->launch_room, sizeof(*s->launches));
	s->launches[s->launch_count++] = (struct gt_pc_launch){
		.process = s->process_count - 1, .function = r->function - 1, .correlation = correlation,
		.samples = samples,
	};
}

static bool not_issued(const struct gt_pc_reason *reason)
{
	size_t n = reason->name ? strlen(reason->name) : 0, suffix = strlen(SUFFIX);

	return n > suffix && !strcmp(reason->name + n - suffix, SUFFIX);
}

static bool read_pc(struct reader *r, char *line)
{
	uint64_t offset, context, period, correlation, reason, n, sum = 0;
	struct gt_pc_instruction *at;
	char *word;

	if (!r->function || !number(&line, 16, UINT64_MAX, &offset) ||
	    !number(&line, 10, UINT32_MAX, &context) || !number(&line, 10, MOST_PERIOD, &period) ||
	    !number(&line, 10, UINT32_MAX, &correlation) || period < LEAST_PERIOD)
		return false;
	r->s->mixed |= r->s->period && r->s->period != period;
	if (!r->s->period || period < r->s->period)
		r->s->period = (unsigned)period;
	at = find_instruction(&r->s->functions[r->function - 1], offset);
	while ((word = strsep(&line, " "))) {
		char *count = word;

		word = strsep(&count, ":");
		if (!number(&word, 10, GT_PC_REASONS - 1, &reason) ||
		    !number(&count, 10, UINT64_MAX >> (MOST_PERIOD - LEAST_PERIOD + 4), &n))
			return false;
		n <<= period - LEAST_PERIOD;
		at->reasons[reason] += n;
		if (!not_issued(&r->s->reasons[reason]))
			sum += n;
	}
	add_launch(r, (uint32_t)correlation, sum);
	return true;
}

/* The number of a metric among those of all files. */
static unsigned find_metric(struct gt_pc_samples *s, const char *name)
{
	unsigned i = 0;

	while (i < s->metric_count && strcmp(s->metrics[i], name))
		i++;
	if (i == s->metric_count && i < GT_PC_METRICS - 1)
		s->metrics[s->metric_count++] = copy(name);
	return i;
}

static bool read_metric(struct reader *r, char *line)
{
	uint64_t index;
	unsigned found;

	if (!number(&line, 10, GT_PC_METRICS - 1, &index) || !line)
		return false;
	found = find_metric(r->s, unescape(line));
	r->metrics[index] = found < r->s->metric_count ? found + 1 : 0;
	return r->metrics[index];
}

static bool read_count(struct reader *r, char *line)
{
	uint64_t offset, context, metric, n;
	struct gt_pc_instruction *at;
	char *word;

	if (!r->function || !number(&line, 16, UINT64_MAX, &offset) ||
	    !number(&line, 10, UINT32_MAX, &context))
		return false;
	at = find_instruction(&r->s->functions[r->function - 1], offset);
	while ((word = strsep(&line, " "))) {
		char *count = word;

		word = strsep(&count, ":");
		if (!number(&word, 10, GT_PC_METRICS - 1, &metric) ||
		    !number(&count, 10, UINT64_MAX / 4, &n) || !r->metrics[metric])
			return false;
		at->metrics[r->metrics[metric] - 1] += n;
	}
	return true;
}

static bool read_head(struct reader *r, char *line)
{
	(void)line;
	return r->s->sampled = true;
}

static bool read_count_head(struct reader *r, char *line)
{
	(void)line;
	memset(r->metrics, 0, sizeof(r->metrics));
	return r->s->counted = true;
}

static bool read_other(struct reader *r, char *line)
{
	(void)r;
	(void)line;
	return true;
}

static bool read_line(struct reader *r, char *line)
{
	static const struct {
		const char *word;
		bool (*read)(struct reader *r, char *line);
	} kinds[] = {
		{ "pc", read_pc }, { "function", read_function }, { "reason", read_reason },
		{ "total", read_total }, { "sampling", read_sampling }, { "process", read_process },
		{ "merged", read_merged }, { "context", read_other }, { "gputrace-pcsamples", read_head },
		{ "gputrace-sass", read_count_head }, { "counting", read_sampling },
		{ "metric", read_metric }, { "sass", read_count },
	};
	const char *word = next_word(&line);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(word, kinds[i].word))
			return kinds[i].read(r, line);
	return false;
}

void gt_pc_samples_parse(struct gt_pc_samples *samples, char *text)
{
	struct reader r = { .s = samples };
	char *line;

	while ((line = strsep(&text, "\n")))
		if (*line && !read_line(&r, line))
			samples->bad++;
}

/* ---- all together -------------------------------------------------------------------------------- */

static void name_reasons(struct gt_pc_samples *s)
{
	for (unsigned i = 0; i < GT_PC_REASONS; i++) {
		struct gt_pc_reason *reason = &s->reasons[i];
		size_t prefix = strlen(PREFIX);

		reason->base = i;
		reason->not_issued = not_issued(reason);
		if (reason->not_issued)
			reason->name[strlen(reason->name) - strlen(SUFFIX)] = 0;
		if (reason->name && !strncmp(reason->name, PREFIX, prefix))
			memmove(reason->name, reason->name + prefix, strlen(reason->name + prefix) + 1);
	}
	for (unsigned i = 0; i < GT_PC_REASONS; i++)
		for (unsigned k = 0; s->reasons[i].not_issued && k < GT_PC_REASONS; k++)
			if (s->reasons[k].name && !s->reasons[k].not_issued &&
			    !strcmp(s->reasons[k].name, s->reasons[i].name))
				s->reasons[i].base = k;
}

static void sum_function(struct gt_pc_samples *s, struct gt_pc_function *f, unsigned shift)
{
	char full[GT_PC_NAME];

	for (size_t i = 0; i < f->count; i++) {
		struct gt_pc_instruction *at = &f->items[i];

		for (unsigned k = 0; k < GT_PC_REASONS; k++) {
			at->reasons[k] >>= shift;
			f->reasons[k] += at->reasons[k];
			at->all += s->reasons[k].not_issued ? 0 : at->reasons[k];
		}
		for (unsigned k = 0; k < s->metric_count; k++)
			f->metrics[k] += at->metrics[k];
		f->all += at->all;
	}
	s->all += f->all;
	f->shown = copy(gt_demangled(f->name, full) ? full : f->name);
}

struct order {
	size_t old;
	const struct gt_pc_function *function;
};

static int by_samples(const void *va, const void *vb)
{
	const struct order *a = va, *b = vb;
	int names = strcmp(a->function->name, b->function->name);

	if (a->function->all != b->function->all)
		return a->function->all > b->function->all ? -1 : 1;
	if (a->function->metrics[0] != b->function->metrics[0])
		return a->function->metrics[0] > b->function->metrics[0] ? -1 : 1;
	return names ? names : a->function->crc < b->function->crc ? -1 : a->function->crc > b->function->crc;
}

static int by_launch(const void *va, const void *vb)
{
	const struct gt_pc_launch *a = va, *b = vb;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->correlation != b->correlation)
		return a->correlation < b->correlation ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static void sort_launches(struct gt_pc_samples *s)
{
	size_t kept = 0;

	if (s->launch_count)
		qsort(s->launches, s->launch_count, sizeof(*s->launches), by_launch);
	for (size_t i = 0; i < s->launch_count; i++) {
		if (kept && !by_launch(&s->launches[kept - 1], &s->launches[i]))
			s->launches[kept - 1].samples += s->launches[i].samples;
		else
			s->launches[kept++] = s->launches[i];
	}
	s->launch_count = kept;
}

static void sort_functions(struct gt_pc_samples *s)
{
	size_t n = s->function_count;
	struct order *order = calloc(n + 1, sizeof(*order));
	struct gt_pc_function *sorted = calloc(n + 1, sizeof(*sorted));
	size_t *place = calloc(n + 1, sizeof(*place));

	if (!order || !sorted || !place)
		gt_no_memory();
	for (size_t i = 0; i < n; i++)
		order[i] = (struct order){ i, &s->functions[i] };
	if (n)
		qsort(order, n, sizeof(*order), by_samples);
	for (size_t i = 0; i < n; i++) {
		sorted[i] = *order[i].function;
		place[order[i].old] = i;
	}
	for (size_t i = 0; i < s->launch_count; i++)
		s->launches[i].function = place[s->launches[i].function];
	free(s->functions);
	free(order);
	free(place);
	s->functions = sorted;
}

void gt_pc_samples_finish(struct gt_pc_samples *s)
{
	unsigned shift = s->period ? s->period - LEAST_PERIOD : 0;

	name_reasons(s);
	for (size_t i = 0; i < s->function_count; i++)
		sum_function(s, &s->functions[i], shift);
	for (size_t i = 0; i < s->launch_count; i++)
		s->launches[i].samples >>= shift;
	sort_functions(s);
	sort_launches(s);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int gt_pc_samples_read(struct gt_pc_samples *s, int dir)
{
	int folder = gt_folder_open(dir, "gpu"), rc = -ENOENT;
	DIR *list = folder < 0 ? NULL : gt_folder_list(folder, ".");
	char **names = NULL, *text;
	size_t count = 0, room = 0;
	struct dirent *entry;

	*s = (struct gt_pc_samples){ .period = 0 };
	while (list && (entry = readdir(list)))
		if (!strncmp(entry->d_name, "pcsamples.", 10) || !strncmp(entry->d_name, "sass.", 5)) {
			names = gt_grown(names, count, &room, sizeof(*names));
			names[count++] = copy(entry->d_name);
		}
	if (list)
		closedir(list);
	if (count)
		qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++) {
		rc = gt_read_text(folder, names[i], &text);
		if (rc)
			break;
		gt_pc_samples_parse(s, text);
		free(text);
	}
	if (folder >= 0)
		close(folder);
	if (!rc)
		gt_pc_samples_finish(s);
	return rc;
}
