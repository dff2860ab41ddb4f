/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making the archive when the last process of a run has gone, however it went (doc/adr/0011). The
 * kernel tells: every process of the run holds a shared lock on the run header. While somebody
 * watches, the processes themselves do nothing about it at their end.
 *
 * `gputrace run` watches as long as its command lives. Beside it a second process, the guard, waits
 * for its end; it matters if `gputrace run` was killed, or if processes outlive the command. The
 * guard holds no descriptor of anybody's, and is in a session of its own.
 *
 * A launcher of parallel programs ends all ranks once one has failed, and each `gputrace run`, too. The first
 * that sees its rank fail says where the archive will be, before the launcher learns of it. Where the
 * launcher kills at once but waits until stderr is closed (MPICH's Hydra), the guard has stderr, and makes
 * the archive in place of a `gputrace run` that would be killed.
 *
 * Limits: processes that were started by a program without our library, in another pid namespace and
 * with all descriptors closed, are not known.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launchers/job.h"
#include "lib/assemble/clock/now.h"
#include "lib/assemble/report/summary.h"
#include "lib/common/ending.h"
#include "lib/common/process.h"
#include "lib/common/rundir.h"
#include "lib/common/settings.h"
#include "lib/format.h"
#include "live/run.h"
#include "tools/anew.h"
#include "tools/cmds.h"
#include "tools/options.h"
#include "tools/run_parent.h"

#define NAP_US      2000
#define LINGER_MS   50    /* that processes which outlive the command get to end, too */
#define UNKNOWN_MS  200   /* the same, if only their lock is known */
#define STARTING_MS 1000  /* and if all that live are between two programs */
#define DYING_MS    10000 /* and if they are about to end */
#define TIDY_MS     2000  /* until the last files of the spool must be closed */
#define LIVING_MS   500   /* between two looks of the guard at those who hold no lock */
#define LAUNCHER_MS 250   /* between two looks at what a launcher has started */
#define STDERR_MS   1000  /* that the guard keeps stderr if nothing of that lives */
#define STDERR_NAP_MS 10  /* between two looks of it meanwhile, as long as the job takes */
#define INTERRUPTION_MS 20 /* until it is measured: the program starts meanwhile */
#define LINK_MS     300   /* that a launcher which kills learns later that a rank has ended */
#define TOLD_S      5     /* that we wait for the archive when a launcher wants everybody to end */

static struct {
	char home[PATH_MAX];  /* behind the archive directory's path: "/spool..." */
	int dir, lock, watch; /* the archive directory, its run header, and gt_watch() */
	int link;             /* gt_job_link(): ends when we end, not when the command does */
	uint32_t killer;      /* gt_job_killer() */
	int guard;            /* pid, 0: another `gputrace run` of this job has started it, -1: none */
	int publisher;        /* pid, with VT_LIVE; else -1 */
	struct gt_run_header *page;
} run = {.dir = -1, .lock = -1, .watch = -1, .link = -1, .guard = -1, .publisher = -1};

/* The archive directory's present name: it may have been renamed. */
static bool dir_name(char *path, size_t size)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", run.dir);
	n = readlink(link, path, size - 1);
	path[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

/* ---- making the archive ---------------------------------------------------------------------- */

static volatile sig_atomic_t told, enough;

static void hear(int number)
{
	const struct itimerval soon = {{1, 0}, {TOLD_S, 0}};

	if (number == SIGALRM) {
		enough = told;
	} else if (!told) {
		told = 1;
		setitimer(ITIMER_REAL, &soon, NULL);
	}
}

/*
 * The command has ended, and what is sent from now on was not meant for it: a launcher that ends all ranks
 * after the first one that has failed gets the command's own status if the archive is made soon. The first
 * process of a pid namespace does not get SIGTERM without a handler, and all others end with it.
 */
static void be_told(void)
{
	const struct sigaction act = {.sa_handler = hear};

	if (getpid() == 1)
		return;
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
}

/*
 * In a process of its own, and a process group: Ctrl-C ends the waiting, not the work, and SIGTERM, which a
 * launcher sends to every process of a job, does not end it either. The lock is shared with it.
 */
static int in_child(int (*call)(const char *dir, const char *home, int fd), const char *dir,
		    const char *home, int fd)
{
	static const int ours[] = {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGTERM, SIGALRM};
	sigset_t others, kept;
	int status = 0, pid = fork();

	if (pid < 0)
		return GT_RC_BAD;
	if (!pid) {
		if (run.link >= 0)
			close(run.link);
		setpgid(0, 0);
		sigemptyset(&kept);
		sigaddset(&kept, SIGTTOU);
		sigaddset(&kept, SIGTERM);
		sigprocmask(SIG_SETMASK, &kept, NULL);
		_exit(call(dir, home, fd));
	}
	sigfillset(&others);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		sigdelset(&others, ours[i]);
	sigprocmask(SIG_SETMASK, &others, NULL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR && !enough)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : GT_RC_BAD;
}

static void partial(const char *dir, const char *home, int fd)
{
	in_child(gt_assemble_here_partial, dir, home, fd);
}

/* All processes of this host have ended, and the lock is ours. */
static void make_archive(void)
{
	char dir[PATH_MAX], home[2 * PATH_MAX], word[2 * PATH_MAX];

	if (!dir_name(dir, sizeof(dir)))
		return;
	snprintf(home, sizeof(home), "%s%s", dir, run.home);
	if (!gt_settings.unify) {
		gt_say(1, "recorded, not assembled (VT_UNIFY=no): gputrace recover %s",
		       gt_summary_word(word, sizeof(word), dir));
		return;
	}
	switch (gt_run_turn(dir, home, run.lock, partial)) {
	case GT_TURN_OURS:
		gt_run_state_set(run.lock, GT_RUN_ASSEMBLING);
		in_child(gt_assemble_here, dir, home, run.lock);
		break;
	case GT_TURN_OTHERS:
		gt_say(strcmp(run.home, "/spool") ? 2 : 1,
		    "other hosts of this run are still running; the last one writes the archive "
		    "in %s", dir);
		break;
	case GT_TURN_NOTHING:
		gt_say(1, "nothing was recorded in %s", dir);
		break;
	}
}

/* ---- the guard ------------------------------------------------------------------------------- */

static void close_stdio(int last)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd <= last; fd++)
		dup2(null, fd);
}

