/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts the assembly without the program noticing: the tool is a grandchild, made without copying
 * the address space, whose parent ends at once. So the program gets no SIGCHLD, its wait() finds no
 * child of ours, and the assembly survives if the program is killed while it waits. Under a launcher that
 * would kill the program for waiting, it does not wait.
 *
 * Limits: between clone and exec only raw system calls; the memory is shared with the program.
 */
#include "config.h"
#include "launchers/job.h"
#include "lib/common/rundir.h"
#include "lib/common/text.h"
#include "lib/record/record.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define STACK 32768
#define VARS  128
#define LOCK_FD 3 /* in the tool */

/* The C library's own: a sanitizer in the program has one that takes every child for a fork. */
typedef int clone_function(int (*)(void *), void *, int, void *, ...);

struct launch {
	clone_function *clone;
	const char *tool;
	char *const *argv;
	char *const *envp;
	int lock_fd, pipe_fd, stderr_fd;
	void *stack; /* of the grandchild */
	int error;
};

static void default_signals(void)
{
	/* struct kernel_sigaction: handler, flags, restorer, mask */
	uint64_t action[4] = { 0, 0, 0, 0 };
	uint64_t none = 0;

	for (int s = 1; s <= 64; s++)
		GT_SYS4(SYS_rt_sigaction, s, action, NULL, sizeof(uint64_t));
	GT_SYS4(SYS_rt_sigprocmask, 2, &none, NULL, sizeof(none));
}

/* Makes `fd` the descriptor `number`, open across exec: the program may have marked it otherwise. */
static void place(int fd, int number)
{
	if (fd == number)
		gt_sys_fcntl(fd, F_SETFD, 0);
	else
		GT_SYS3(SYS_dup3, fd, number, 0);
}

/*
 * Leaves the tool stderr (or /dev/null, lest the first file that it opens becomes its stderr), the
 * lock as descriptor LOCK_FD and the pipe behind it, and nothing of the program's: a pipe that stays
 * open would keep somebody waiting.
 */
static void arrange_files(const struct launch *launch)
{
	int lock = gt_sys_fcntl(launch->lock_fd, F_DUPFD_CLOEXEC, LOCK_FD + 2);
	int pipe_end = gt_sys_fcntl(launch->pipe_fd, F_DUPFD_CLOEXEC, LOCK_FD + 2);
	int null = gt_sys_openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);

	place(launch->stderr_fd < 0 ? null : launch->stderr_fd, 2);
	if (null >= 0) {
		place(null, 0);
		place(null, 1);
	}
	place(lock, LOCK_FD);
	place(pipe_end, LOCK_FD + 1);
	GT_SYS3(SYS_close_range, LOCK_FD + 2, ~0u, 0);
}

static int become_tool(void *argument)
{
	struct launch *launch = argument;

	default_signals();
	GT_SYS2(SYS_setpgid, 0, 0); /* Ctrl-C is meant for the program */
	arrange_files(launch);
	GT_SYS2(SYS_prctl, PR_SET_TSC, PR_TSC_ENABLE); /* the program may have forbidden it to itself */
	launch->error = (int)GT_SYS3(SYS_execve, launch->tool, launch->argv, launch->envp);
	GT_SYS1(SYS_exit, 127);
	return 127;
}

static int step_aside(void *argument)
{
	struct launch *launch = argument;
	int pid = launch->clone(become_tool, (char *)launch->stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD,
			launch);

	if (pid < 0)
		launch->error = -EAGAIN;
	GT_SYS1(SYS_exit, 0);
	return 0;
}

/* The tool lies beside the library, wherever the installation was moved to. */
static int find_tool(char *path, size_t size)
{
	struct gt_module_range range;
	char *slash;
	struct stat st;

	if (!gt_modules_find((uintptr_t)gt_launch_assembly, &range) &&
	    !(gt_modules_scan() && gt_modules_find((uintptr_t)gt_launch_assembly, &range)))
		return -ENOENT;
	gt_text(path, size, "%s", range.path);
	slash = strrchr(path, '/');
	if (!slash)
		return -ENOENT;
	gt_text(slash, size - (size_t)(slash - path), "/%s/gputrace", GT_LIB_TO_BIN);
	return gt_sys_fstatat(AT_FDCWD, path, &st, 0);
}

