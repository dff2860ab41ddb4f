/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a recording process, and what comes close to one: it becomes another program, another user, has
 * another root, or confines itself. And the constructor and destructor that see most of it.
 *
 * Limits: what is on disk is always complete, so the end of a process only adds facts (doc/FORMAT.md).
 */
#include "launchers/job.h"
#include "lib/common/text.h"
#include "lib/record/patch.h"
#include "lib/record/record.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int exit_status;
static bool status_comes, status_known, destructed; /* see end_with_status() */

/*
 * What the process has used. The peak is not ru_maxrss: that goes on over exec, and would be the size of
 * who started this program.
 */
static void note_use(void)
{
	const char *at;
	char text[2048];
	struct rusage use;
	uint64_t kib = 0;

	if (GT_SYS2(SYS_getrusage, RUSAGE_SELF, &use))
		return;
	gt_proc->processor_ns = gt_sys_ns_used(&use);
	gt_sys_read_text("/proc/self/status", text, sizeof(text));
	at = strstr(text, "VmHWM:");
	for (at = at ? at + 6 : ""; *at == ' ' || *at == '\t'; at++)
		;
	for (; *at >= '0' && *at <= '9'; at++)
		kib = 10 * kib + (uint64_t)(*at - '0');
	gt_proc->memory_peak = kib << 10;
}

/* The end, or the next program, of a process that is confined: what is mapped is reported. */
static void end_confined(int how, int status, uint32_t state)
{
	gt_adapters_end(how);
	gt_states_note(&gt_proc->states, (uint32_t)gt_pid, true); /* it lived until now: no more is known */
	gt_proc->end = gt_clock_read();
	gt_proc->how = (uint32_t)how;
	gt_proc->status = (uint32_t)status & 0xff;
	__atomic_store_n(&gt_proc->state, state, __ATOMIC_RELEASE);
}

/*
 * Which thread ends the process by exit(), if it is not the main thread: the others end with it. A thread
 * that has ended was the last one.
 */
static void note_exit_thread(int how)
{
	bool exits = how == GT_END_EXIT || how == GT_END__EXIT || how == GT_END_QUICK_EXIT;
	uint32_t tid = (uint32_t)gt_sys_gettid();
	char text[16];

	if (tid == (uint32_t)gt_pid || gt_self == &gt_hot_gone || !exits)
		return;
	gt_text(text, sizeof(text), "%u", tid);
	gt_put_property("exit-thread", text);
}