/* Does anything live that this launcher has started? */
static bool has_children(uint32_t launcher)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (proc && !found && (entry = readdir(proc))) {
		struct gt_process process;
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		found = pid && gt_process_read(pid, &process) && process.parent == launcher &&
			process.state != 'Z' && process.state != 'X';
	}
	if (proc)
		closedir(proc);
	return found;
}

/* Keeps stderr until all is over, but not longer than somebody lives whom the launcher waits for anyway. */
static void keep_stderr(void)
{
	for (unsigned long ms = 0, alone = 0; alone < STDERR_MS; ms += STDERR_NAP_MS) {
		if (!flock(run.lock, LOCK_EX | LOCK_NB)) {
			struct gt_survey survey = {.alive = 0};
			struct gt_run_header header;

			if (pread(run.lock, &header, sizeof(header), 0) == (ssize_t)sizeof(header))
				gt_survey(&header, header.spool, 0, &survey);
			flock(run.lock, LOCK_UN);
			if (!survey.alive)
				return;
		}
		if (ms % LAUNCHER_MS == 0)
			alone = has_children(run.killer) ? 0 : alone + LAUNCHER_MS;
		usleep(STDERR_NAP_MS * 1000);
	}
	close_stdio(2);
}

/* Waits for the run's lock, and for those who have lost theirs. False: the run is no more. */
static bool wait_for_all(const char *home)
{
	char path[2 * PATH_MAX + 8];
	struct gt_survey survey;
	struct stat here, there;

	snprintf(path, sizeof(path), "%s/run", home);
	run.lock = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (run.killer)
		keep_stderr();
	for (;;) {
		struct gt_run_header header;

		while (flock(run.lock, LOCK_EX))
			if (errno != EINTR)
				return false;
		if (fstat(run.lock, &here) || lstat(path, &there) || here.st_ino != there.st_ino ||
		    here.st_dev != there.st_dev ||
		    pread(run.lock, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
			return false;
		gt_survey(&header, header.spool, 0, &survey);
		if (!survey.alive)
			return header.state != GT_RUN_DONE && header.state != GT_RUN_TIDY;
		flock(run.lock, LOCK_UN);
		usleep(LIVING_MS * 1000);
	}
}

/* Of everything but the archive directory. */
static void let_go(void)
{
	if (run.page && run.page != MAP_FAILED)
		munmap(run.page, GT_PAGE);
	run.page = NULL;
	close(run.lock);
	close(run.watch);
	run.lock = run.watch = -1;
}

static void note_interruption(const char *home)
{
	char path[2 * PATH_MAX + 8];
	uint32_t ns = gt_interruption_ns();
	int fd;

	snprintf(path, sizeof(path), "%s/run", home);
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (pwrite(fd, &ns, sizeof(ns), offsetof(struct gt_run_header, interruption_ns)) < 0)
		gt_say(2, "%s: %s", path, strerror(errno));
	close(fd);
}

/*
 * Once for all processes of the host, beside the program and not in it; of programs that end before that
 * nobody needs it. In a process of its own: a filter of system calls may kill it.
 */
static void measure_interruption(const char *home)
{
	int pid = gt_settings.sampling ? fork() : -1;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		usleep(INTERRUPTION_MS * 1000);
		note_interruption(home);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int gt_duty_watcher(const char *state)
{
	char dir[PATH_MAX], home[2 * PATH_MAX];
	sigset_t none;

	setsid();
	signal(SIGTERM, SIG_IGN); /* of a launcher: the end of the others is what is waited for */
	prctl(PR_SET_NAME, "gputrace-watch");
	if (!strchr(state, '/') || sscanf(state, "%d %u", &run.dir, &run.killer) != 2)
		return GT_RC_BAD;
	snprintf(run.home, sizeof(run.home), "%s", strchr(state, '/'));
	fcntl(run.dir, F_SETFD, FD_CLOEXEC);
	close_stdio(run.killer ? 1 : 2);
	signal(SIGPIPE, SIG_IGN); /* whoever reads stderr may be gone before the archive is made */
	if (chdir("/") || !dir_name(dir, sizeof(dir)))
		return GT_RC_BAD;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	snprintf(home, sizeof(home), "%s%s", dir, run.home);
	measure_interruption(home);
	run.watch = gt_watch_last(home); /* comes back when the other one has gone */
	if (run.watch < 0 || !dir_name(dir, sizeof(dir)))
		return GT_RC_BAD;
	snprintf(home, sizeof(home), "%s%s", dir, run.home);
	if (wait_for_all(home))
		make_archive();
	let_go();
	gt_tidy(run.dir, TIDY_MS);
	return GT_RC_OK;
}

int gt_duty_live(const char *state)
{
	return gt_live_beside(state, gt_settings.test_host, (uint64_t)gt_settings.live_intv * 1000000);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* Where this host's run header is: DIR/spool, or a folder in it if another host has made DIR. */
static bool find_home(const char *dir, const char *host, char *why, size_t size)
{
	struct gt_run_header header = {0};
	char path[PATH_MAX + 16], name[64], home[PATH_MAX];
	int fd;

	snprintf(run.home, sizeof(run.home), "/spool");
	snprintf(path, sizeof(path), "%s/spool/run", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && pread(fd, &header, sizeof(header), 0) < 0)
		header.host[0] = '\0';
	if (fd >= 0)
		close(fd);
	gt_host_name(host, name, sizeof(name));
	if (strncmp(name, header.host, sizeof(header.host))) {
		const struct gt_rundir_wish wish = {
			.local = gt_settings.pform_ldir, .host = host, .job = header.job};

		if (gt_rundir_join_host(dir, &wish, home, sizeof(home), why, size))
			return false;
		snprintf(run.home, sizeof(run.home), "%s", home + strlen(dir));
	}
	return true;
}

/* In a process of its own, which holds no descriptor but `dir`. Its pid, or -1. */
static int start_duty(const char *duty, int dir, const char *state)
{
	int pid = fork();

	if (!pid) {
		gt_anew(duty, state, (const int[]){dir, -1});
		_exit(GT_RC_BAD);
	}
	return pid;
}

static int start_watcher(void)
{
	char state[PATH_MAX + 16];

	snprintf(state, sizeof(state), "%d %u %s", run.dir, run.killer, run.home);
	return start_duty("watcher", run.dir, state);
}

bool gt_watch_begin(const char *dir, const char *host, char *why, size_t size)
{
	char home[2 * PATH_MAX], path[2 * PATH_MAX + 8];
	uint32_t nobody = 0;

	if (!find_home(dir, host, why, size))
		return false;
	snprintf(home, sizeof(home), "%s%s", dir, run.home);
	snprintf(path, sizeof(path), "%s/run", home);
	run.dir = gt_anew_high(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	run.lock = gt_anew_high(open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
	run.watch = gt_anew_high(gt_watch(home));
	run.page = run.lock < 0 ? MAP_FAILED
				: mmap(NULL, GT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, run.lock, 0);
	if (run.dir < 0 || run.watch < 0 || run.page == MAP_FAILED || flock(run.lock, LOCK_SH | LOCK_NB)) {
		snprintf(why, size,
			 "the run in %s cannot be watched (its last process makes the archive): %s", dir,
			 strerror(run.watch < 0 ? -run.watch : errno));
		gt_watch_cancel();
		return false;
	}
	/* Pairs with gt_watch_cancel() and gt_watch_end(). */
	__atomic_add_fetch(&run.page->parents, 1, __ATOMIC_ACQ_REL);
	run.link = gt_job_link(environ);
	run.killer = run.link >= 0 ? gt_job_killer(environ) : 0;
	run.guard = 0;
	if (__atomic_compare_exchange_n(&run.page->watched, &nobody, 1, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		run.guard = gt_settings.unify ? start_watcher() : 0;
		if (gt_settings.live)
			run.publisher = start_duty("live", -1, dir);
	}
	return true;
}

void gt_watch_anew(int pid)
{
	char state[PATH_MAX + 128];

	snprintf(state, sizeof(state), "%d %d %d %d %d %d %d %u %s", pid, run.dir, run.lock, run.watch,
		 run.guard, run.publisher, run.link, run.killer, run.home);
	gt_anew("parent", state, (const int[]){run.dir, run.lock, run.watch, run.link, -1});
}

int gt_watch_resume(const char *state)
{
	const char *home = strchr(state, '/');
	int pid;

	if (!home || sscanf(state, "%d %d %d %d %d %d %d %u", &pid, &run.dir, &run.lock, &run.watch,
			    &run.guard, &run.publisher, &run.link, &run.killer) != 8)
		return -1;
	snprintf(run.home, sizeof(run.home), "%s", home);
	for (const int *fd = (const int[]){run.dir, run.lock, run.watch, run.link, -1}; *fd != -1; fd++)
		fcntl(*fd, F_SETFD, FD_CLOEXEC);
	run.page = mmap(NULL, GT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, run.lock, 0);
	if (run.page == MAP_FAILED) {
		gt_say(1, "the run can no longer be watched (its archive is made when all processes have "
			"ended): %s", strerror(errno));
		run.page = NULL;
	}
	return pid;
}

static void dismiss_watcher(void)
{
	if (run.guard > 0 && !kill(run.guard, SIGKILL))
		waitpid(run.guard, NULL, 0);
	run.guard = -1;
}

void gt_watch_cancel(void)
{
	char dir[PATH_MAX], path[2 * PATH_MAX + 8];

	dismiss_watcher();
	gt_live_dismiss(run.publisher);
	run.publisher = -1;
	if (run.page && run.page != MAP_FAILED &&
	    !__atomic_sub_fetch(&run.page->parents, 1, __ATOMIC_ACQ_REL) && dir_name(dir, sizeof(dir))) {
		run.page->watched = 0;
		snprintf(path, sizeof(path), "%s%s/" GT_WATCH, dir, run.home);
		unlink(path);
	}
	let_go();
	close(run.dir);
	run.dir = -1;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Has the counter run evenly since the process began? */
static bool even(const struct gt_proc_header *header, const struct gt_calib *now)
{
	double ns = (double)(now->mono_ns - header->first.mono_ns);
	double ticks = (double)(int64_t)(now->tick - header->first.tick);
	double counted = ticks * 1e9 / (double)(header->nominal_hz ? header->nominal_hz : 1);

	return !gt_clock_slept() && counted > ns * 0.999 && counted < ns * 1.001;
}

/* A process of this host has just ended without having said so. */
static void fill_end(struct gt_proc_header *header, int status, int number)
{
	struct gt_calib now;
	char host[sizeof(header->host)];

	gt_host_name("", host, sizeof(host));
	if (!strcmp(host, header->host) && gt_clock_pair(header->clock, &now)) {
		header->end = now.tick;
		if (even(header, &now))
			header->last = now;
	}
	header->how = number ? GT_END_SIGNAL : GT_END__EXIT;
	header->status = (uint32_t)(number ? number : status);
	if (!number)
		header->state = GT_PROC_ENDED;
}

/* Notes in the header of a process that could not do so itself when and how it ended. */
static void note_end(const char *spool, int pid, int status, int signal)
{
	char path[PATH_MAX + 64], ending[32];
	DIR *dir = opendir(spool);
	struct dirent *entry;

	snprintf(ending, sizeof(ending), ".%d", pid);
	while (dir && (entry = readdir(dir))) {
		struct gt_proc_header header;
		const char *dot = strrchr(entry->d_name, '.');
		int fd;

		if (entry->d_name[0] != 'p' || !dot || strcmp(dot, ending))
			continue;
		snprintf(path, sizeof(path), "%s/%s/proc", spool, entry->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			continue;
		if (pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
		    header.magic == GT_MAGIC_PROC && header.state == GT_PROC_RUNNING) {
			fill_end(&header, status, signal);
			if (pwrite(fd, &header, sizeof(header), 0) < 0)
				gt_say(2, "%s: %s", path, strerror(errno));
		}
		close(fd);
	}
	if (dir)
		closedir(dir);
}

/* Takes the lock for good, unless somebody lives who is not about to end. */
static bool all_gone(struct gt_survey *survey)
{
	for (unsigned us = 0;; us += NAP_US) {
		bool locked = !flock(run.lock, LOCK_EX | LOCK_NB);
		unsigned limit;

		gt_survey(run.page, run.page->spool, 0, survey);
		if (locked && !survey->alive)
			return true;
		flock(run.lock, LOCK_UN);
		limit = survey->alive > survey->dying ? LINGER_MS : survey->alive ? DYING_MS : UNKNOWN_MS;
		if (survey->alive && survey->alive == survey->between)
			limit = STARTING_MS;
		if (us / 1000 >= limit)
			return false;
		usleep(NAP_US);
	}
}

static void say_others_go_on(const struct gt_survey *survey)
{
	char dir[PATH_MAX];
	/* One that has become another program has two folders. */
	unsigned living = survey->alive - survey->between, more = living > 1 ? living - 1 : 0;

	if (!dir_name(dir, sizeof(dir)))
		return;
	if (!survey->pid)
		gt_say(1, "processes of this run are still running; when they have ended, the archive "
			"is written in %s", dir);
	else if (more)
		gt_say(1, "process %u (%s) and %u more of this run are still running; when they have "
			"ended, the archive is written in %s", survey->pid, survey->program, more, dir);
	else
		gt_say(1, "process %u (%s) of this run is still running; when it has ended, the archive "
			"is written in %s",
		    survey->pid, survey->program, dir);
}

static void finish(void)
{
	char dir[PATH_MAX];

	make_archive();
	if (enough) /* the guard stays, as if we had been killed */
		return;
	dismiss_watcher();
	let_go();
	if (gt_tidy(run.dir, TIDY_MS) && dir_name(dir, sizeof(dir)))
		gt_say(1, "cannot remove the spool in %s: %s", dir, strerror(ENOTEMPTY));
}

/*
 * The launcher kills what is left of the job once it sees that a rank has ended without MPI_Finalize: by the
 * end of this connection. Ranks that end at the same time must be gone by then, which is a race that
 * `gputrace run` would lose: somebody else holds the connection a little longer.
 */
static void hold_link(void)
{
	if (fork())
		return;
	setsid();
	let_go();
	close(run.dir);
	close_stdio(2);
	usleep(LINK_MS * 1000);
	_exit(0);
}

/* A rank has failed, and the launcher does not know yet: what is said later may not reach anybody. */
static void say_failed(int pid, int status, int signal)
{
	char dir[PATH_MAX];

	if (!dir_name(dir, sizeof(dir)))
		return;
	if (signal)
		gt_say(1, "rank %s [%d] was ended by signal %d (%s); when the others have ended, the archive "
			"is written in %s", gt_job_rank(environ), pid, signal, strsignal(signal), dir);
	else
		gt_say(1, "rank %s [%d] ended with exit status %d; when the others have ended, the archive "
			"is written in %s", gt_job_rank(environ), pid, status, dir);
}

void gt_watch_end(int pid, int status, int signal, uint64_t used_ns)
{
	struct gt_survey survey;
	bool first, last;

	be_told();
	if (!run.page) { /* gt_watch_resume() has said it: the guard goes on when we have gone */
		gt_live_dismiss(run.publisher);
		return;
	}
	note_end(run.page->spool, pid, status, signal);
	__atomic_add_fetch(&run.page->used_ns, used_ns, __ATOMIC_RELAXED);
	gt_live_dismiss(run.publisher);
	flock(run.lock, LOCK_UN);
	first = (status || signal) && !(__atomic_fetch_or(&run.page->reported, GT_RUN_FAILED,
							  __ATOMIC_ACQ_REL) & GT_RUN_FAILED);
	/* Pairs with gt_watch_begin() and gt_watch_cancel(). */
	last = !__atomic_sub_fetch(&run.page->parents, 1, __ATOMIC_ACQ_REL);
	if (run.killer && !gt_job_has_left(run.link)) {
		hold_link();
		if (last && !gt_settings.unify) /* then there is no guard that would say it */
			make_archive();
	} else if (!last) { /* the last `gputrace run` of this job does it */
		if (first && gt_job_rank(environ))
			say_failed(pid, status, signal);
	} else if (!all_gone(&survey)) {
		say_others_go_on(&survey);
	} else {
		finish();
	}
}
