/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells which processes of a run live, which of them watches, and which is to assemble; see ending.h.
 * Limits: processes of other hosts and pid namespaces are known by their locks only.
 */
#include "lib/common/ending.h"

#include "lib/common/process.h"
#include "lib/common/rundir.h"
#include "lib/common/sys.h"
#include "lib/common/text.h"
#include "lib/format.h"

#include <errno.h>
#include <string.h>

#define LIBRARY   "/libgputrace.so"
#define LOADS_NS  UINT64_C(1000000000)  /* until a program that was executed must have loaded it ... */
#define JOINS_NS  UINT64_C(10000000000) /* ... and have joined the run */
#define HEADER_US 3000000 /* that a host may take from making its folder to its run header */

/* By a mapping: a write may bring a signal (RLIMIT_FSIZE). */
void gt_run_state_set(int fd, uint32_t state)
{
	struct gt_run_header *run = gt_sys_mmap(GT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd);

	if (!run)
		return;
	/* Where threads of the program run it may be a file of theirs by now. */
	if (gt_sys_readable(run) && run->magic == GT_MAGIC_RUN)
		__atomic_store_n(&run->state, state, __ATOMIC_RELEASE);
	gt_sys_munmap(run, GT_PAGE);
}

uint32_t gt_run_state_get(int fd)
{
	struct gt_run_header run;

	if (gt_sys_pread(fd, &run, sizeof(run), 0) != (ssize_t)sizeof(run))
		return GT_RUN_DONE;
	return run.state;
}

/* ---- the living ---------------------------------------------------------------------------------- */