void gt_finish(int how, int status)
{
	int state = gt_state_now();
	uint64_t mask;

	if (gt_sys_refused()) {
		if (state == GT_READY && gt_is_our_process())
			end_confined(how, status, GT_PROC_ENDED);
		return;
	}
	/* A child that never recorded still was a process of the run. */
	if (state == GT_FORKED && gt_is_our_process()) {
		if (gt_child_ends(how, status))
			return;
		state = gt_start() ? GT_READY : GT_DEAD;
	}
	if (state != GT_READY || !gt_is_our_process())
		return;
	gt_complain_of_start();
	gt_adapters_end(how);
	gt_patch_tell();
	/* Else there is nothing to be named. But a rank may have a library that we cannot record. */
	if (__atomic_load_n(&gt_proc->locations, __ATOMIC_RELAXED) || gt_job_rank(environ))
		gt_modules_scan();
	if (!__atomic_compare_exchange_n(&gt_state, &state, GT_CLOSING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return; /* another thread was first */
	note_exit_thread(how);
	gt_attention_set(GT_ATT_CLOSING);
	gt_self = &gt_hot_closed;
	gt_locations_states();
	gt_quotas_end();
	note_use();
	gt_clock_note();
	gt_proc->end = gt_clock_read();
	gt_proc->how = (uint32_t)how;
	gt_proc->status = (uint32_t)status & 0xff; /* as a parent sees it */
	__atomic_store_n(&gt_proc->state, GT_PROC_ENDED, __ATOMIC_RELEASE);
	__atomic_store_n(&gt_state, GT_CLOSED, __ATOMIC_RELEASE);
	mask = gt_lock(&gt_locks[GT_LOCK_DEFS]); /* other threads may be in the middle of a definition */
	gt_journal_forget();
	gt_unlock(&gt_locks[GT_LOCK_DEFS], mask);
	gt_run_leave(); /* the folder stays open: other threads may be opening a file in it */
}

/* A search in PATH calls exec for each folder: all threads are read only once for it. */
#define ATTEMPTS 10000000 /* ns */
static uint64_t states_read; /* when, for a call that has failed if there is another */

static void read_states(void)
{
	if (gt_monotonic() - __atomic_load_n(&states_read, __ATOMIC_RELAXED) < ATTEMPTS)
		return;
	gt_locations_states();
	gt_quotas_end();
	__atomic_store_n(&states_read, gt_monotonic(), __ATOMIC_RELAXED);
}

void gt_exec_begin(const char *path)
{
	if (gt_sys_refused() && gt_state_now() == GT_READY && gt_is_our_process())
		end_confined(GT_END_EXEC, 0, GT_PROC_EXEC);
	if (gt_sys_refused() || !gt_is_our_process())
		return;
	gt_child_executes(true);
	if (gt_state_now() == GT_FORKED)
		gt_adapters_end_silently(GT_END_EXEC);
	if (gt_state_now() != GT_READY)
		return;
	gt_complain_of_start();
	gt_adapters_end(GT_END_EXEC);
	gt_patch_tell();
	if (gt_settings.exectrace)
		gt_record(GT_T_EXEC, 0, (uint64_t[2]){ gt_def_string(path ? path : "?"), 0 }, 1);
	if (__atomic_load_n(&gt_proc->locations, __ATOMIC_RELAXED))
		gt_modules_scan();
	read_states();
	note_use();
	gt_clock_note();
	gt_proc->end = gt_clock_read();
	gt_proc->how = GT_END_EXEC;
	__atomic_store_n(&gt_proc->state, GT_PROC_EXEC, __ATOMIC_RELEASE);
}

void gt_exec_failed(void)
{
	if (!gt_is_our_process())
		return;
	gt_child_executes(false);
	if (gt_state_now() == GT_FORKED)
		gt_adapters_end_silently(GT_END_NONE);
	if (gt_state_now() != GT_READY)
		return;
	gt_proc->processor_ns = 0;
	gt_proc->end = 0;
	gt_proc->how = GT_END_NONE;
	__atomic_store_n(&gt_proc->state, GT_PROC_RUNNING, __ATOMIC_RELEASE);
	gt_adapters_end(GT_END_NONE);
}

/* ---- confined ------------------------------------------------------------------------------------- */

/*
 * What is mapped is recorded into until it is full; all else needs the kernel. A child that has not
 * recorded yet has no time for that any more.
 */
static void before_confinement(void)
{
	if (gt_state_now() == GT_FORKED)
		gt_start();
	if (gt_state_now() == GT_READY) {
		gt_modules_scan();
		gt_own_location();
		gt_locations_states();
		gt_clock_note();
		gt_memory_reserve();
		gt_journal_make_room();
	}
}

void gt_counter_forbidden(void)
{
	int saved = errno;

	if (gt_state_now() == GT_FORKED)
		gt_start();
	if (gt_state_now() == GT_READY && gt_is_our_process())
		gt_clock_forbid();
	errno = saved;
}

/*
 * Is it only a child of ours, which shares our memory? If we come from fork() and have recorded nothing yet,
 * we begin after it is gone: it cannot begin for us, and has no location then.
 */
static bool confines_child(bool confined)
{
	bool here = gt_confined_here(), begun;

	if (!here) {
		if (!confined || gt_sys_refused())
			return false;
		begun = gt_state_now() == GT_READY && gt_start();
		if (gt_is_our_process() || (!begun && (gt_state_now() != GT_FORKED || gt_fork_unmarked())))
			return false;
		if (begun)
			gt_own_location(); /* while one can be made */
	}
	gt_confined_child(confined ? 1 : -1);
	return true;
}

/* Counted: several threads may try at once, and some of them fail. */
void gt_confine(bool confined)
{
	int saved = errno;

	if (confines_child(confined)) {
		errno = saved;
		return;
	}
	if (confined && !gt_sys_refused())
		before_confinement();
	if (confined) {
		gt_adapters_threads(false);
		gt_signals_confine(true);
	}
	__atomic_fetch_add(&gt_confined, confined ? 1 : -1, __ATOMIC_SEQ_CST);
	if (!confined) {
		gt_signals_confine(false);
		gt_adapters_threads(true);
	}
	errno = saved;
}

/* ---- another user, another root -------------------------------------------------------------- */

/*
 * A server's child has often done nothing that is recorded when it gives up its rights, and may not
 * open anything afterwards: sshd sets its limits to 0 before it confines itself.
 */
static bool recording_now(void)
{
	if ((gt_state_now() == GT_FORKED && !gt_start()) || gt_state_now() != GT_READY ||
	    !gt_is_our_process())
		return false;
	gt_own_location();
	return true;
}

static bool given_up; /* the spool folder, to a sandbox */

void gt_root_changes(void)
{
	int saved = errno;

	if (!gt_sys_refused() && recording_now() && !given_up)
		gt_folder(); /* found by its path for the last time, if the program has closed it */
	errno = saved;
}

/*
 * What builds a sandbox of namespaces without privileges looks for open directories, which are a way out of
 * it, and ends if it finds one (Chromium). Until its root changes ours is found again by its path; from then
 * on what is mapped is recorded and the rest counted.
 */
void gt_namespace_changes(void)
{
	int saved = errno;

	if (!gt_sys_refused() && recording_now()) {
		given_up = true;
		gt_folder_give_up();
	}
	gt_adapters_threads(false);
	errno = saved;
}

void gt_namespace_changed(void)
{
	int saved = errno;

	gt_adapters_threads(true);
	errno = saved;
}

/* The files in it are the new user's from now on, but for the folders of children, who are somebody else. */
static void hand_over_files(int at, uid_t user)
{
	struct stat own;
	int list = gt_sys_open_own(at, ".", O_DIRECTORY, &own), n;
	char buffer[2048];

	while (list >= 0 && (n = gt_sys_getdents(list, buffer, sizeof(buffer))) > 0) {
		for (int i = 0; i < n;) { /* struct linux_dirent64 */
			const char *name = buffer + i + 19;
			unsigned short bytes;

			memcpy(&bytes, buffer + i + 16, sizeof(bytes));
			i += bytes ? bytes : n;
			if (*name != '.' && !(*name == 'p' && name[1] != 'r')) /* not a child's */
				gt_sys_fchownat(at, name, user, AT_SYMLINK_NOFOLLOW);
		}
	}
	gt_sys_close_own(list, &own);
}

/*
 * What the process has in its spool folder is opened again later, and its children make their folders
 * there: all that belongs to the new user from now on. The folders above stay closed to him, so nobody
 * but us can get there.
 */
void gt_user_changes(uid_t user)
{
	int saved = errno, at;

	if (user == (uid_t)-1 || gt_sys_refused() || !recording_now())
		return;
	at = gt_folder();
	if (at >= 0) {
		hand_over_files(at, user);
		gt_sys_fchownat(at, "", user, AT_EMPTY_PATH);
	}
	errno = saved;
}

/*
 * The same of the calling thread alone, which may do so for each request that it serves: what it opens itself
 * is handed over. Root needs nothing of the kind.
 */
void gt_thread_user_changes(uid_t user)
{
	int saved = errno, at;
	char name[24];

	if (user == (uid_t)-1 || !user || gt_sys_refused() || !recording_now())
		return;
	at = gt_folder();
	if (at >= 0 && gt_self->loc) {
		gt_text(name, sizeof(name), "l%u.raw", gt_self->loc->id);
		gt_sys_fchownat(at, name, user, AT_SYMLINK_NOFOLLOW);
		gt_sys_fchownat(at, "proc", user, AT_SYMLINK_NOFOLLOW);
		gt_sys_fchownat(at, GT_CHILDREN, user, AT_SYMLINK_NOFOLLOW);
		gt_sys_fchownat(at, "", user, AT_EMPTY_PATH);
	}
	errno = saved;
}

/* ---- Landlock --------------------------------------------------------------------------------------- */

/* Rights used in the spool folder: LANDLOCK_ACCESS_FS_... of <linux/landlock.h>. */
enum {
	FS_WRITE_FILE = 1 << 1,
	FS_READ_FILE = 1 << 2,
	FS_READ_DIR = 1 << 3,
	FS_REMOVE_DIR = 1 << 4,
	FS_REMOVE_FILE = 1 << 5,
	FS_MAKE_DIR = 1 << 7,
	FS_MAKE_REG = 1 << 8,
	FS_TRUNCATE = 1 << 14,
	FS_OURS = FS_WRITE_FILE | FS_READ_FILE | FS_READ_DIR | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR |
		  FS_MAKE_REG | FS_TRUNCATE,
};

struct path_beneath { /* landlock_path_beneath_attr */
	uint64_t allowed;
	int32_t folder;
} __attribute__((packed));
#define PATH_BENEATH 1

/*
 * Landlock judges a file by where it lies, so that an open folder is of no use. The ruleset that the thread
 * is about to enforce is told to allow what we do in this process's own spool folder, and nothing anywhere
 * else (doc/adr/0021). One right at a time: one that it does not handle must not be asked for.
 */
void gt_landlock_restricts(int ruleset)
{
	struct path_beneath beneath;
	int saved = errno;

	if (!gt_sys_refused() && recording_now()) {
		gt_modules_scan(); /* /proc may be closed to us afterwards */
		beneath.folder = gt_folder();
		for (uint64_t right = 1; beneath.folder >= 0 && right <= FS_OURS; right <<= 1) {
			beneath.allowed = right;
			if (right & FS_OURS)
				GT_SYS4(SYS_landlock_add_rule, ruleset, PATH_BENEATH, &beneath, 0);
		}
	}
	errno = saved;
}

/* ---- constructor, destructor ------------------------------------------------------------------------ */

void gt_note_quick_exit(int status)
{
	exit_status = status & 0xff;
}

static void end_quickly(void)
{
	gt_finish(GT_END_QUICK_EXIT, exit_status);
}

/*
 * The end by exit or by return from main. The C library runs the handlers of on_exit() and the
 * destructors in the reverse order of their registration, and those of the objects that are there
 * from the start are registered after our constructor: then this comes last, and what destructors
 * do is in the trace. In a program that brings gputrace in later it comes before destruct().
 */
static void end_with_status(int status, void *unused)
{
	(void)unused;
	exit_status = status & 0xff;
	if (destructed)
		gt_finish(GT_END_EXIT, exit_status);
	else
		status_known = true;
}

/*
 * A copy of gputrace that dlmopen() has brought in lives with a C library of its own, whose handlers
 * nobody runs. Only in the program's own namespace the first object is the program, without a name.
 */
static bool first_libc(void)
{
	struct link_map *map = NULL;
	Dl_info info;

	if (!dladdr1(&gt_state, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return true;
	while (map->l_prev)
		map = map->l_prev;
	return !map->l_name || !*map->l_name;
}

__attribute__((constructor(101))) static void construct(void)
{
	int saved = errno;
	bool first = first_libc();

	if (!first)
		__atomic_store_n(&gt_modules_apart, true, __ATOMIC_RELAXED);
	if (gt_start()) {
		gt_fork_handlers();
		at_quick_exit(end_quickly);
		status_comes = first && !on_exit(end_with_status, NULL);
	}
	errno = saved;
}

__attribute__((destructor(101))) static void destruct(void)
{
	int saved = errno;

	destructed = true;
	if (status_known || !status_comes)
		gt_finish(GT_END_EXIT, exit_status);
	errno = saved;
}
