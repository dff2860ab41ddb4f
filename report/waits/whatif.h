/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run would have taken if something in it were changed: `gputrace whatif`. The dependencies between
 * locations stay; the time between them and in calls is scaled, and all is evaluated anew (gain.c).
 *
 *	gt_change_parse(&change, "solve*0.5");
 *	whatif = (struct gt_whatif){ .changes = &change, .count = 1 };
 *	report = gt_report_whatif(anchor, &whatif, sections);
 *	whatif.refused ? ... : print the sections "whatif", "changes", "critical_path" of report->figures
 *
 * Definition: a change of a region is one of its calls with everything that is called in them: code, calls,
 * and waits of which nobody is known to have ended them. What they wait for otherwise is waited for until it
 * is there, in its new time. Two changes of one call multiply (to 1000 at most), and one that calls itself is
 * changed once.
 *
 * Copies that overlap: double buffering. A copy to a device begins when its stream came to the copy before
 * it, or that one ended, if later; what follows on the stream waits for it. A copy to the host begins when
 * its stream comes to it and the one before has ended; only the last one of a stream is waited for.
 *
 * Bounds: if nobody is known to have ended a wait, who did comes earlier by at most all the time that the
 * changes take away (`less`), or not at all; and later by at most what they add (`more`), or not at all. The
 * run itself gets shorter by at most `less`, longer by at most `more`. Where threads wait for locks,
 * semaphores or conditions, and it is not known whom those depend on that did not have to wait, they may have
 * to then: so the run may also stay as long as it was, and `more`.
 *
 * Limits: GT_CHANGES_MOST changes. What a change does to others in other ways (caches, memory and networks,
 * the order in which threads get a lock, processors that become free) is not predicted.
 */
#ifndef GT_REPORT_WHATIF_H
#define GT_REPORT_WHATIF_H

#include "report/model/calls.h"
#include "report/waits/sync.h"

enum { GT_CHANGES_MOST = 32 };

enum gt_change_kind { GT_CHANGE_REGION, GT_CHANGE_KERNEL, GT_CHANGE_RANK, GT_CHANGE_LOCK, GT_CHANGE_COPIES };

struct gt_change {
	const char *text;    /* as it was written */
	enum gt_change_kind kind;
	char name[1024];     /* of a region, kernel or lock; a shell pattern, if no region has that name */
	double factor;
	uint32_t rank;
	bool mean;           /* the rank works as long as ranks do on average */
	bool met;            /* the lock is there */
	uint64_t ns;         /* which it changes: of all locations ... */
	double lost;         /* ... and of it that is taken away; negative: added */
};

/* The three ends that are computed. */
enum { GT_WHATIF_PREDICTED, GT_WHATIF_LOW, GT_WHATIF_HIGH, GT_WHATIF_ENDS };

enum gt_unseen { GT_UNSEEN_NOTHING, GT_UNSEEN_LOCKS, GT_UNSEEN_WAKES };

struct gt_whatif {
	struct gt_change *changes;
	unsigned count;
	float **kept;         /* by location and node of its tree: the share of its time that it keeps */
	unsigned char **copying; /* the same: enum gt_copying, of copies that overlap */
	uint64_t hidden;      /* ns of copies for which nobody waits then */
	uint64_t less, more;  /* ns */
	enum gt_unseen unseen; /* what may be waited for then, of which nothing is known */
	const char *refused;  /* why nothing was computed: a sentence, which the figures own; or NULL */
};

/* NULL, or what is wrong with the text, as the end of a sentence that begins with it. */
const char *gt_change_parse(struct gt_change *change, const char *text);

/* While an archive is read: does somebody want this lock to be free? By all threads. */
bool gt_whatif_frees(struct gt_whatif *whatif, const struct gt_otf2_cursor *at, uint32_t lock);

/* Once causes are known. False: refused. Otherwise segments and the report's duration are the new ones. */
bool gt_whatif_predict(struct gt_sync *sync);

void gt_whatif_drop(struct gt_sync *sync);

/* gain.c: when each location ends. `retimes`: segments get their new times. False: too many of them. */
bool gt_gain_whatif(struct gt_sync *sync, struct gt_whatif *whatif, bool retimes, uint64_t (*ends)[GT_GAINS]);

static inline double gt_whatif_kept(const struct gt_whatif *whatif, uint32_t location, uint32_t node)
{
	return (double)whatif->kept[location][node];
}

static inline enum gt_copying gt_whatif_copying(const struct gt_whatif *whatif, uint32_t location,
						uint32_t node)
{
	return (enum gt_copying)whatif->copying[location][node];
}

#endif
