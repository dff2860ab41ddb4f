/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process between the caller of `gputrace run` and the command (doc/adr/0011). It is in the command's
 * process group, so the terminal's signals reach both and only the command answers; what is sent to
 * it alone it hands on. It stops with the command, and ends as the command has ended.
 *
 * While it is stopped a child of it watches the command: somebody may continue or end that who does not
 * know about us.
 *
 * Limits: a signal that somebody sends to the whole process group by kill() comes to the command
 * twice; SIGSTOP cannot be handed on.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/common/process.h"
#include "lib/common/settings.h"
#include "lib/common/sys.h"
#include "tools/anew.h"
#include "tools/cmds.h"
#include "tools/options.h"
#include "tools/run_parent.h"

#define STOPPED_NAP_US 20000
#define CORE_LEAST 65536 /* a page of any machine: less is no core file to the kernel */

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

/* Signals sent by the command or its descendants are not passed on to the command. */
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

/* In a process group of its own, so that it is not stopped with us; it continues us until we end it. */
static int start_waker(int child)
{
	int parent = getpid(), pid = fork();

	if (pid)
		return pid;
	setpgid(0, 0);
	prctl(PR_SET_NAME, "gputrace-wake");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent) {
		if (!gt_process_stopped((uint32_t)child))
			kill(parent, SIGCONT);
		usleep(STOPPED_NAP_US);
	}
	_exit(0);
}

/* Nothing has become of the command since we have seen it stop. */
static bool still_stopped(int child)
{
	siginfo_t info = {0};

	return !waitid(P_PID, (id_t)child, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) &&
	       !info.si_pid;
}

/* Stops us, as the command has been stopped. What continues us alone continues it. */
static void stop_with(int child, int number)
{
	const struct timespec now = {0, 0};
	int waker = start_waker(child);
	siginfo_t info;
	sigset_t one;

	if (waker < 0)
		return;
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, NULL); /* here we stop */
	sigprocmask(SIG_BLOCK, &one, NULL);
	kill(waker, SIGKILL);
	sigemptyset(&one);
	sigaddset(&one, SIGCONT);
	if (sigtimedwait(&one, &info, &now) == SIGCONT && info.si_pid != waker && still_stopped(child))
		kill(child, SIGCONT);
	waitpid(waker, NULL, 0);
}

/* waitid() does not work here. */
static void wait_plainly(int child, siginfo_t *end)
{
	int status, pid;

	do
		pid = waitpid(child, &status, 0);
	while (pid < 0 && errno == EINTR);
	end->si_code = CLD_EXITED;
	end->si_status = 255; /* somebody else has waited for it: cannot be */
	if (pid > 0 && WIFSIGNALED(status))
		end->si_code = WCOREDUMP(status) ? CLD_DUMPED : CLD_KILLED;
	if (pid > 0)
		end->si_status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

/* True: the command has ended. `use`: what the C library's waitid() does not tell. */
static bool look_after(int child, siginfo_t *end, struct rusage *use)
{
	for (;;) {
		end->si_pid = 0;
		if (syscall(SYS_waitid, P_PID, child, end, WEXITED | WSTOPPED | WNOHANG, use)) {
			if (errno == EINTR)
				continue;
			wait_plainly(child, end);
			return true;
		}
		if (!end->si_pid)
			return false;
		if (end->si_code != CLD_STOPPED && end->si_code != CLD_TRAPPED)
			return true;
		stop_with(child, end->si_status);
	}
}

/* The first process of a pid namespace is the parent of all orphans. */
static void reap_orphans(int child)
{
	siginfo_t info = {0};

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid && info.si_pid != child)
		waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
}

static void wait_for(int child, siginfo_t *end, struct rusage *use)
{
	sigset_t all;

	sigfillset(&all);
	while (!look_after(child, end, use)) {
		siginfo_t info;
		int number = sigwaitinfo(&all, &info);

		if (number == SIGCHLD && getpid() == 1)
			reap_orphans(child);
		else if (number > 0 && number != SIGCHLD)
			hand_on(child, number, &info);
	}
}