static void look_at(const char *spool, const char *name, uint32_t self, struct gt_survey *survey)
{
	struct gt_proc_header proc;
	char path[1400];

	gt_text(path, sizeof(path), "%s/%s/proc", spool, name);
	if (gt_sys_read_file(path, O_NOFOLLOW, &proc, sizeof(proc)) != (ssize_t)sizeof(proc) ||
	    proc.magic != GT_MAGIC_PROC)
		return;
	survey->recorded++;
	if (proc.state == GT_PROC_ENDED || proc.pid == self)
		return;
	if (!gt_process_lives(proc.pid, proc.start_time)) {
		survey->killed++;
		return;
	}
	survey->alive++;
	survey->between += proc.state == GT_PROC_EXEC;
	if (gt_process_dying(proc.pid)) {
		survey->dying++;
		return;
	}
	if (survey->pid && proc.state == GT_PROC_EXEC)
		return;
	survey->pid = proc.pid;
	proc.program[sizeof(proc.program) - 1] = 0;
	gt_text(survey->program, sizeof(survey->program), "%s", proc.program);
}

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	gt_sys_clock(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void gt_run_executes(struct gt_run_header *run, uint32_t pid, bool begins)
{
	for (struct gt_run_exec *e = run->execs; e < run->execs + GT_RUN_EXECS; e++) {
		uint32_t of = __atomic_load_n(&e->pid, __ATOMIC_ACQUIRE);

		if (!begins) {
			if (of == pid)
				/* Pairs with look_at_execs(). */
				__atomic_store_n(&e->pid, 0, __ATOMIC_RELEASE);
			continue;
		}
		if (of == GT_UNSET_PID || (of && gt_process_lives(of, e->start_time)) ||
		    !__atomic_compare_exchange_n(&e->pid, &of, GT_UNSET_PID, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		e->start_time = gt_process_start_time(pid);
		e->when = now_ns();
		__atomic_store_n(&e->pid, pid, __ATOMIC_RELEASE); /* pairs with look_at_execs() */
		return;
	}
}

/* Not all programs take part: one that has not loaded the library after some time does not. */
static void look_at_execs(const struct gt_run_header *run, uint32_t self, struct gt_survey *survey)
{
	for (const struct gt_run_exec *e = run->execs; e < run->execs + GT_RUN_EXECS; e++) {
		uint32_t pid = __atomic_load_n(&e->pid, __ATOMIC_ACQUIRE);
		uint64_t age = now_ns() - e->when;

		if (!pid || pid == GT_UNSET_PID || pid == self || age > JOINS_NS ||
		    !gt_process_lives(pid, e->start_time) ||
		    (age > LOADS_NS && !gt_process_loaded(pid, LIBRARY)))
			continue;
		survey->alive++;
		survey->between++;
		if (!survey->pid) {
			survey->pid = pid;
			gt_text(survey->program, sizeof(survey->program), "is starting");
		}
	}
}

void gt_survey(const struct gt_run_header *run, const char *spool, uint32_t self, struct gt_survey *survey)
{
	char buffer[4096];
	struct stat own;
	int fd = gt_sys_open_own(AT_FDCWD, spool, O_DIRECTORY, &own);
	int n;

	*survey = (struct gt_survey){ 0 };
	if (run)
		look_at_execs(run, self, survey);
	if (fd < 0)
		return;
	while ((n = gt_sys_getdents(fd, buffer, sizeof(buffer))) > 0) {
		for (int at = 0; at < n;) { /* struct linux_dirent64 */
			const char *name = buffer + at + 19;
			unsigned short bytes;

			memcpy(&bytes, buffer + at + 16, sizeof(bytes));
			if (*name == 'p')
				look_at(spool, name, self, survey);
			at += bytes ? bytes : n;
		}
	}
	gt_sys_close_own(fd, &own);
}

/* ---- what was left behind ------------------------------------------------------------------------ */

#define FOLDER_READS 32 /* of 4 kB */

static bool is_left(const char *parent, const char *name, const char *host)
{
	struct gt_run_header run;
	struct gt_survey survey;
	char path[1300], here[sizeof(run.host)];

	gt_text(path, sizeof(path), "%s%s/spool/run", parent, name);
	if (gt_sys_read_file(path, O_NOFOLLOW, &run, sizeof(run)) != (ssize_t)sizeof(run))
		return false;
	gt_host_name(host, here, sizeof(here));
	if (run.magic != GT_MAGIC_RUN || (run.state != GT_RUN_OPEN && run.state != GT_RUN_ENDED) ||
	    strncmp(run.host, here, sizeof(here) - 1))
		return false;
	path[strlen(path) - strlen("/run")] = '\0';
	if (gt_watched(path))
		return false;
	run.spool[sizeof(run.spool) - 1] = '\0';
	gt_survey(&run, run.spool, 0, &survey);
	return survey.killed && !survey.alive;
}

/* The name without date and number. */
static size_t stem_of(const char *name)
{
	size_t n = strlen(name);

	while (n && strchr("0123456789.-", name[n - 1]))
		n--;
	return n;
}

bool gt_left_behind(const char *dir, const char *host, char *left, size_t size)
{
	const char *own = gt_text_base(dir);
	size_t stem = stem_of(own), length = (size_t)(own - dir);
	char buffer[4096], parent[1024];
	struct stat here;
	int fd, n;

	left[0] = '\0';
	if (!length || !stem || length >= sizeof(parent))
		return false;
	memcpy(parent, dir, length);
	parent[length] = '\0';
	fd = gt_sys_open_own(AT_FDCWD, parent, O_DIRECTORY, &here);
	if (fd < 0)
		return false;
	for (unsigned i = 0; i < FOLDER_READS && (n = gt_sys_getdents(fd, buffer, sizeof(buffer))) > 0; i++) {
		for (int at = 0; at < n;) { /* struct linux_dirent64 */
			const char *entry = buffer + at + 19;
			unsigned short bytes;

			memcpy(&bytes, buffer + at + 16, sizeof(bytes));
			if (!strncmp(entry, own, stem) && stem_of(entry) == stem && strcmp(entry, own) &&
			    is_left(parent, entry, host))
				gt_text(left, size, "%s%s", parent, entry);
			at += bytes ? bytes : n;
		}
	}
	gt_sys_close_own(fd, &here);
	return left[0];
}

/* ---- the watchers -------------------------------------------------------------------------------- */

static int open_watch(const char *home, int flags)
{
	char path[1300];

	gt_text(path, sizeof(path), "%s/" GT_WATCH, home);
	return gt_sys_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
}

/* A lock of the open file, which children inherit; unlike flock() it can be asked for. */
static int lock_watch(int fd, int command, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };
	int rc;

	do
		rc = gt_sys_fcntl(fd, command, (long)&lock);
	while (rc == -EINTR);
	return rc ? rc : lock.l_type;
}

static int take_watch(const char *home, int command, short type)
{
	int fd = open_watch(home, O_CREAT), rc;
	struct stat own = { 0 };

	if (fd < 0)
		return fd;
	gt_sys_fstat(fd, &own);
	rc = lock_watch(fd, command, type);
	if (rc >= 0)
		return fd;
	gt_sys_close_own(fd, &own);
	return rc;
}

int gt_watch(const char *home)
{
	return take_watch(home, F_OFD_SETLK, F_RDLCK);
}

int gt_watch_last(const char *home)
{
	return take_watch(home, F_OFD_SETLKW, F_WRLCK);
}

bool gt_watched(const char *home)
{
	char path[1300];

	gt_text(path, sizeof(path), "%s/" GT_WATCH, home);
	return gt_watched_at(AT_FDCWD, path);
}

bool gt_watched_at(int dir, const char *path)
{
	struct stat own;
	int fd = gt_sys_open_own(dir, path, O_RDWR | O_NOFOLLOW, &own);
	bool yes;

	if (fd < 0)
		return fd != -ENOENT;
	yes = lock_watch(fd, F_OFD_GETLK, F_WRLCK) != F_UNLCK;
	gt_sys_close_own(fd, &own);
	return yes;
}

/* ---- other hosts ---------------------------------------------------------------------------------- */

enum hosts { HOSTS_NONE, HOSTS_ENDED, HOSTS_OPEN };

/* A host without a run header is about to make it, or to withdraw; or it died at just that moment. */
static uint32_t state_of(const char *folder)
{
	char path[1400];
	struct stat own;
	uint32_t state;
	int fd;

	gt_text(path, sizeof(path), "%s/run", folder);
	for (int64_t waited = 0;; waited += 10000) {
		fd = gt_sys_open_own(AT_FDCWD, path, O_NOFOLLOW, &own);
		if (fd != -ENOENT || waited >= HEADER_US)
			break;
		gt_sys_sleep_us(10000);
	}
	if (fd < 0)
		return GT_RUN_ENDED;
	state = gt_run_state_get(fd);
	gt_sys_close_own(fd, &own);
	return state;
}

/* Are there other hosts in this run, and do processes go on there? */
static enum hosts other_hosts(const char *dir, const char *home)
{
	char folder[1300], buffer[4096];
	enum hosts found = HOSTS_NONE;
	struct stat own;
	int n, fd;

	gt_text(folder, sizeof(folder), "%s/spool", dir);
	fd = gt_sys_open_own(AT_FDCWD, folder, O_DIRECTORY, &own);
	if (fd < 0)
		return HOSTS_NONE;
	if (strcmp(folder, home))
		found = state_of(folder) == GT_RUN_OPEN ? HOSTS_OPEN : HOSTS_ENDED;
	while (found != HOSTS_OPEN && (n = gt_sys_getdents(fd, buffer, sizeof(buffer))) > 0) {
		for (int at = 0; at < n && found != HOSTS_OPEN;) { /* struct linux_dirent64 */
			const char *name = buffer + at + 19;
			unsigned short bytes;

			memcpy(&bytes, buffer + at + 16, sizeof(bytes));
			at += bytes ? bytes : n;
			if (strncmp(name, GT_HOST_FOLDER, strlen(GT_HOST_FOLDER)))
				continue;
			gt_text(folder, sizeof(folder), "%s/spool/%s", dir, name);
			if (strcmp(folder, home))
				found = state_of(folder) == GT_RUN_OPEN ? HOSTS_OPEN : HOSTS_ENDED;
		}
	}
	gt_sys_close_own(fd, &own);
	return found;
}

/* Has no process of this host been able to record anything? */
static bool nothing_there(int fd)
{
	struct gt_run_header run;

	return gt_sys_pread(fd, &run, sizeof(run), 0) == (ssize_t)sizeof(run) &&
	       run.next_seq == run.untraced;
}

/*
 * This host's processes have ended. Is it for us to assemble: are we the only host, or the last one?
 * Two hosts may end at the same moment: the one that makes the file CLAIM does it. A host that takes
 * part again looks for it after it has said so, and we look at the hosts after we have made it.
 */
enum gt_turn gt_run_turn(const char *dir, const char *home, int fd,
			 void (*part)(const char *dir, const char *home, int fd))
{
	enum hosts others = other_hosts(dir, home);
	struct stat own = { 0 };
	char path[1100];
	int claim;

	if (others == HOSTS_NONE) {
		if (!nothing_there(fd))
			return GT_TURN_OURS;
		gt_run_state_set(fd, GT_RUN_ENDED); /* hosts that come later do not wait for this one */
		return GT_TURN_NOTHING;
	}
	/* What this host has recorded it converts itself, or brings it to where the last host finds it. */
	part(dir, home, fd);
	gt_run_state_set(fd, GT_RUN_ENDED);
	if (other_hosts(dir, home) == HOSTS_OPEN)
		return GT_TURN_OTHERS;
	gt_text(path, sizeof(path), "%s/spool/" GT_CLAIM, dir);
	claim = gt_sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			      0600);
	if (claim < 0)
		return GT_TURN_OTHERS;
	gt_sys_note_named(claim, AT_FDCWD, path, &own);
	gt_sys_close_own(claim, &own);
	if (other_hosts(dir, home) != HOSTS_OPEN)
		return GT_TURN_OURS;
	gt_sys_unlinkat(AT_FDCWD, path, 0);
	return GT_TURN_OTHERS;
}
