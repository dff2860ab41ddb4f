/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of posix.h.
 */
#include "report/model/posix.h"

#include <stdlib.h>
#include <string.h>

/* In the order of strcmp(). */
static const struct call {
	const char *name;
	enum gt_posix what;
} calls[] = {
	{ "clock_nanosleep", GT_POSIX_SLEEP },
	{ "cnd_broadcast", GT_POSIX_UNLOCK },
	{ "cnd_signal", GT_POSIX_UNLOCK },
	{ "cnd_timedwait", GT_POSIX_CONDITION },
	{ "cnd_wait", GT_POSIX_CONDITION },
	{ "epoll_pwait", GT_POSIX_AWAIT },
	{ "epoll_pwait2", GT_POSIX_AWAIT },
	{ "epoll_wait", GT_POSIX_AWAIT },
	{ "mtx_lock", GT_POSIX_LOCK },
	{ "mtx_timedlock", GT_POSIX_LOCK },
	{ "mtx_trylock", GT_POSIX_TRY },
	{ "mtx_unlock", GT_POSIX_UNLOCK },
	{ "nanosleep", GT_POSIX_SLEEP },
	{ "pause", GT_POSIX_AWAIT },
	{ "pclose", GT_POSIX_PROCESS },
	{ "poll", GT_POSIX_AWAIT },
	{ "ppoll", GT_POSIX_AWAIT },
	{ "pselect", GT_POSIX_AWAIT },
	{ "pthread_barrier_wait", GT_POSIX_BARRIER },
	{ "pthread_cancel", GT_POSIX_UNLOCK },
	{ "pthread_clockjoin_np", GT_POSIX_JOIN },
	{ "pthread_cond_broadcast", GT_POSIX_UNLOCK },
	{ "pthread_cond_clockwait", GT_POSIX_CONDITION },
	{ "pthread_cond_signal", GT_POSIX_UNLOCK },
	{ "pthread_cond_timedwait", GT_POSIX_CONDITION },
	{ "pthread_cond_wait", GT_POSIX_CONDITION },
	{ "pthread_create", GT_POSIX_CREATE },
	{ "pthread_detach", GT_POSIX_UNLOCK },
	{ "pthread_exit", GT_POSIX_JOIN },
	{ "pthread_join", GT_POSIX_JOIN },
	{ "pthread_mutex_clocklock", GT_POSIX_LOCK },
	{ "pthread_mutex_lock", GT_POSIX_LOCK },
	{ "pthread_mutex_timedlock", GT_POSIX_LOCK },
	{ "pthread_mutex_trylock", GT_POSIX_TRY },
	{ "pthread_mutex_unlock", GT_POSIX_UNLOCK },
	{ "pthread_rwlock_clockrdlock", GT_POSIX_LOCK },
	{ "pthread_rwlock_clockwrlock", GT_POSIX_LOCK },
	{ "pthread_rwlock_rdlock", GT_POSIX_LOCK },
	{ "pthread_rwlock_timedrdlock", GT_POSIX_LOCK },
	{ "pthread_rwlock_timedwrlock", GT_POSIX_LOCK },
	{ "pthread_rwlock_tryrdlock", GT_POSIX_TRY },
	{ "pthread_rwlock_trywrlock", GT_POSIX_TRY },
	{ "pthread_rwlock_unlock", GT_POSIX_UNLOCK },
	{ "pthread_rwlock_wrlock", GT_POSIX_LOCK },
	{ "pthread_spin_lock", GT_POSIX_LOCK },
	{ "pthread_spin_trylock", GT_POSIX_TRY },
	{ "pthread_spin_unlock", GT_POSIX_UNLOCK },
	{ "pthread_timedjoin_np", GT_POSIX_JOIN },
	{ "pthread_tryjoin_np", GT_POSIX_TRY },
	{ "sched_yield", GT_POSIX_YIELD },
	{ "select", GT_POSIX_AWAIT },
	{ "sem_clockwait", GT_POSIX_SEMAPHORE },
	{ "sem_post", GT_POSIX_UNLOCK },
	{ "sem_timedwait", GT_POSIX_SEMAPHORE },
	{ "sem_trywait", GT_POSIX_TRY },
	{ "sem_wait", GT_POSIX_SEMAPHORE },
	{ "sigsuspend", GT_POSIX_AWAIT },
	{ "sigtimedwait", GT_POSIX_AWAIT },
	{ "sigwait", GT_POSIX_AWAIT },
	{ "sigwaitinfo", GT_POSIX_AWAIT },
	{ "sleep", GT_POSIX_SLEEP },
	{ "system", GT_POSIX_PROCESS },
	{ "thrd_create", GT_POSIX_CREATE },
	{ "thrd_detach", GT_POSIX_UNLOCK },
	{ "thrd_join", GT_POSIX_JOIN },
	{ "thrd_sleep", GT_POSIX_SLEEP },
	{ "thrd_yield", GT_POSIX_YIELD },
	{ "usleep", GT_POSIX_SLEEP },
	{ "wait", GT_POSIX_PROCESS },
	{ "wait3", GT_POSIX_PROCESS },
	{ "wait4", GT_POSIX_PROCESS },
	{ "waitid", GT_POSIX_PROCESS },
	{ "waitpid", GT_POSIX_PROCESS },
};

static int by_name(const void *name, const void *call)
{
	return strcmp(name, ((const struct call *)call)->name);
}

enum gt_posix gt_posix_call(const char *name)
{
	const struct call *found = bsearch(name, calls, sizeof(calls) / sizeof(calls[0]), sizeof(calls[0]),
					   by_name);

	return found ? found->what : GT_POSIX_NONE;
}

enum gt_posix gt_posix_sampled(const char *name)
{
	char plain[64];
	size_t length;

	name += strspn(name, "_");
	name += strncmp(name, "GI_", 3) ? 0 : 3 + strspn(name + 3, "_");
	name += strncmp(name, "libc_", 5) ? 0 : 5;
	length = strcspn(name, "@");
	if (length >= sizeof(plain))
		return GT_POSIX_NONE;
	memcpy(plain, name, length);
	plain[length] = '\0';
	return gt_posix_call(plain);
}
