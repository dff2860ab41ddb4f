/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collects losses and failures from the properties of a run (util/losses.h): those of the archive, and the
 * sums over its processes.
 *
 * Limits: definitions are complete. The summary has room for GT_SUMMARY_SHORTFALLS kinds.
 */
#include "config.h"

#include "lib/assemble/report/report.h"

#include "lib/assemble/adapters/half.h"
#include "lib/assemble/util/losses.h"

#include <stdio.h>
#include <string.h>

size_t gt_shortfalls_of_run(const struct gt_run_report *report,
			    struct gt_run_shortfall list[GT_RUN_SHORTFALLS])
{
	const struct gt_facts *facts = report->facts;

	list[0] = (struct gt_run_shortfall){ "PROCESSES_KILLED", facts->killed, true };
	list[1] = (struct gt_run_shortfall){ "PROGRAMS_UNTRACED", facts->outside, true };
	list[2] = (struct gt_run_shortfall){ "UNKNOWN_RECORDS", facts->tally.unknown_records, true };
	list[3] = (struct gt_run_shortfall){ "UNMATCHED_MESSAGES", facts->tally.unmatched, false };
	list[4] = (struct gt_run_shortfall){ "DAMAGED_PARTS", facts->damaged, false };
	list[5] = (struct gt_run_shortfall){ "", facts->silent, true };
	snprintf(list[5].property, sizeof(list[5].property), "RANKS_WITHOUT_%s", gt_half_ranks());
	list[6] = (struct gt_run_shortfall){ "STACKS_SWITCHED", facts->tally.switched, false };
	list[7] = (struct gt_run_shortfall){ "EVENTS_UNCOUNTED", facts->going_on, false };
	list[8] = (struct gt_run_shortfall){ "SAMPLES_DAMAGED", facts->tally.damaged_samples, false };
	return 9;
}

static const char *text_of(const struct gt_run_report *report, uint32_t string)
{
	return gt_intern_text(&report->defs->strings, string, NULL);
}

static const char *name_of(const struct gt_run_report *report, const struct gt_property *p)
{
	const char *name = text_of(report, p->name);

	return strncmp(name, GT_PROPERTY, sizeof(GT_PROPERTY) - 1) ? "" : name + sizeof(GT_PROPERTY) - 1;
}

/* The value that the property `name` of a process has; NULL: it has none. */
static const char *of_process(const struct gt_run_report *report, uint32_t owner, const char *name)
{
	for (size_t i = 0; i < report->properties->count; i++) {
		const struct gt_property *p = &report->properties->list[i];

		if (p->of_group && p->owner == owner && !strcmp(name_of(report, p), name))
			return text_of(report, p->value);
	}
	return NULL;
}

static struct gt_summary_shortfall *find(struct gt_summary *s, const struct gt_shortfall *what)
{
	unsigned at = 0;

	while (at < s->shortfall_count && s->shortfalls[at].what != what)
		at++;
	if (at == GT_SUMMARY_SHORTFALLS)
		return NULL;
	if (at == s->shortfall_count)
		s->shortfalls[s->shortfall_count++] = (struct gt_summary_shortfall){ .what = what };
	return &s->shortfalls[at];
}

static void add(struct gt_summary *s, const struct gt_shortfall *what, uint64_t count, bool told,
		const char *first)
{
	struct gt_summary_shortfall *one = what && count ? find(s, what) : NULL;

	if (!one)
		return;
	one->count += count;
	one->told = told;
	if (first && !*one->first)
		gt_summary_escape(one->first, sizeof(one->first), first, sizeof(one->first) - 1);
}

void gt_shortfalls_collect(const struct gt_run_report *report, struct gt_summary *s)
{
	struct gt_run_shortfall list[GT_RUN_SHORTFALLS];
	size_t n = gt_shortfalls_of_run(report, list);

	for (size_t i = 0; i < n; i++)
		add(s, gt_shortfall_find(list[i].property), list[i].count, list[i].told, NULL);
	for (size_t i = 0; i < report->properties->count; i++) {
		const struct gt_property *p = &report->properties->list[i];
		const struct gt_shortfall *what = p->of_group ? gt_shortfall_find(name_of(report, p)) : NULL;
		uint64_t count = what ? gt_shortfall_count(text_of(report, p->value)) : 0;

		if (count)
			add(s, what, count, false,
			    *what->first ? of_process(report, p->owner, what->first) : NULL);
	}
}

bool gt_shortfalls_missing(const struct gt_summary *s)
{
	for (unsigned i = 0; i < s->shortfall_count; i++)
		if (s->shortfalls[i].what->kind == GT_MISSING)
			return true;
	return false;
}
