/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process between the caller of `gputrace run` and the command (doc/adr/0011). It is in the command's
 * process group, so the terminal's signals reach both and only the command answers; what is sent to
 * it alone it hands on. It stops with the command, and ends as the command has ended.
 *
 * Limits: a signal that somebody sends to the whole process group by kill() comes to the command
 * twice; SIGSTOP cannot be handed on.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/common/process.h"
#include "lib/common/settings.h"
#include "tools/run_parent.h"

/*
 * The parent blocks all signals and takes them one by one, those too that its caller has ignored; the
 * command begins with what the caller has left.
 */
static sigset_t callers_mask, callers_ignored;

static void take_signals(void)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};
	struct sigaction old;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &callers_mask);
	sigemptyset(&callers_ignored);
	for (int number = 1; number <= SIGRTMAX; number++)
		if (!sigaction(number, NULL, &old) && old.sa_handler == SIG_IGN &&
		    !sigaction(number, &by_default, NULL))
			sigaddset(&callers_ignored, number);
}

static void give_signals(void)
{
	for (int number = 1; number <= SIGRTMAX; number++)
		if (sigismember(&callers_ignored, number) == 1)
			signal(number, SIG_IGN);
	sigprocmask(SIG_SETMASK, &callers_mask, NULL);
}

/* A command that the shell has stopped is continued by it; one that was stopped by SIGSTOP may be
 * continued by somebody who does not know about us. */
static bool stops_jobs(int number)
{
	return number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

static void stop_as(int number)
{
	sigset_t one;

	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, NULL); /* here we stop */
	sigprocmask(SIG_BLOCK, &one, NULL);
}

/* What the command or its descendants send is not for the command. */
static bool sent_by_others(const siginfo_t *info)
{
	return info->si_code <= 0 && (!info->si_pid || !gt_process_below(info->si_pid, getpid()));
}

static void hand_on(int child, int number, const siginfo_t *info)
{
	if (number == SIGCONT && gt_process_stopped((uint32_t)child))
		kill(child, SIGCONT);
	else if (info->si_code == SI_QUEUE && sent_by_others(info))
		sigqueue(child, number, info->si_value);
	else if (number == SIGALRM || sent_by_others(info)) /* an alarm that was set before exec */
		kill(child, number);
}

/* True: the command has ended. */
static bool look_after(int child, siginfo_t *end)
{
	for (;;) {
		end->si_pid = 0;
		if (waitid(P_PID, (id_t)child, end, WEXITED | WSTOPPED | WNOHANG)) {
			if (errno == EINTR)
				continue;
			end->si_code = CLD_EXITED; /* somebody else has waited for it: cannot be */
			end->si_status = 255;
			return true;
		}
		if (!end->si_pid)
			return false;
		if (end->si_code != CLD_STOPPED && end->si_code != CLD_TRAPPED)
			return true;
		if (stops_jobs(end->si_status))
			stop_as(end->si_status);
	}
}

/* The first process of a pid namespace is the parent of all orphans. */
static void reap_orphans(int child)
{
	siginfo_t info = {0};

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid && info.si_pid != child)
		waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
}

static void wait_for(int child, siginfo_t *end)
{
	sigset_t all;

	sigfillset(&all);
	while (!look_after(child, end)) {
		siginfo_t info;
		int number = sigwaitinfo(&all, &info);

		if (number == SIGCHLD && getpid() == 1)
			reap_orphans(child);
		else if (number > 0 && number != SIGCHLD)
			hand_on(child, number, &info);
	}
}

/* What the kernel does when the first process of a pid namespace ends. */
static void end_all(void)
{
	kill(-1, SIGKILL);
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

/* Nobody's pipe stays open for us: our sentences alone need a descriptor, the caller's stderr. */
static void let_go(void)
{
	struct stat st;
	int null;

	gt_watch_close_others();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return;
	dup2(null, 0);
	dup2(null, 1);
	if (!gt_settings.verbose && !fstat(2, &st) && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		dup2(null, 2);
	if (null > 2)
		close(null);
}

static void start(int (*become)(const char *path, char **argv), const char *path, char **argv,
		  int parent, int pipe_fd)
{
	int report[2];

	give_signals();
	/* As a signal that cannot be handed on would have ended the command itself. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		raise(SIGKILL);
	report[0] = become(path, argv);
	report[1] = errno;
	if (write(pipe_fd, report, sizeof(report)) < 0)
		_exit(report[0]);
	_exit(report[0]);
}

int gt_parent_wait(int (*become)(const char *path, char **argv), const char *path, char **argv, int *failed,
		   int *pid, int *killed)
{
	int fds[2], report[2] = {0, 0}, parent = getpid();
	siginfo_t end;

	*killed = *failed = 0;
	if (pipe2(fds, O_CLOEXEC)) {
		*failed = errno;
		return 126;
	}
	take_signals();
	*pid = fork();
	if (!*pid)
		start(become, path, argv, parent, fds[1]);
	close(fds[1]);
	if (*pid < 0) {
		*failed = errno;
		close(fds[0]);
		return 126;
	}
	if (read(fds[0], report, sizeof(report)) == (ssize_t)sizeof(report))
		*failed = report[1];
	close(fds[0]);
	if (!*failed)
		let_go();
	wait_for(*pid, &end);
	if (getpid() == 1)
		end_all();
	if (end.si_code == CLD_EXITED)
		return end.si_status;
	*killed = end.si_status;
	return 128 + end.si_status;
}

void gt_parent_die(int killed)
{
	struct rlimit none = {0, 0};
	sigset_t one;

	setrlimit(RLIMIT_CORE, &none); /* the command has written its own */
	prctl(PR_SET_DUMPABLE, 0);
	signal(killed, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, killed);
	raise(killed);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}