/* Passes on the variables that the tool needs, as they were when recording began. */
static void make_environment(char **envp, char *text, size_t size)
{
	static const char *const keep[] = { "PATH", "HOME", "TERM", "LANG", "LC_ALL", "NO_COLOR",
					    "TMPDIR", "LD_LIBRARY_PATH", "COLUMNS" };
	size_t n = 0, used = 0;

	for (unsigned i = 0; i < sizeof(keep) / sizeof(*keep); i++) {
		const char *value = gt_text_env(environ, keep[i]);

		if (!value || used + strlen(value) + 64 > size)
			continue;
		envp[n++] = text + used;
		used += gt_text(text + used, size - used, "%s=%s", keep[i], value) + 1;
	}
	for (size_t i = 0; i < gt_setting_count && n < VARS - 1 && used + 256 < size; i++) {
		envp[n++] = text + used;
		used += gt_text(text + used, size - used, "%s=", gt_setting_rows[i].name);
		gt_settings_text(&gt_setting_rows[i], text + used, size - used);
		if (gt_setting_rows[i].type == GT_SET_PATH && strchr(text + used, '$'))
			text[used] = 0; /* it would be expanded once more */
		used += strlen(text + used) + 1;
	}
	envp[n] = NULL;
}

/* That launcher waits for the tool, which has stderr. */
bool gt_may_wait(void)
{
	return gt_job_has_left(gt_job_link(environ)) || !gt_job_killer(environ);
}

int gt_launch_assembly(const char *dir, const char *home, int lock_fd, bool part)
{
	const size_t text_room = 65536;
	char tool[1200], lock_option[32], home_option[1300];
	char *argv[] = { tool, (char *)"assemble", lock_option, home_option, (char *)dir, NULL, NULL };
	char *memory = gt_sys_memory(2 * STACK + text_room + VARS * sizeof(char *));
	struct launch launch = { .tool = tool, .argv = argv, .lock_fd = lock_fd };
	int fds[2], pid, rc, stderr_fd;
	struct stat own[2] = { { 0 } }; /* a pipe that is nobody's if there is none of that */
	char byte;

	if (!memory)
		return -ENOMEM;
	rc = find_tool(tool, sizeof(tool));
	if (rc)
		return rc;
	stderr_fd = gt_stderr_open(); /* before anything is opened */
	launch.stderr_fd = gt_sys_fcntl(stderr_fd, F_GETFD, 0) < 0 ? -1 : stderr_fd;
	rc = (int)GT_SYS2(SYS_pipe2, fds, O_CLOEXEC);
	if (rc) {
		gt_stderr_close(stderr_fd);
		return rc;
	}
	gt_sys_fstat(fds[0], &own[0]);
	gt_sys_fstat(fds[1], &own[1]);
	launch.envp = (char *const *)(memory + 2 * STACK + text_room);
	make_environment((char **)launch.envp, memory + 2 * STACK, text_room);
	gt_text(lock_option, sizeof(lock_option), "--lock-fd=%d", LOCK_FD);
	gt_text(home_option, sizeof(home_option), "--home=%s", home);
	if (part) {
		argv[4] = (char *)"--part";
		argv[5] = (char *)dir;
	}
	launch.pipe_fd = fds[1];
	launch.stack = memory + STACK;
	launch.clone = (clone_function *)gt_next_symbol("clone");
	if (!launch.clone)
		launch.clone = clone;
	pid = launch.clone(step_aside, memory + STACK, CLONE_VM | CLONE_VFORK, &launch);
	gt_sys_close_own(fds[1], &own[1]);
	gt_stderr_close(stderr_fd);
	if (pid < 0) {
		gt_sys_close_own(fds[0], &own[0]);
		return -EAGAIN;
	}
	GT_SYS4(SYS_wait4, pid, NULL, __WCLONE, NULL);
	/* The pipe closes when the tool has ended, however it ended. */
	while (!launch.error && gt_may_wait() && gt_sys_is_own(fds[0], &own[0]) &&
	       GT_SYS3(SYS_read, fds[0], &byte, 1) == -EINTR)
		;
	gt_sys_close_own(fds[0], &own[0]);
	gt_sys_munmap(memory, 2 * STACK + text_room + VARS * sizeof(char *));
	return launch.error;
}
