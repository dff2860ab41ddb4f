/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/peek.h"

#include "gputrace/syscall.h"

#include <errno.h>
#include <sys/uio.h>

#define PAGE ((uintptr_t)4096) /* no machine has smaller ones */

GT_HIDDEN int gt_peek_refused;

GT_HIDDEN bool gt_peek_there(uintptr_t at)
{
	return gt_raw_probe((const void *)at) == -EINVAL;
}

static __attribute__((noinline)) size_t by_pages(unsigned char *to, uintptr_t at, size_t bytes)
{
	const volatile unsigned char *from = (const volatile unsigned char *)at;
	size_t n;

	for (n = 0; n < bytes; n++) {
		if ((n == 0 || !((at + n) & (PAGE - 1))) && !gt_peek_there((at + n) & ~(uintptr_t)7))
			break;
		to[n] = from[n];
	}
	return n;
}

static __attribute__((noinline)) long by_kernel(void *to, uintptr_t at, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)at, bytes };

	return gt_peek_refused ? -ENOSYS
			       : gt_raw(SYS_process_vm_readv, gt_raw(SYS_getpid), &here, 1, &there, 1, 0);
}

GT_HIDDEN size_t gt_peek(void *to, uintptr_t at, size_t bytes)
{
	size_t rest = PAGE - (at & (PAGE - 1));
	long n = by_kernel(to, at, bytes);

	if (n == -ENOSYS || n == -EPERM)
		return by_pages(to, at, bytes);
	if (n < 0 && rest < bytes)
		n = by_kernel(to, at, rest);
	return n < 0 ? 0 : (size_t)n;
}
