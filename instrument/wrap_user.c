/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interception of what makes a process another user, gives it another root or confines it: afterwards
 * it may not do what it did before. What is done about it is in finish.c.
 *
 * Limits: a `syscall` instruction of the program's own is not seen, nor are capabilities. A change of groups
 * takes nothing away: the spool is its owner's alone. Syscall User Dispatch counts until the thread that
 * asked for it takes it back.
 */
#include "instrument/wrap.h"
#include "lib/common/sys.h"
#include "lib/record/record.h"

#include <errno.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

/* Takes back what was handed over, if the call failed. */
static int changed(int rc)
{
	int saved = errno;

	if (rc)
		gt_user_changes((uid_t)GT_SYS1(SYS_geteuid, 0));
	errno = saved;
	return rc;
}

GT_API int setuid(uid_t user)
{
	REAL(setuid)

	gt_user_changes(user);
	return changed(real(user));
}

GT_API int seteuid(uid_t user)
{
	REAL(seteuid)

	gt_user_changes(user);
	return changed(real(user));
}

GT_API int setreuid(uid_t user, uid_t effective)
{
	REAL(setreuid)

	gt_user_changes(effective);
	return changed(real(user, effective));
}

GT_API int setresuid(uid_t user, uid_t effective, uid_t kept)
{
	REAL(setresuid)

	gt_user_changes(effective);
	return changed(real(user, effective, kept));
}

/* It says who it was, whether or not he is another now. */
GT_API int setfsuid(uid_t user)
{
	REAL(setfsuid)
	uid_t now;
	int was;

	gt_thread_user_changes(user);
	was = real(user);
	now = user == (uid_t)-1 || gt_sys_refused() ? user : (uid_t)GT_SYS1(SYS_setfsuid, -1);
	if (now != user)
		gt_thread_user_changes(now);
	return was;
}

GT_API int chroot(const char *path)
{
	REAL(chroot)

	gt_root_changes();
	return real(path);
}

GT_API int unshare(int flags)
{
	REAL(unshare)
	int rc;

	if (!(flags & CLONE_NEWUSER))
		return real(flags);
	gt_namespace_changes();
	rc = real(flags);
	gt_namespace_changed();
	return rc;
}

/*
 * Into a namespace that is there already: one of file systems, users or clocks may only be entered by a
 * process of one thread. 0 stands for any kind.
 */
GT_API int setns(int fd, int kinds)
{
	REAL(setns)
	long which = kinds ? kinds : GT_SYS2(SYS_ioctl, fd, NS_GET_NSTYPE);
	int rc;

	if (which < 0 || !(which & (CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWTIME)))
		return real(fd, kinds);
	gt_root_changes();
	gt_adapters_threads(false);
	rc = real(fd, kinds);
	gt_adapters_threads(true);
	return rc;
}

/* ---- seccomp, Syscall User Dispatch, the processor's counter ---------------------------------------- */

/*
 * All system calls of this thread that are made outside of some code go to a handler of the program's, ours,
 * too. (With a selector, a byte that the program sets before it runs such code, they pass like those of
 * libraries.)
 */
static GT_TLS bool dispatched;

static void dispatches(bool now)
{
	if (now != dispatched)
		gt_confine(now);
	dispatched = now;
}

GT_API int prctl(int option, ...)
{
	REAL(prctl)
	unsigned long a[4];
	va_list ap;
	int rc;

	va_start(ap, option);
	for (unsigned i = 0; i < 4; i++)
		a[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (option == PR_SET_TSC && a[0] == PR_TSC_SIGSEGV)
		gt_counter_forbidden();
	if (option == PR_SET_SYSCALL_USER_DISPATCH) {
		bool was = dispatched, comes = a[0] && !a[3];

		dispatches(was || comes);
		rc = real(option, a[0], a[1], a[2], a[3]);
		dispatches(rc ? was : comes);
		return rc;
	}
	if (option != PR_SET_SECCOMP)
		return real(option, a[0], a[1], a[2], a[3]);
	gt_confine(true);
	rc = real(option, a[0], a[1], a[2], a[3]);
	if (rc)
		gt_confine(false);
	return rc;
}
