/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run as its processes see it: joining it, leaving it, and finding out who is the last. Every process
 * holds a shared flock on spool/run; the one that gets it exclusively, and finds no other process of
 * the run alive, starts the assembly.
 *
 * The file is mapped, and a mapping holds the lock: no descriptor is needed for it. A forked child
 * inherits the mapping, and with it its place in the run, whatever the paths mean to it and whoever it
 * is.
 *
 * Limits: the assembly itself is another program (launch.c); nothing here reads events.
 */
#include "gputrace/word.h"
#include "lib/common/ending.h"
#include "launchers/job.h"
#include "lib/common/process.h"
#include "lib/common/rundir.h"
#include "lib/common/text.h"
#include "lib/record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

static bool numbered; /* this process has taken a number */
static bool forked;   /* and not executed */
static bool nested;   /* its folder is not beside the run's header, but in its parent's folder */
static char spool[1024];
static char home[1200];            /* DIR/spool, or the folder of this host in it: has `run` */
static void *share;                /* a mapping that holds the lock */
static unsigned withdrawn;         /* 1 + enum gt_absent: joined, and left again */

#define OTHER_HOST (-EXDEV)
#define LIBRARY    "/libgputrace.so"
/* The time within which a process that executes another program joins again. */
#define JOIN_US         2000
#define JOIN_TRIES      100
#define JOIN_TRIES_MOST 15000 /* if it has our library by then */
#define SHARE_TRIES     500

/* All processes of this host had ended, but others go on: this host takes part again. */
static int reopen(int fd)
{
	char path[1100];
	struct stat st;

	gt_run_state_set(fd, GT_RUN_OPEN);
	gt_text(path, sizeof(path), "%s/spool/" GT_CLAIM, gt_run_dir);
	if (gt_sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == -ENOENT)
		return 0;
	gt_run_state_set(fd, GT_RUN_ENDED);
	return -ESTALE;
}

/* A process that assembles says so; one that only checks whether all have ended unlocks at once. */
static int take_share(int fd, const struct stat *own)
{
	int rc = gt_sys_flock_own(fd, LOCK_SH | LOCK_NB, own);

	for (unsigned i = 0; rc == -EWOULDBLOCK && i < SHARE_TRIES; i++) {
		if (gt_run_state_get(fd) != GT_RUN_OPEN)
			break;
		gt_sys_sleep_us(JOIN_US);
		rc = gt_sys_flock_own(fd, LOCK_SH | LOCK_NB, own);
	}
	return rc == -EWOULDBLOCK ? -ESTALE : rc;
}

/*
 * Opens the run header in `from`, notes which file it is, and checks that it is a run that can be joined.
 * OTHER_HOST: it is, but was made on another host.
 */
