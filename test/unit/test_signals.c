/* SPDX-License-Identifier: BSD-3-Clause */
/* The words for signals are those of the C library, where it has them. */
#include "config.h"

#include "lib/assemble/util/signals.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

Test(signals, what_everybody_knows)
{
	cr_assert(eq(str, (char *)gt_signal_name(SIGSEGV), "SEGV"));
	cr_assert(eq(str, (char *)gt_signal_text(SIGSEGV), "Segmentation fault"));
	cr_assert(eq(str, (char *)gt_signal_name(SIGSYS), "SYS"));
}

Test(signals, none)
{
	const int none[] = { INT_MIN, -1, 0, SIGSYS + 1, SIGRTMIN, NSIG, INT_MAX };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		cr_assert_null(gt_signal_name(none[i]));
		cr_assert_null(gt_signal_text(none[i]));
	}
}

#ifdef HAVE_SIGABBREV_NP
static bool same(const char *ours, const char *theirs)
{
	return ours && theirs ? !strcmp(ours, theirs) : ours == theirs;
}

Test(signals, as_the_c_library)
{
	for (int number = -1; number <= NSIG + 1; number++) {
		cr_assert(same(gt_signal_name(number), sigabbrev_np(number)), "name of %d", number);
		cr_assert(same(gt_signal_text(number), sigdescr_np(number)), "text of %d", number);
	}
}
#endif
