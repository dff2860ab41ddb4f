/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and meanings of signals, as glibc's sigabbrev_np() and sigdescr_np() have them, which glibc has since
 * 2.32 only.
 *
 * Limits: Linux's numbers; real-time signals have neither.
 */
#ifndef GT_ASSEMBLE_UTIL_SIGNALS_H
#define GT_ASSEMBLE_UTIL_SIGNALS_H

/* "SEGV"; NULL for what is no signal. */
const char *gt_signal_name(int number);
/* "Segmentation fault"; NULL for what is no signal. */
const char *gt_signal_text(int number);

#endif
