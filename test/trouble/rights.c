/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rights WAY: gives up a right that recording needs, in ways that only system calls have, then works: more
 * than fits into a buffer, two threads, a forked child and a program, true, that another child becomes. Ways:
 * landlock (by syscall()), own_landlock and late_landlock (by an instruction; late: after an event),
 * pivot_root and chroot (having closed all files), user and fsuser (of one thread), sizes and files (limits
 * that may be raised again), dispatch (its system calls go to a handler, but for libc's), mode (nothing can
 * be made in the spool folders).
 *
 * Limits: roots, users and mode need root, /mnt is a folder; status 77 where it cannot be done.
 */
#include "trouble.h"

#include <dirent.h>
#include <link.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define NOBODY 65534
#define CALLS  40000

static volatile int dispatched;

CALLED int step(int x)
{
	HERE();
	return x + 1;
}

UNSEEN static void work(void)
{
	for (int i = 0; i < CALLS; i++)
		step(i);
}

UNSEEN static void *thread(void *arg)
{
	work();
	return arg;
}

UNSEEN static void need(int can)
{
	if (!can)
		_exit(77);
}

/* As syscall(), where nobody can stand before it. */
UNSEEN static long own_syscall(long n, long a, long b, long c)
{
#ifdef __x86_64__
	long rc;

	__asm__ volatile("syscall" : "=a"(rc) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return rc;
#else
	(void)n, (void)a, (void)b, (void)c;
	return -1;
#endif
}

/* May no longer make, write or list anything, wherever it is. (The calls have these numbers everywhere.) */
UNSEEN static void landlock(int own)
{
	const uint64_t rights = 1 << 1 | 1 << 3 | 1 << 7 | 1 << 8;
	long fd = own ? own_syscall(444, (long)&rights, sizeof(rights), 0)
		      : syscall(444, &rights, sizeof(rights), 0);

	need(fd >= 0);
	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	MUST(!(own ? own_syscall(446, fd, 0, 0) : syscall(446, fd, 0)));
	MUST(!close((int)fd));
}

UNSEEN static void change_root(int pivots)
{
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	need(!unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	     !mount("none", "/mnt", "tmpfs", 0, NULL));
	MUST(!mkdir("/mnt/old", 0700));
	MUST(!syscall(pivots ? SYS_pivot_root : SYS_chroot, "/mnt", "/mnt/old") && !chdir("/"));
	MUST(!pivots || !umount2("/old", MNT_DETACH));
}

UNSEEN static void limit(int resource, rlim_t most, rlim_t hard)
{
	const struct rlimit limit = { most, hard };

	MUST(!setrlimit(resource, &limit));
}

UNSEEN static void came(int number)
{
	dispatched += number > 0;
}

UNSEEN static int find_libc(struct dl_phdr_info *object, size_t size, void *range)
{
	unsigned long *from_length = range;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum && strstr(object->dlpi_name, "/libc.so"); i++) {
		if (object->dlpi_phdr[i].p_type != PT_LOAD || !(object->dlpi_phdr[i].p_flags & PF_X))
			continue;
		from_length[0] = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
		from_length[1] = object->dlpi_phdr[i].p_memsz;
	}
	return 0;
}

UNSEEN static void dispatch(void)
{
	unsigned long range[2] = { 0, 0 };

	signal(SIGSYS, came);
	dl_iterate_phdr(find_libc, range);
	need(range[1] && !prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, range[0], range[1], 0));
}

/* By the folders' mode, which does not stop root before it gives up its capabilities. */
UNSEEN static void close_spool(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
	const char *run = getenv("VT_RUN_DIR");
	struct dirent *entry;
	DIR *spool;

	need(!geteuid());
	MUST(!run || (!chdir(run) && !chdir("spool")));
	spool = opendir(".");
	while (run && spool && (entry = readdir(spool)))
		if (entry->d_name[0] == 'p')
			MUST(!chmod(entry->d_name, 0500));
	MUST(spool && !closedir(spool) && !syscall(SYS_capset, &header, none));
}

UNSEEN static void give_up(const char *way)
{
	if (!strcmp(way, "late_landlock"))
		step(0); /* has a window, which nobody can write to a file */
	if (!strcmp(way, "landlock") || !strcmp(way, "own_landlock") || !strcmp(way, "late_landlock"))
		landlock(strlen(way) > strlen("landlock"));
	else if (!strcmp(way, "pivot_root") || !strcmp(way, "chroot"))
		change_root(*way == 'p');
	else if (!strcmp(way, "user"))
		need(!syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY));
	else if (!strcmp(way, "fsuser"))
		need((setfsuid(NOBODY), setfsuid(NOBODY) == NOBODY));
	else if (!strcmp(way, "sizes"))
		limit(RLIMIT_FSIZE, 4096, RLIM_INFINITY);
	else if (!strcmp(way, "files"))
		limit(RLIMIT_NOFILE, 0, 1024);
	else if (!strcmp(way, "dispatch"))
		dispatch();
	else if (!strcmp(way, "mode"))
		close_spool();
	else
		bad(way);
}

/* Without files a program cannot load its libraries. */
UNSEEN static void children(int with_program)
{
	int status = 0, pid = fork();

	if (!pid) {
		work();
		_exit(3);
	}
	MUST(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
	pid = with_program ? fork() : 0;
	if (!pid && with_program) {
		execl("/bin/true", "true", NULL);
		_exit(3);
	}
	MUST(!with_program || waitpid(pid, &status, 0) == pid);
}

UNSEEN int main(int argc, char **argv)
{
	pthread_t threads[2];

	MUST(argc == 2);
	give_up(argv[1]);
	work();
	for (int i = 0; i < 2; i++)
		MUST(!pthread_create(&threads[i], NULL, thread, NULL));
	for (int i = 0; i < 2; i++)
		MUST(!pthread_join(threads[i], NULL));
	children(strcmp(argv[1], "files"));
	MUST(!dispatched);
	say("calls step %d\n", 4 * CALLS);
	return 4;
}