/* Does as the kernel does when the first process of a pid namespace ends. */
static void end_all(void)
{
	kill(-1, SIGKILL);
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

/* Nobody's pipe stays open for us: our sentences alone need a descriptor, the caller's stderr. */
static void let_go(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct stat st;

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

int gt_parent_start(int (*become)(const char *path, char **argv), const char *path, char **argv, int *status,
		    int *failed)
{
	int fds[2], report[2] = {0, 0}, parent = getpid(), pid;

	*status = 126;
	if (pipe2(fds, O_CLOEXEC)) {
		*failed = errno;
		return -1;
	}
	take_signals();
	pid = fork();
	*failed = errno;
	if (!pid)
		start(become, path, argv, parent, fds[1]);
	close(fds[1]);
	if (pid > 0 && read(fds[0], report, sizeof(report)) == (ssize_t)sizeof(report)) {
		*status = report[0];
		*failed = report[1];
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(fds[0]);
	return pid;
}

/* Does the kernel write a core file into the current folder, and not to a path or a program? */
static bool core_is_here(void)
{
	char pattern[256];

	return gt_sys_read_text("/proc/sys/kernel/core_pattern", pattern, sizeof(pattern)) > 0 &&
	       !strchr("|@", *pattern) && !strchr(pattern, '/');
}

/* A process that removes the current folder `dir` with what is in it when this one has gone. */
static bool remove_later(const char *dir)
{
	struct dirent *entry;
	int ends[2], pid;
	DIR *files;
	char byte;

	if (pipe2(ends, O_CLOEXEC))
		return false;
	pid = fork();
	if (pid)
		return pid > 0;
	setsid();
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	close(ends[1]);
	while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
		;
	files = opendir(".");
	while (files && (entry = readdir(files)))
		unlink(entry->d_name);
	rmdir(dir);
	_exit(0);
}

/*
 * The wait status says whether a core was dumped, and the kernel alone sets it so: then this process dumps
 * one, too, the smallest that counts, where it is removed. Where it could be found beside the command's none
 * is written.
 */
static void limit_core(bool dumped)
{
	struct rlimit limit = {0, 0};
	const char *folder = getenv("TMPDIR");
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s/gputrace-core-XXXXXX", folder && *folder == '/' ? folder : "/tmp");
	dumped = dumped && core_is_here() && !getrlimit(RLIMIT_CORE, &limit) && mkdtemp(dir);
	if (dumped && (chdir(dir) || !remove_later(dir))) {
		rmdir(dir);
		dumped = false;
	}
	if (!dumped)
		limit.rlim_max = 0;
	limit.rlim_cur = limit.rlim_max < CORE_LEAST ? limit.rlim_max : CORE_LEAST;
	setrlimit(RLIMIT_CORE, &limit);
	prctl(PR_SET_DUMPABLE, dumped);
}

/* Ends this process as `killed` has ended the command; returns if that signal does not. */
static void die_as(int killed, bool dumped)
{
	sigset_t one;

	limit_core(dumped);
	signal(killed, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, killed);
	raise(killed);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}

static int attend(int pid)
{
	int killed, status;
	struct rusage use = { .ru_maxrss = 0 };
	siginfo_t end;

	let_go();
	wait_for(pid, &end, &use);
	if (getpid() == 1)
		end_all();
	/* What cannot be written, for a limit or as nobody reads it, must not end us. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	killed = end.si_code == CLD_EXITED ? 0 : end.si_status;
	status = killed ? 128 + killed : end.si_status;
	gt_watch_end(pid, status, killed, gt_sys_ns_used(&use));
	if (killed)
		die_as(killed, end.si_code == CLD_DUMPED);
	return status;
}

int gt_duty_parent(const char *state)
{
	int pid = gt_watch_resume(state);

	if (pid > 0)
		return attend(pid);
	gt_say(0, "there is no command to wait for: GPUTRACE_DUTY is 'parent:%s'", state);
	return GT_RC_BAD;
}

int gt_parent_attend(int pid)
{
	const struct itimerval off = {{0, 0}, {0, 0}};

	/* A profiler's timers go on in the new image, where nobody expects their signals. */
	setitimer(ITIMER_PROF, &off, NULL);
	setitimer(ITIMER_VIRTUAL, &off, NULL);
	gt_watch_anew(pid);
	return attend(pid);
}
