/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child that locks itself in before it does anything, by a system call that nobody sees: no folder
 * can be made any more, as in the sandbox of man-db. With "namespace": a process that takes the file system
 * away from itself in a namespace of its own and refuses to go on with an open directory, as Chromium's.
 * With "setns FOLDER": one that closes all descriptors and enters another mount namespace, where something
 * else is in that folder. Status 77: this kernel has no such filters, or makes no such namespaces.
 *
 * Limits: x86-64 and arm64, whose calls to make a folder are named below.
 */
#include "trouble.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

CALLED int work(int x)
{
	HERE();
	return x + 1;
}

CALLED int locked_work(int x)
{
	HERE();
	return x + 2;
}

/* Not by syscall(), which is interposed. */
UNSEEN static long seccomp_filter(const struct sock_fprog *program)
{
#ifdef __x86_64__
	long rc;

	__asm__ volatile("syscall"
			 : "=a"(rc)
			 : "a"(SYS_seccomp), "D"(SECCOMP_SET_MODE_FILTER), "S"(0), "d"(program)
			 : "rcx", "r11", "memory");
	return rc;
#else
	register long number __asm__("x8") = SYS_seccomp;
	register long operation __asm__("x0") = SECCOMP_SET_MODE_FILTER;
	register long flags __asm__("x1") = 0;
	register const void *filter __asm__("x2") = program;

	__asm__ volatile("svc 0" : "+r"(operation) : "r"(number), "r"(flags), "r"(filter) : "memory");
	return operation;
#endif
}

UNSEEN static int lock_in(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdirat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || seccomp_filter(&program);
}

UNSEEN static int open_directories(DIR *list)
{
	struct dirent *entry;
	struct stat st;
	int n = 0;

	while ((entry = readdir(list)))
		if (*entry->d_name != '.' && atoi(entry->d_name) != dirfd(list))
			n += !fstat(atoi(entry->d_name), &st) && S_ISDIR(st.st_mode);
	return n;
}

/* Another process, which shares what this one has of the file system, changes the root of both. */
UNSEEN static int empty_root(void)
{
	long pid = syscall(SYS_clone, CLONE_FS | SIGCHLD, 0, 0, 0, 0);
	int status = -1;

	if (!pid)
		_exit(chroot("/proc/self/fdinfo/") || chdir("/"));
	return waitpid((pid_t)pid, &status, 0) == (pid_t)pid && !status ? 0 : -1;
}

UNSEEN static int namespace(void)
{
	int i, status, given = open("/", O_RDONLY | O_DIRECTORY), n = given >= 0;
	DIR *list;
	pid_t pid;

	for (i = 0; i < 3; i++)
		work(i);
	list = opendir("/proc/self/fd"); /* found before the root is gone */
	if (!list || syscall(SYS_unshare, CLONE_NEWUSER)) /* not unshare(): as Chromium does */
		return 77;
	MUST(open_directories(list) == n && !closedir(list) && !close(given));
	MUST(!empty_root());
	for (i = 0; i < 5; i++)
		locked_work(i);
	pid = fork(); /* finds no place for what it does */
	if (!pid) {
		locked_work(0);
		_exit(5);
	}
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5);
	say("calls work 3\ncalls locked_work 5\n");
	return 0;
}

/* A namespace where something else is mounted on the folder; lives as long as the descriptor. */
UNSEEN static int other_mounts(const char *folder)
{
	char path[64], answer = 0;
	int fd, ends[2];
	pid_t pid;

	MUST(!pipe(ends));
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		answer = !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
			 !mount("none", folder, "tmpfs", 0, NULL);
		MUST(write(ends[1], &answer, 1) == 1);
		pause();
	}
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	MUST(read(ends[0], &answer, 1) == 1);
	fd = answer ? open(path, O_RDONLY) : -1;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return fd;
}

UNSEEN static int enter_namespace(const char *folder)
{
	int i, fd = other_mounts(folder), status;
	pid_t pid;

	if (fd < 0)
		return 77;
	for (i = 3; i < 65536; i++)
		if (i != fd)
			close(i);
	if (setns(fd, CLONE_NEWNS))
		return 77;
	for (i = 0; i < 100000; i++)
		work(i);
	pid = fork();
	if (!pid) {
		locked_work(0);
		_exit(5);
	}
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 5);
	say("calls work 100000\ncalls locked_work 1\n");
	return 0;
}

int main(int argc, char **argv)
{
	int i, status;
	pid_t pid;

	if (argc > 2 && !strcmp(argv[1], "setns"))
		return enter_namespace(argv[2]);

	if (argc > 1 && !strcmp(argv[1], "namespace"))
		return namespace();
	for (i = 0; i < 3; i++)
		work(i);
	pid = fork();
	MUST(pid >= 0);
	if (pid == 0) {
		if (lock_in())
			_exit(77);
		for (i = 0; i < 5; i++)
			locked_work(i);
		return 4;
	}
	MUST(waitpid(pid, &status, 0) == pid);
	if (WEXITSTATUS(status) == 77)
		return 77;
	say("calls work 3\nthe child ended with %d\n", WEXITSTATUS(status));
	return 0;
}
