/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words for how processes ended.
 */
#include "config.h"

#include "lib/assemble/spool/ended.h"
#include "lib/assemble/util/signals.h"

#include <stdio.h>

const char *gt_end_text(const struct gt_proc *proc, char *text, size_t size)
{
	const struct gt_proc_header *header = &proc->header;

	if (header->how == GT_END_SIGNAL) {
		const char *name = gt_signal_name((int)header->status);

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
