/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What gputrace/syscall.h reads for a moment, while somebody closes its descriptor and opens a file of his
 * own, which gets the number: a tracer that has the same descriptors, before the system call that reads. The
 * file stays open, and where it was. Status 77: nobody may be traced here.
 *
 * Limits: Linux 5.3.
 */
#include "trouble.h"

#include <gputrace/syscall.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char stack[65536] __attribute__((aligned(16)));

static int reader(void *unused)
{
	char text[4096];

	(void)unused;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		return 77;
	raise(SIGSTOP);
	return gt_raw_read_text("/proc/self/status", text, sizeof(text)) != 0;
}

int main(int argc, char **argv)
{
	int fd = -1, own = open(argv[argc - 1], O_RDONLY), status;
	struct __ptrace_syscall_info call;
	struct stat st, now;
	pid_t pid;

	MUST(own >= 0 && !fstat(own, &st));
	pid = clone(reader, stack + sizeof(stack), CLONE_FILES | SIGCHLD, NULL);
	MUST(pid > 0);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		memset(&call, 0, sizeof(call));
		if (WSTOPSIG(status) == SIGSTOP) /* the first one */
			MUST(!ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD));
		else
			ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(call), &call);
		if (call.op == PTRACE_SYSCALL_INFO_ENTRY && fd < 0 &&
		    (call.entry.nr == SYS_read || call.entry.nr == SYS_pread64)) {
			fd = (int)call.entry.args[0];
			MUST(dup3(own, fd, O_CLOEXEC) == fd);
		}
		MUST(!ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return 77;
	MUST(fd >= 0);
	say("%s %d\n", fstat(fd, &now) || now.st_ino != st.st_ino ? "closed" : "open",
	    (int)lseek(own, 0, SEEK_CUR));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
