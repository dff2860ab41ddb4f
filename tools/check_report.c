/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of `gputrace check`, what was found against them, and the report.
 *
 * Limits: ten examples of each broken rule are kept, the rest is counted.
 */
#include "config.h"
#include "tools/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/assemble/report/summary.h"
#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/utf8.h"
#include "tools/cmds.h"

static const struct {
	const char *name, *sentence;
	bool pairs; /* the other half may be among the events that are missing */
} rules[RULES] = {
	[RULE_FILES] = { "files", "every file of the archive can be read", false },
	[RULE_ORDER] = { "definitions", "definitions are numbered 0, 1, 2 ... (locations: once each)",
			 false },
	[RULE_REFERENCES] = { "references", "definitions refer to definitions before them", false },
	[RULE_GROUPS] = { "location-groups", "processes have threads, accelerators streams and a process",
			  false },
	[RULE_COMMS] = { "communicators", "groups and communicators have the members they name", false },
	[RULE_COUNT] = { "event-counts", "each location has as many events as it declares", false },
	[RULE_TIME] = { "time-order", "time does not go backwards in a location", false },
	[RULE_RANGE] = { "clock-range", "events lie inside the range of the clock", false },
	[RULE_EVENTS] = { "event-references", "events refer to definitions that exist", false },
	[RULE_BALANCE] = { "balance", "each leave belongs to the innermost open enter", false },
	[RULE_DEPTH] = { "depth", "each location ends outside of all regions", false },
	[RULE_METRICS] = { "metrics", "metric values have the types of their definition", false },
	[RULE_PROGRAM] = { "programs", "a program begins once and then ends", false },
	[RULE_STREAMS] = { "streams", "activities on a GPU stream do not overlap", false },
	[RULE_THREADS] = { "threads", "threads are created, begin, end and are waited for in this order",
			   true },
	[RULE_LOCKS] = { "locks", "locks are acquired in order and released by their owner", true },
	[RULE_MESSAGES] = { "messages", "receives match sends, in number and bytes", true },
	[RULE_CAUSALITY] = { "causality",
			     "no message is received, and nothing done on a GPU, before its cause", true },
	[RULE_COLLECTIVES] = { "collectives", "all members take part in each collective", true },
	[RULE_MARKERS] = { "markers", "markers are defined and lie inside the range of the clock", false },
	[RULE_SAMPLES] = { "samples",
			   "samples change call paths as they say, and stand for the time there is", false },
};

const char *check_who(const struct check *check, uint64_t location, char text[CHECK_WHO])
{
	const struct gt_otf2_location *l = gt_otf2_find_location(check->read, location);
	const struct gt_otf2_location_group *g = l
			? gt_otf2_find_location_group(check->read, l->group) : NULL;
	char name[64], process[64];

	gt_summary_escape(name, sizeof(name), l ? l->name : "?", 40);
	gt_summary_escape(process, sizeof(process), g ? g->name : "?", 40);
	snprintf(text, CHECK_WHO, "\"%s\" of \"%s\"", name, process);
	return text;
}

static void put_place(const struct check *check, char *place, size_t size, uint64_t location,
		      uint64_t event, uint64_t ticks)
{
	const struct gt_otf2 *read = check->read;
	char who[CHECK_WHO];
	size_t n;

	if (location == GT_OTF2_NOTHING) {
		snprintf(place, size, "archive");
		return;
	}
	n = (size_t)snprintf(place, size, "location %" PRIu64 " %s", location,
			     check_who(check, location, who));
	if (event == NO_EVENT)
		return;
	n += (size_t)snprintf(place + n, size - n, ", event %" PRIu64, event);
	if (!read->resolution)
		return;
	/* Relative to the begin, as viewers show it. Outside of the range this may be negative. */
	snprintf(place + n, size - n, ", %.9f s",
		 (ticks >= read->begin ? (double)(ticks - read->begin) : -(double)(read->begin - ticks)) /
			 (double)read->resolution);
}

void check_note(const struct check *check, struct broken *broken, uint64_t location, uint64_t event,
		uint64_t ticks, const char *format, va_list args)
{
	struct example *e;
	char text[1024];

	if (broken->count++ >= EXAMPLES)
		return;
	if (!broken->example && !(broken->example = calloc(EXAMPLES, sizeof(*e))))
		gt_no_memory();
	e = &broken->example[broken->examples++];
	put_place(check, e->place, sizeof(e->place), location, event, ticks);
	vsnprintf(text, sizeof(text), format, args);
	gt_summary_escape(e->text, sizeof(e->text), text, 250);
}

void check_broken(struct check *check, enum check_rule rule, uint64_t location, uint64_t event,
		  uint64_t ticks, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	check_note(check, &check->broken[rule], location, event, ticks, format, args);
	va_end(args);
}

void check_event(struct gt_otf2_cursor *at, enum check_rule rule, const char *format, ...)
{
	struct state *s = at->state;
	va_list args;

	va_start(args, format);
	check_note(at->user, &s->broken[rule], at->location->id, at->event, at->ticks, format, args);
	va_end(args);
}

void check_merge(struct check *check, struct broken broken[RULES])
{
	for (int rule = 0; rule < RULES; rule++) {
		struct broken *b = &check->broken[rule];

		if (!broken[rule].count)
			continue;
		if (!b->example && !(b->example = calloc(EXAMPLES, sizeof(*b->example))))
			gt_no_memory();
		for (unsigned i = 0; i < broken[rule].examples && b->examples < EXAMPLES; i++)
			b->example[b->examples++] = broken[rule].example[i];
		b->count += broken[rule].count;
		free(broken[rule].example);
	}
}

