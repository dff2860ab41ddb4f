/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of losses.h.
 */
#include "config.h"

#include "lib/assemble/util/losses.h"

#include "lib/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *reason, *which;
	bool real;
} causes[GT_LOSS_N] = {
	[GT_LOSS_NESTED] = { "NESTED", "a signal handler ran while both buffers were full",
			     "in signal handlers while the buffer was full", true },
	[GT_LOSS_SPACE] = { "SPACE", "they could not be written (disk full, quota or error)",
			    "no room on the disk, or a write failed", true },
	[GT_LOSS_LIMIT] = { "LIMIT", "VT_MAX_FLUSHES or VT_MAX_BYTES was reached",
			    "beyond VT_MAX_FLUSHES or VT_MAX_BYTES", true },
	[GT_LOSS_RING] = { "RING", "newer events took their place (VT_BUFFER_POLICY=ring)",
			   "overwritten by newer ones (VT_BUFFER_POLICY=ring)", true },
	[GT_LOSS_NO_LOCATION] = { "NO_LOCATION", "their thread had no buffer",
				  "of threads without a buffer (VT_MAX_THREADS, memory)", true },
	[GT_LOSS_EARLY] = { "EARLY", "they came before gputrace was ready", "before gputrace was ready",
			    true },
	[GT_LOSS_LATE] = { "LATE", "they came after the recording had ended", "after the recording had ended",
			   true },
	[GT_LOSS_FORK] = { "FORK", "they came from a child without a recording",
			   "of children without a recording (vfork, clone)", true },
	[GT_LOSS_TORN] = { "TORN", "their thread or process ended while they were written",
			   "were begun but not finished", true },
	[GT_LOSS_FILTER] = { "FILTER", "filtered on request", "filtered on request", false },
	[GT_LOSS_REWIND] = { "REWIND", "removed by VT_REWIND", "removed by VT_REWIND", false },
	[GT_LOSS_SANDBOX] = { "SANDBOX", "the program had confined itself (seccomp, Landlock)",
			      "after the program had confined itself (seccomp, Landlock)", true },
	[GT_LOSS_DEFINITION] = { "DEFINITION", "their definition could not be written",
				 "whose definition could not be written", true },
	[GT_LOSS_METRIC] = { "METRIC", "readings of counters failed or are missing",
			     "readings of counters, which failed or are missing", true },
	[GT_LOSS_SIZE] = { "SIZE", "they were too long for their thread's buffer",
			   "too long for their thread's buffer", true },
};

const char *gt_loss_name(unsigned cause)
{
	return cause < GT_LOSS_N ? causes[cause].name : NULL;
}

unsigned gt_loss_cause(const char *name)
{
	unsigned cause = 0;

	while (cause < GT_LOSS_N && (!causes[cause].name || strcmp(causes[cause].name, name)))
		cause++;
	return cause;
}

const char *gt_loss_reason(unsigned cause)
{
	return gt_loss_name(cause) ? causes[cause].reason : "cause unknown";
}

const char *gt_loss_which(unsigned cause)
{
	return gt_loss_name(cause) ? causes[cause].which : "of an unknown cause";
}

bool gt_loss_real(unsigned cause)
{
	return !gt_loss_name(cause) || causes[cause].real;
}

static const struct gt_shortfall shortfalls[] = {
#define GT_SHORTFALL(property, kind, one, many, first) { property, GT_##kind, one, many, first },
#include "registry/losses.def"
};

const struct gt_shortfall *gt_shortfall_at(size_t n)
{
	return n < sizeof(shortfalls) / sizeof(shortfalls[0]) ? &shortfalls[n] : NULL;
}

const struct gt_shortfall *gt_shortfall_find(const char *property)
{
	for (size_t i = 0; gt_shortfall_at(i); i++)
		if (!strcmp(shortfalls[i].property, property))
			return &shortfalls[i];
	return NULL;
}

uint64_t gt_shortfall_count(const char *value)
{
	char *end;
	uint64_t count = strtoull(value, &end, 10);

	return end == value || *end || *value == '-' ? 0 : count;
}

const char *gt_shortfall_text(const struct gt_shortfall *what, uint64_t count, const char *first, char *text,
			      size_t size)
{
	if (!what->many)
		snprintf(text, size, "%s%s", what->one, first ? first : "");
	else
		snprintf(text, size, "%" PRIu64 " %s%s%s", count, count == 1 ? what->one : what->many,
			 !first ? "" : count == 1 ? ": " : "; the first: ", first ? first : "");
	return text;
}