static int open_run(const char *from, struct gt_run_header *run, struct stat *own)
{
	char path[1300], boot[40], host[64];
	int fd, rc;
	ssize_t n;

	gt_text(path, sizeof(path), "%s/run", from);
	fd = gt_sys_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return fd == -ENOENT ? -ESTALE : fd;
	rc = gt_sys_fstat(fd, own);
	if (rc)
		return rc;
	if (own->st_uid != gt_sys_geteuid() || !S_ISREG(own->st_mode))
		rc = -EPERM;
	if (!rc && gt_sys_pread(fd, run, sizeof(*run), 0) != (ssize_t)sizeof(*run))
		rc = -EPROTO;
	if (!rc && (run->magic != GT_MAGIC_RUN || run->version != GT_FORMAT_VERSION ||
		    memchr(run->spool, 0, sizeof(run->spool)) == NULL))
		rc = -EPROTO;
	n = gt_sys_read_text("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	if (!rc && (n == -EMFILE || n == -ENFILE))
		rc = (int)n;
	boot[strcspn(boot, "\n")] = 0;
	gt_host_name(gt_settings.test_host, host, sizeof(host));
	if (!rc && strncmp(host, run->host, sizeof(run->host)))
		rc = OTHER_HOST;
	else if (!rc && strncmp(boot, run->boot_id, sizeof(boot) - 1))
		rc = -ESTALE; /* from before a reboot */
	if (rc == OTHER_HOST && run->state != GT_RUN_OPEN && run->state != GT_RUN_ENDED)
		rc = -ESTALE;
	if (!rc)
		rc = take_share(fd, own);
	if (!rc && gt_sys_pread(fd, run, sizeof(*run), 0) != (ssize_t)sizeof(*run))
		rc = -EPROTO;
	if (!rc && run->state != GT_RUN_OPEN)
		rc = run->state == GT_RUN_ENDED ? reopen(fd) : -ESTALE;
	if (rc) {
		gt_sys_close_own(fd, own);
		return rc;
	}
	return fd;
}

static void release_share(void)
{
	if (share)
		gt_sys_munmap(share, GT_PAGE);
	share = NULL;
}

/*
 * Maps the run's page, and once more what keeps the lock of the descriptor when that is closed: also who has
 * let go of the lock, and the children of such a process, can be counted in the page.
 */
static int map_page(int fd, const struct stat *own)
{
	struct gt_run_header *run = NULL;
	void *lock = NULL;
	char path[1300];
	int error, again;
	bool ours;

	gt_text(path, sizeof(path), "%s/run", home);
	again = gt_sys_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
	/* Both are that file: another thread may have put a file of its own at either number. */
	error = again < 0 ? -again : gt_sys_is_own(again, own) && gt_sys_is_own(fd, own) ? 0 : EBADF;
	if (!error)
		run = gt_sys_map_file(again, 0, GT_PAGE, &error);
	if (!error)
		lock = gt_sys_mmap_errno(GT_PAGE, PROT_NONE, MAP_SHARED, fd, &error);
	ours = !gt_sys_close_own(fd, own);
	ours = !gt_sys_close_own(again, own) && ours;
	if (!ours && !error) /* what was mapped may be a file of the program's */
		error = EBADF;
	if (error && run)
		gt_sys_munmap(run, GT_PAGE);
	if (error && lock)
		gt_sys_munmap(lock, GT_PAGE);
	if (error)
		return -error;
	release_share();
	if (gt_run)
		gt_sys_munmap(gt_run, GT_PAGE);
	gt_run = run;
	share = lock;
	return 0;
}

/* For programs that were linked with gputrace and not started by `gputrace run`: what they start
 * shall find the run. */
static void export_run(void)
{
	char **bigger;
	char *entry;
	size_t n = 0;
	const char *value = gt_text_env(environ, GT_RUN_DIR_VAR);

	if (value && !strcmp(value, gt_run_dir))
		return;
	while (environ && environ[n])
		n++;
	bigger = gt_sys_memory((n + 2) * sizeof(*bigger) + sizeof(gt_run_dir) + 32);
	if (!bigger)
		return;
	entry = (char *)(bigger + n + 2);
	gt_text(entry, sizeof(gt_run_dir) + 32, GT_RUN_DIR_VAR "=%s", gt_run_dir);
	bigger[0] = entry;
	for (size_t i = 0, to = 1; i < n; i++)
		if (strncmp(environ[i], GT_RUN_DIR_VAR "=", sizeof(GT_RUN_DIR_VAR)))
			bigger[to++] = environ[i];
	environ = bigger;
}

/* Are there descriptors for what follows? It cannot be begun twice. */
static int some_free(void)
{
	int fds[3], n = 0, rc = 0;
	struct stat own[3];

	while (n < 3 && rc != -EMFILE) {
		rc = gt_sys_open_own(AT_FDCWD, "/", O_PATH, &own[n]);
		fds[n++] = rc;
	}
	while (n--)
		gt_sys_close_own(fds[n], &own[n]);
	return rc == -EMFILE ? rc : 0;
}

/* A folder in a command that the user may copy. */
static const char *in_command(const char *dir)
{
	static char text[1300];

	return gt_word(text, sizeof(text), dir);
}

/* Nobody could say it when the run before was killed (no `gputrace run`, no handler of ours). */
static void remind(const char *dir)
{
	const char *rank = gt_job_rank(environ);
	char left[1100];

	if ((!rank || !strcmp(rank, "0")) && gt_left_behind(dir, gt_settings.test_host, left, sizeof(left)))
		gt_message(1, "an earlier run was killed; to make its archive: gputrace recover %s",
			   in_command(left));
}

static int create(const char *program, char *why, size_t why_size)
{
	int64_t when;
	uint64_t job = gt_job(environ, &when);
	const struct gt_rundir_wish wish = {
		.parent = gt_settings.pform_gdir,
		.prefix = gt_settings.file_prefix,
		.program = program,
		.local = gt_settings.pform_ldir,
		.host = gt_settings.test_host,
		.job = job,
		.when = when,
	};

	int rc = gt_rundir_create(&wish, gt_run_dir, sizeof(gt_run_dir), why, why_size);

	if (!rc && gt_settings.verbose >= 1)
		remind(gt_run_dir);
	return rc;
}

/* Joins the run in gt_run_dir, with a spool of this host's own if it was made on another one. */
static int join(struct gt_run_header *run, struct stat *own, char *why, size_t why_size)
{
	const struct gt_rundir_wish wish = {
		.local = gt_settings.pform_ldir,
		.host = gt_settings.test_host,
		.job = run->job,
	};
	int fd, rc;

	gt_text(home, sizeof(home), "%s/spool", gt_run_dir);
	fd = open_run(home, run, own);
	if (fd == -EBADF) /* another thread has put a file of its own at its number */
		fd = open_run(home, run, own);
	if (fd != OTHER_HOST)
		return fd;
	rc = gt_rundir_join_host(gt_run_dir, &wish, home, sizeof(home), why, why_size);
	return rc ? rc : open_run(home, run, own);
}

static bool there(const char *path)
{
	struct stat st;

	return !gt_sys_fstatat(AT_FDCWD, path, &st, 0);
}

/* Is there no such run, or no such run any more? Then a new one is begun. */
static bool no_run(int error)
{
	return error == -ESTALE || error == -EPROTO || error == -ENOTDIR || error == -ELOOP ||
	       error == -ENAMETOOLONG;
}

struct joining {
	const char *program;
	char *why;
	size_t why_size;
	const char *folder; /* of the process */
};

/* By its path, or a new run; the page is then mapped. */
static int join_or_create(void *argument)
{
	const struct joining *joining = argument;
	char *why = joining->why;
	size_t why_size = joining->why_size;
	const char *told = gt_text_env(environ, GT_RUN_DIR_VAR);
	struct gt_run_header run = { 0 };
	int fd = -ESTALE, rc;
	struct stat own;

	if (!gt_run_dir[0] && told && *told == '/' && strlen(told) < sizeof(gt_run_dir) - 32)
		gt_text(gt_run_dir, sizeof(gt_run_dir), "%s", told);
	if (gt_run_dir[0]) {
		fd = join(&run, &own, why, why_size);
		if (fd == -EACCES || fd == -EPERM) { /* another user: counted by who started us */
			*why = 0;
			return fd;
		}
		/* It goes on where this process cannot get to any more; what would be found elsewhere is a
		 * part of the run that nobody expects. */
		if (fd < 0 && (gt_run || !no_run(fd))) {
			gt_text(why, why_size, "cannot join the run in %s: %s", gt_run_dir,
				gt_text_errno(fd));
			return fd;
		}
		if (fd < 0)
			gt_message(fd == -ESTALE && there(gt_run_dir) ? 2 : 1,
				   "cannot join the run in %s: %s; starting a new archive",
				   gt_run_dir, gt_text_errno(fd));
	}
	if (fd < 0) {
		rc = some_free();
		if (!rc)
			rc = create(joining->program, why, why_size);
		if (rc)
			return rc;
		fd = join(&run, &own, why, why_size);
		if (fd < 0) {
			gt_text(why, why_size, "cannot write to %s: %s", gt_run_dir,
				gt_text_errno(fd));
			return fd;
		}
	}
	gt_text(spool, sizeof(spool), "%s", run.spool);
	rc = map_page(fd, &own);
	if (rc)
		gt_text(why, why_size, "cannot join the run in %s: %s", gt_run_dir, gt_text_errno(rc));
	return rc;
}

/* Makes the process's folder in `at` and keeps it open. `name` is "p<seq>.<pid>", or "../" and that. */
static int make_folder(int at, const char *name)
{
	int rc = gt_sys_mkdirat(at, name);

	if (rc)
		return rc;
	rc = gt_sys_openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (rc < 0)
		gt_sys_unlinkat(at, name, AT_REMOVEDIR);
	return rc < 0 ? rc : gt_folder_keep(rc);
}

static int make_folder_in_spool(void *joining)
{
	struct stat own;
	int at = gt_sys_open_own(AT_FDCWD, spool, O_DIRECTORY, &own);
	int rc = at < 0 ? at : make_folder(at, ((struct joining *)joining)->folder);

	gt_sys_close_own(at, &own);
	return rc;
}

struct child {
	const struct gt_file *parent;
	uint32_t seq;
};

/*
 * A forked child has its folder beside its parent's, or inside of it if the parent has become a user
 * who may not write anywhere else (gt_hand_over). Neither needs a path.
 */
static int join_as_child(void *argument)
{
	const struct child *child = argument;
	const struct gt_file *parent = child->parent;
	char name[40];
	size_t beside = strlen(gt_proc_folder);
	int rc;

	if (!gt_run || !gt_file_valid(parent))
		return -ESTALE;
	gt_text(name, sizeof(name), "../p%04u.%u", child->seq, (unsigned)gt_pid);
	rc = make_folder(parent->fd, name); /* `nested` is as with the parent */
	while (beside && gt_proc_folder[--beside] != '/')
		;
	if (rc == -EACCES || rc == -EPERM) {
		rc = make_folder(parent->fd, name + 3);
		nested = true;
		beside = strlen(gt_proc_folder);
	}
	if (!rc)
		gt_text(gt_proc_folder + beside, sizeof(gt_proc_folder) - beside, "/%s", name + 3);
	return rc;
}

int gt_run_join(const char *program, const struct gt_file *parent, uint32_t *seq, char *why,
		size_t why_size)
{
	struct joining joining = { program, why, why_size, NULL };
	struct child child = { parent, 0 };
	int rc = -ESTALE;

	numbered = false;
	forked = parent != NULL;
	if (parent && gt_run) {
		*seq = child.seq = __atomic_fetch_add(&gt_run->next_seq, 1, __ATOMIC_RELAXED);
		numbered = true;
		rc = gt_folder_apart(join_as_child, &child, parent->fd);
	}
	if (!rc)
		return 0;
	if (rc != -ESTALE && rc != -ENOENT) { /* it belongs to that run and to no other */
		gt_text(why, why_size, "cannot write to %s: %s", gt_run_dir, gt_text_errno(rc));
		return rc;
	}
	if (numbered)
		__atomic_fetch_add(&gt_run->untraced, 1, __ATOMIC_ACQ_REL);
	numbered = false;
	rc = gt_folder_apart(join_or_create, &joining, -1);
	if (rc && parent)
		gt_run_absent(gt_absent_cause(rc), 1); /* nobody else can have counted it */
	if (rc)
		return rc;
	numbered = true;
	nested = false;
	*seq = __atomic_fetch_add(&gt_run->next_seq, 1, __ATOMIC_RELAXED);
	gt_text(gt_proc_folder, sizeof(gt_proc_folder), "%s/p%04u.%u", spool, *seq, (unsigned)gt_pid);
	joining.folder = strrchr(gt_proc_folder, '/') + 1;
	rc = gt_folder_apart(make_folder_in_spool, &joining, -1);
	if (rc)
		gt_text(why, why_size, "cannot write to %s: %s", spool, gt_text_errno(rc));
	else
		export_run();
	if (!rc)
		gt_run_executes(gt_run, (uint32_t)gt_pid, false);
	if (!rc && gt_run->watched) /* somebody else says what was recorded */
		gt_stderr_drop();
	return rc;
}

/* ---- leaving -------------------------------------------------------------------------------------- */

/* Above the numbers of stdin, stdout and stderr, which the program may have closed. */
static int move_up(int fd, const struct stat *own)
{
	int high = fd >= 0 && fd < 3 ? gt_sys_copy_own(fd, 3, own) : fd;

	if (high >= 0 && high != fd)
		gt_sys_close_own(fd, own);
	return high >= 0 ? high : fd;
}

static void make_part(const char *dir, const char *folder, int fd)
{
	gt_launch_assembly(dir, folder, fd, true);
}

static void say_others_go_on(const char *what)
{
	gt_message(!gt_proc || gt_proc->seq || gt_proc->rank != UINT32_MAX ? 2 : 1,
		   "other %s of this run are still running; the last one writes the archive in %s", what,
		   gt_run_dir);
}

static void assemble(int fd)
{
	enum gt_turn turn;

	if (!gt_settings.unify) {
		gt_message(1, "recorded, not assembled (VT_UNIFY=no): gputrace recover %s",
			   in_command(gt_run_dir));
		return;
	}
	turn = gt_run_turn(gt_run_dir, home, fd, make_part);
	if (turn == GT_TURN_OTHERS)
		say_others_go_on("hosts");
	if (turn != GT_TURN_OURS)
		return;
	gt_run_state_set(fd, GT_RUN_ASSEMBLING);
	if (gt_launch_assembly(gt_run_dir, home, fd, false)) {
		gt_run_state_set(fd, GT_RUN_OPEN);
		gt_warn_once(GT_WARN_TOOL, "cannot start the assembly; the spool is kept; to make the "
			"archive: gputrace recover %s", in_command(gt_run_dir));
	}
}

/* The file of an open descriptor is in a folder that may have another name by now: did it change? */
static bool find_home(int fd)
{
	char path[1300], link[64];
	struct stat was, is;
	ssize_t n;

	gt_text(path, sizeof(path), "%s/run", home);
	if (gt_sys_fstat(fd, &is) || (!gt_sys_fstatat(AT_FDCWD, path, &was, AT_SYMLINK_NOFOLLOW) &&
				      was.st_ino == is.st_ino && was.st_dev == is.st_dev))
		return false;
	gt_text(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = gt_sys_readlink(link, path, sizeof(path) - 1);
	if (n < (ssize_t)strlen("/spool/run") || (size_t)n >= sizeof(gt_run_dir))
		return false;
	path[n] = 0;
	if (gt_sys_fstatat(AT_FDCWD, path, &was, AT_SYMLINK_NOFOLLOW) || was.st_ino != is.st_ino ||
	    was.st_dev != is.st_dev || strcmp(path + n - strlen("/spool/run"), "/spool/run"))
		return false;
	path[n - (ssize_t)strlen("/run")] = 0;
	gt_text(home, sizeof(home), "%s", path);
	gt_text(spool, sizeof(spool), "%s", path);
	path[n - (ssize_t)strlen("/spool/run")] = 0;
	gt_text(gt_run_dir, sizeof(gt_run_dir), "%s", path);
	return true;
}

/* Will somebody else make the archive? */
static bool is_watched(void)
{
	int at = gt_folder();

	if (!gt_run || !gt_run->watched)
		return false;
	if (at >= 0 && !strcmp(spool, home))
		return nested || gt_watched_at(at, "../" GT_WATCH);
	return gt_watched(home);
}

/* The run's header, to lock it: beside the process's folder, whatever that is called now. */
static int open_header(struct stat *own)
{
	char path[1300];
	int at = gt_folder(), fd = -ENOENT;

	if (at >= 0 && !strcmp(spool, home))
		fd = move_up(gt_sys_open_own(at, "../run", O_RDWR | O_NOFOLLOW, own), own);
	if (fd >= 0)
		return fd;
	gt_text(path, sizeof(path), "%s/run", home);
	return move_up(gt_sys_open_own(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, own), own);
}

/* Locks it for this process alone; once more if another thread has put a file of its own at its number. */
static int lock_alone(int *fd, struct stat *own)
{
	int rc = gt_sys_flock_own(*fd, LOCK_EX | LOCK_NB, own);

	if (rc != -EBADF)
		return rc;
	*fd = open_header(own);
	return *fd < 0 ? *fd : gt_sys_flock_own(*fd, LOCK_EX | LOCK_NB, own);
}

/*
 * A process that is just becoming another program joins again within moments, if it does at all: when
 * it has loaded our library, which a large program does long before it can join, it is waited for.
 */
static bool others_alive(int *fd, struct stat *own)
{
	struct gt_survey survey;

	for (int i = 0;; i++) {
		gt_survey(gt_run, spool, (uint32_t)gt_pid, &survey);
		if (survey.alive > survey.between || !survey.between ||
		    (i >= JOIN_TRIES && (i >= JOIN_TRIES_MOST || !gt_process_loaded(survey.pid, LIBRARY))))
			return survey.alive > survey.between;
		gt_sys_flock_own(*fd, LOCK_UN, own);
		gt_sys_sleep_us(JOIN_US);
		if (lock_alone(fd, own))
			return true; /* it has joined */
	}
}

static int leave(void)
{
	bool watched = is_watched(), moved, others;
	struct stat own;
	int fd = open_header(&own);

	if (fd >= 0 && !watched && some_free()) { /* for all that comes; it cannot be begun twice */
		gt_sys_close_own(fd, &own);
		return -EMFILE;
	}
	moved = fd >= 0 && find_home(fd); /* then who watches does not find it */
	if (watched && !moved) {
		gt_sys_close_own(fd, &own);
		return 0;
	}
	if (fd < 0)
		return fd;
	release_share();
	others = lock_alone(&fd, &own) || others_alive(&fd, &own);
	if (fd < 0)
		return fd;
	if (others) {
		/* If the last one is assembling just now, the user wants to find it done. */
		gt_sys_flock_own(fd, LOCK_UN, &own);
		gt_sys_sleep_us(500);
		if (gt_run_state_get(fd) != GT_RUN_ASSEMBLING)
			say_others_go_on("processes");
		else if (gt_may_wait())
			gt_sys_flock_own(fd, LOCK_SH, &own);
	} else {
		assemble(fd);
	}
	gt_sys_close_own(fd, &own);
	return 0;
}

/* ---- who is not in the trace ---------------------------------------------------------------------- */

unsigned gt_absent_cause(int error)
{
	switch (-error) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return GT_ABSENT_SPACE;
	case EACCES:
	case EPERM:
		return GT_ABSENT_USER;
	case ENOMEM:
		return GT_ABSENT_MEMORY;
	}
	return GT_ABSENT_OTHER;
}

/* A process that could not even map the run's page is a byte behind it. */
static int append_absent(void *cause)
{
	const unsigned char byte = (unsigned char)*(unsigned *)cause;
	struct stat own = { 0 };
	char path[1300];
	int fd;

	gt_text(path, sizeof(path), "%s%s/run", *home ? home : gt_run_dir, *home ? "" : "/spool");
	fd = gt_sys_openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	if (!gt_sys_note_named(fd, AT_FDCWD, path, &own)) /* another thread has opened its own file there */
		return -EBADF;
	gt_sys_write(fd, &byte, 1);
	gt_sys_close_own(fd, &own);
	return 0;
}

/* May this user write it, as far as owners and modes say? Landlock lets this call through. */
static bool header_writable(void)
{
	char path[1300];

	gt_text(path, sizeof(path), "%s/run", home);
	return !GT_SYS4(SYS_faccessat2, AT_FDCWD, path, R_OK | W_OK, AT_EACCESS);
}

void gt_run_absent(unsigned cause, int n)
{
	uid_t user = (uid_t)GT_SYS1(SYS_geteuid, 0);

	if (!gt_run && *gt_run_dir && n > 0)
		gt_folder_apart(append_absent, &cause, -1);
	if (!gt_run)
		return;
	if (cause == GT_ABSENT_USER && user == gt_run->uid)
		cause = header_writable() ? GT_ABSENT_SANDBOX : GT_ABSENT_OTHER;
	__atomic_fetch_add(&gt_run->absent[cause], (uint32_t)n, __ATOMIC_RELAXED);
	if (cause == GT_ABSENT_USER)
		gt_run->absent_user = user;
}

void gt_run_waiting(int n)
{
	if (gt_run)
		__atomic_fetch_add(&gt_run->waiting, (uint32_t)n, __ATOMIC_RELAXED);
}

/* Tries what the next program will have to do. */
int gt_next_absent(void)
{
	char path[1300];
	struct stat own;
	int fd;

	if (!gt_run || !gt_takes_part())
		return -1;
	if (gt_sys_refused())
		return GT_ABSENT_SANDBOX;
	if (gt_run->uid != (uid_t)GT_SYS1(SYS_geteuid, 0))
		return GT_ABSENT_USER;
	gt_text(path, sizeof(path), "%s/run", home);
	fd = gt_sys_open_own(AT_FDCWD, path, O_RDWR | O_NOFOLLOW, &own);
	if (fd == -EMFILE || fd == -ENFILE) /* the next program may have some */
		return -1;
	if (fd < 0)
		return (int)gt_absent_cause(fd);
	gt_sys_close_own(fd, &own);
	return -1;
}

static int leave_now(void *unused)
{
	(void)unused;
	return leave();
}

void gt_run_leave(void)
{
	int rc = gt_folder_apart(leave_now, NULL, -1);

	if (rc && !(gt_run && gt_run->watched)) /* else somebody makes it who can get there */
		gt_warn_once(GT_WARN_TOOL, "%s cannot make the archive: %s; when all processes of this "
			"run have ended, run: gputrace recover %s",
			     *gt_proc->program ? gt_proc->program : "this process", gt_text_errno(rc),
			     in_command(gt_run_dir));
	release_share();
}

/* Nobody shall look for what is not there. */
static void remove_folder(void)
{
	char name[64];
	int at = gt_folder();

	gt_text(name, sizeof(name), "../%s", gt_text_base(gt_proc_folder));
	gt_sys_unlinkat(at, "proc", 0);
	gt_sys_unlinkat(at, name, AT_REMOVEDIR);
}

void gt_run_withdraw(int error)
{
	if (!gt_run && !forked && error != -EACCES && error != -EPERM)
		gt_run_absent(gt_absent_cause(error), 1);
	if (!gt_run)
		return;
	if (numbered) {
		gt_journal_forget();
		remove_folder();
		gt_run_absent(gt_absent_cause(error), 1);
		__atomic_fetch_add(&gt_run->untraced, 1, __ATOMIC_ACQ_REL);
	}
	/* Who ended meanwhile has left the archive to us, because we held the lock. */
	gt_run_leave();
	gt_folder_close();
	withdrawn = 1 + gt_absent_cause(error);
}

bool gt_run_withdrawn(void)
{
	return withdrawn;
}

void gt_run_forked_absent(void)
{
	if (withdrawn)
		gt_run_absent(withdrawn - 1, 1);
}