__attribute__((format(printf, 3, 0)))
static void keep(struct warning *list, unsigned *count, const char *format, va_list args)
{
	char text[1024];

	if (*count == CHECK_WARNINGS)
		return;
	vsnprintf(text, sizeof(text), format, args);
	gt_summary_escape(list[(*count)++].text, sizeof(list->text), text, 250);
}

void check_warn(struct check *check, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	keep(check->warnings, &check->warning_count, format, args);
	va_end(args);
}

void check_tell(struct check *check, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	keep(check->notes, &check->note_count, format, args);
	va_end(args);
}

static void put_list(FILE *out, const struct warning *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		fputs(i ? ",\n  " : "\n  ", out);
		gt_utf8_json_put(out, list[i].text);
	}
}

static void report_json(struct check *check, FILE *out, int status, unsigned warnings)
{
	const char *between = "";

	fprintf(out,
		"{\"ok\": %s, \"status\": %d, \"checks\": %d, \"warning_count\": %u, "
		"\"locations\": %zu, \"events\": %" PRIu64 ",\n \"messages\": %" PRIu64
		", \"early\": %" PRIu64 ", \"early_within_error\": %" PRIu64 ", \"incomparable\": %" PRIu64
		", \"unreceived\": %" PRIu64 ", \"unfinished\": %" PRIu64
		", \"abandoned\": %" PRIu64 ",\n \"broken\": [",
		status ? "false" : "true", status, RULES, warnings,
		check->read ? check->read->tables[GT_OTF2_LOCATION].count : 0, check->events, check->messages,
		check->early, check->within, check->incomparable, check->unreceived, check->unfinished,
		check->abandoned);
	for (int rule = 0; rule < RULES; rule++) {
		const struct broken *b = &check->broken[rule];

		if (!b->count)
			continue;
		fprintf(out,
			"%s\n  {\"rule\": \"%s\", \"excused\": %s, \"count\": %" PRIu64
			", \"examples\": [",
			between, rules[rule].name,
			rules[rule].pairs && check->excused ? "true" : "false", b->count);
		for (unsigned i = 0; i < b->examples; i++) {
			fprintf(out, "%s\n   {\"place\": ", i ? "," : "");
			gt_utf8_json_put(out, b->example[i].place);
			fputs(", \"text\": ", out);
			gt_utf8_json_put(out, b->example[i].text);
			fputc('}', out);
		}
		fputs("]}", out);
		between = ",";
	}
	fputs("],\n \"warnings\": [", out);
	put_list(out, check->warnings, check->warning_count);
	fputs("],\n \"notes\": [", out);
	put_list(out, check->notes, check->note_count);
	fputs("]}\n", out);
}

static void report_rule(const struct broken *b, int rule, FILE *out, const char *word)
{
	fprintf(out, "%s  %s: %s: %" PRIu64 " violation%s\n", word, rules[rule].name,
		rules[rule].sentence, b->count, b->count == 1 ? "" : "s");
	for (unsigned i = 0; i < b->examples; i++)
		fprintf(out, "        %s: %s\n", b->example[i].place, b->example[i].text);
	if (b->count > b->examples)
		fprintf(out, "        ... and %" PRIu64 " more\n", b->count - b->examples);
}

int check_report(struct check *check, FILE *out, bool json, bool quiet, bool werror)
{
	unsigned failed = 0, warnings = check->warning_count;
	int status = GT_RC_OK;

	for (int rule = 0; rule < RULES; rule++) {
		if (!check->broken[rule].count)
			continue;
		if (rules[rule].pairs && check->excused)
			warnings++;
		else
			failed++;
	}
	if (failed || (werror && warnings))
		status = GT_RC_BAD;
	if (check->broken[RULE_FILES].count)
		status = GT_RC_USAGE;
	if (json) {
		report_json(check, out, status, warnings);
		return status;
	}
	for (int rule = 0; rule < RULES && !quiet; rule++) {
		bool excused = rules[rule].pairs && check->excused;

		if (check->broken[rule].count)
			report_rule(&check->broken[rule], rule, out, excused ? "WARN  " : "BROKEN");
	}
	for (unsigned i = 0; i < check->warning_count && !quiet; i++)
		fprintf(out, "WARN    %s\n", check->warnings[i].text);
	for (unsigned i = 0; i < check->note_count && !quiet; i++)
		fprintf(out, "NOTE    %s\n", check->notes[i].text);
	if (check->messages && !quiet) {
		fprintf(out, "%" PRIu64 " messages, %" PRIu64 " received before they were sent (beyond the "
			"clocks' error)", check->messages, check->early);
		if (check->within)
			fprintf(out, ", %" PRIu64 " within it", check->within);
		fputc('\n', out);
		if (check->incomparable)
			fprintf(out, "%" PRIu64 " messages between hosts whose clocks were not compared\n",
				check->incomparable);
	}
	if (failed)
		fprintf(out, "FAIL  %u of %d checks, %u warning%s\n", failed, RULES, warnings,
			warnings == 1 ? "" : "s");
	else if (!quiet || status)
		fprintf(out, "%s  %d checks, %u warning%s\n", status ? "FAIL" : "OK", RULES,
			warnings, warnings == 1 ? "" : "s");
	return status;
}
