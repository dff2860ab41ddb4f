/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words for what was lost and for how processes ended.
 */
#include "config.h"

#include "lib/assemble/spool/loss.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *reason;
	bool real;
} words[GT_LOSS_N] = {
	[GT_LOSS_NESTED] = { "NESTED", "a signal handler ran while both buffers were full", true },
	[GT_LOSS_SPACE] = { "SPACE", "they could not be written (disk full, quota or error)", true },
	[GT_LOSS_LIMIT] = { "LIMIT", "VT_MAX_FLUSHES or VT_MAX_BYTES was reached", true },
	[GT_LOSS_RING] = { "RING", "newer events took their place (VT_BUFFER_POLICY=ring)", true },
	[GT_LOSS_NO_LOCATION] = { "NO_LOCATION", "their thread had no buffer", true },
	[GT_LOSS_EARLY] = { "EARLY", "they came before gputrace was ready", true },
	[GT_LOSS_LATE] = { "LATE", "they came after the recording had ended", true },
	[GT_LOSS_FORK] = { "FORK", "they came from a child without a recording", true },
	[GT_LOSS_TORN] = { "TORN", "the process ended while it was writing them", true },
	[GT_LOSS_FILTER] = { "FILTER", "filtered on request", false },
	[GT_LOSS_REWIND] = { "REWIND", "removed by VT_REWIND", false },
	[GT_LOSS_SANDBOX] = { "SANDBOX", "the program had confined itself (seccomp)", true },
	[GT_LOSS_DEFINITION] = { "DEFINITION", "their definition could not be written", true },
	[GT_LOSS_METRIC] = { "METRIC", "readings of counters failed or are missing", true },
	[GT_LOSS_SIZE] = { "SIZE", "they were too long for their thread's buffer", true },
};

const char *gt_loss_name(unsigned cause)
{
	return cause < GT_LOSS_N ? words[cause].name : NULL;
}

const char *gt_loss_reason(unsigned cause)
{
	return cause < GT_LOSS_N && words[cause].reason ? words[cause].reason : "cause unknown";
}

bool gt_loss_real(unsigned cause)
{
	return cause >= GT_LOSS_N || !words[cause].name || words[cause].real;
}

const char *gt_end_text(const struct gt_proc *proc, char *text, size_t size)
{
	const struct gt_proc_header *header = &proc->header;

	if (header->how == GT_END_SIGNAL) {
		const char *name = sigabbrev_np((int)header->status);

		snprintf(text, size, "signal %u%s%s%s", header->status, name ? " (SIG" : "", name ? name : "",
			 name ? ")" : "");
		return text;
	}
	if (!proc->ended) {
		snprintf(text, size, "killed");
		return text;
	}
	switch (header->how) {
	case GT_END_EXIT:
		snprintf(text, size, "exit %u", header->status);
		break;
	case GT_END__EXIT:
		snprintf(text, size, "_exit %u", header->status);
		break;
	case GT_END_QUICK_EXIT:
		snprintf(text, size, "quick_exit %u", header->status);
		break;
	case GT_END_EXEC:
		snprintf(text, size, "exec");
		break;
	case GT_END_ABORT:
		snprintf(text, size, "abort");
		break;
	default:
		snprintf(text, size, "ended");
		break;
	}
	return text;
}
