/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The properties by which an archive tells of losses and failures: one list for the assembly, the summary,
 * `gputrace report` and `gputrace check`. Causes of lost events are the core's (enum gt_loss); shortfalls
 * are other properties, of the core and of adapters (registry/losses.def).
 *
 * Limits: English only. Names are without the prefix GPUTRACE::.
 */
#ifndef GT_ASSEMBLE_UTIL_LOSSES_H
#define GT_ASSEMBLE_UTIL_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_PROPERTY "GPUTRACE::" /* how names of gputrace's properties begin in an archive */
#define GT_LOST "LOST_" /* and a cause: a property of the archive, of processes and of locations */

/* "SPACE" for GT_LOSS_SPACE, ...; NULL for causes that are not used. */
const char *gt_loss_name(unsigned cause);
/* The other way round; GT_LOSS_N: unknown. */
unsigned gt_loss_cause(const char *name);
/* Why: "the disk was full", ... */
const char *gt_loss_reason(unsigned cause);
/* Words that follow their number: "after the recording had ended", ... */
const char *gt_loss_which(unsigned cause);
/* Is this cause a loss, and not something the user asked for? */
bool gt_loss_real(unsigned cause);

enum gt_shortfall_kind {
	GT_NOTED,   /* the archive has all events: calls that failed, say */
	GT_PARTIAL, /* halves may be missing: of pairs, or of processes that did not end */
	GT_MISSING, /* the archive has not all that was to be recorded */
};

/* A property whose value is a number that should be 0, or words that should not be there. */
struct gt_shortfall {
	const char *property;    /* its name */
	enum gt_shortfall_kind kind;
	/* the rest of a sentence that begins with the number; many NULL: `one` comes before the words */
	const char *one, *many;
	const char *first;       /* of processes: the property that says what came first of it; "": none */
};

/* The n-th, from 0; NULL behind the last. */
const struct gt_shortfall *gt_shortfall_at(size_t n);
const struct gt_shortfall *gt_shortfall_find(const char *property);
/* The value of its property. */
uint64_t gt_shortfall_count(const char *value);
/*
 * "2 calls failed; the first: ..." into `text`, which is returned. `first`: what came first, or the words;
 * NULL: not known.
 */
const char *gt_shortfall_text(const struct gt_shortfall *what, uint64_t count, const char *first, char *text,
			      size_t size);

#endif
