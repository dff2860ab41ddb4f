/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a recording process: set-up before main (or at the first event, whichever comes
 * first), fork, exec, end. Every step fails into less trace, never into the program.
 *
 * Limits: the program's own descriptors, signals, memory and errno are not touched; what is on disk
 * is always complete, so the end of a process only adds facts (doc/FORMAT.md).
 */
#include "launchers/job.h"
#include "lib/common/process.h"
#include "lib/common/rundir.h"
#include "lib/common/text.h"
#include "lib/record/record.h"
#include "lib/record/verdict.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static int starter;            /* thread that sets up */
static bool handlers_registered;
static int exit_status;
static bool status_comes, status_known, destructed; /* see end_with_status() */
static uint64_t fork_held, fork_masks[4];

/* What a forked child knows of its parent until it sets up. */
static struct {
	bool is_child, waits; /* it is counted as one that has recorded nothing */
	uint32_t seq;
	uint64_t tick, defs_bytes;
	struct gt_file folder;
} parent;

/* Zero in a child that has memory of its own, until it is set there; NULL where the kernel has no such advice. */
static uint32_t *fork_mark;

static void set_fork_mark(void)
{
	if (!fork_mark && !gt_sys_refused()) {
		uint32_t *page = gt_sys_memory(GT_PAGE);

		if (page && gt_sys_madvise(page, GT_PAGE, MADV_WIPEONFORK)) {
			gt_sys_munmap(page, GT_PAGE);
			page = NULL;
		}
		fork_mark = page;
	}
	if (fork_mark)
		*fork_mark = 1;
}

static bool fork_unmarked(void)
{
	return fork_mark && !*fork_mark;
}

/* ---- set-up --------------------------------------------------------------------------------- */

/* Without a /proc it fails, too: then another try does no harm. */
static int read_start_time(void *unused)
{
	(void)unused;
	gt_proc->start_time = gt_process_start_time((uint32_t)gt_pid);
	return gt_proc->start_time ? 0 : -EMFILE;
}

/* The command line as /proc has it; nothing if there is no /proc (any more). */
static char command[GT_NAME_MAX];
static int read_command(void *length)
{
	ssize_t n = gt_sys_read_file("/proc/self/cmdline", 0, command, sizeof(command) - 1);

	if (n < 0)
		return (int)n;
	*(size_t *)length = (size_t)n;
	command[n] = 0;
	return 0;
}

static int copy_journal(void *unused)
{
	(void)unused;
	return gt_journal_copy(parent.folder.fd, parent.defs_bytes);
}

static void program_name(char *name, size_t size)
{
	const char *base = gt_text_base(command);

	if (*base == '-') /* a login shell */
		base++;
	gt_text(name, size, "%s", *base ? base : "program");
}

static int map_header(void *unused)
{
	struct gt_proc_header *header;
	int fd = gt_folder_open("proc", O_RDWR | O_CREAT | O_EXCL);
	int rc;

	(void)unused;
	if (fd < 0)
		return fd;
	gt_sys_fchmod(fd, 0600);
	rc = gt_file_reserve(fd, 0, GT_PAGE);
	header = rc ? NULL : gt_sys_map_file(fd, 0, GT_PAGE, &rc);
	gt_sys_close(fd);
	if (!header)
		return rc > 0 ? -rc : rc;
	*header = gt_proc_early;
	header->version = GT_FORMAT_VERSION;
	header->header_bytes = sizeof(*header);
	gt_proc = header;
	return 0;
}

/* Did a launcher of parallel programs start this one, and as which rank? */
static void put_launcher_rank(void)
{
	const char *rank = gt_job_rank(environ);

	if (rank)
		gt_put_property("launcher-rank", rank);
}

static void put_properties(size_t length)
{
	char text[GT_NAME_MAX];
	ssize_t n = gt_sys_readlink("/proc/self/exe", text, sizeof(text) - 1);

	if (n > 0) {
		text[n] = 0;
		gt_put_property("executable", text);
	}
	for (size_t i = 0; length && i < length - 1; i++)
		if (!command[i])
			command[i] = ' ';
	gt_put_property("command", gt_settings.command_line ? command : gt_text_base(command));
	for (size_t i = 0; i < gt_setting_count; i++) {
		char key[80];

		gt_text(key, sizeof(key), "setting:%s", gt_setting_rows[i].name);
		gt_settings_text(&gt_setting_rows[i], text, sizeof(text));
		gt_put_property(key, text);
	}
	gt_adapters_list();
	put_launcher_rank();
}

static void complain(const char *sentence)
{
	gt_message(1, "%s", sentence);
}

static bool takes_part(void);
static bool born_confined(void);
static void end_confined(int how, int status, uint32_t state);
static void prepare_fork(void);
static void parent_after_fork(void);
static void child_after_fork(void);
static void become_child(void);

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

/*
 * prepare_fork() takes the core's locks, and what runs between it and the fork may have to wait for a
 * thread that needs one: OpenBLAS joins its threads in such a handler. The C library runs these in the
 * reverse order of their registration, so ours is registered before anybody else's and runs last.
 */
GT_EARLY void gt_fork_handlers(void)
{
	static uint32_t done;

	if (!__atomic_exchange_n(&done, 1, __ATOMIC_RELAXED))
		pthread_atfork(prepare_fork, parent_after_fork, child_after_fork);
}

static void register_handlers(void)
{
	if (handlers_registered)
		return;
	handlers_registered = true;
	gt_fork_handlers();
	at_quick_exit(end_quickly);
	status_comes = first_libc() && !on_exit(end_with_status, NULL);
}

/* A child in a sandbox or another root: `gputrace run` says how many could not join. */
static bool reported_by_run(int error)
{
	return parent.is_child && gt_run && gt_run->watched &&
	       gt_absent_cause(error) != GT_ABSENT_SPACE;
}

static bool by_itself; /* the program was started without `gputrace run` */

/* What `gputrace run` would have preloaded a library for: now it is known whether the program has it. */
static void complain_of_start(void)
{
	static const char text[] =
		"%s did nothing: start the program with gputrace run, or link it with --gputrace-wrap=%s";

	if (!by_itself || gt_proc->seq)
		return;
	by_itself = false;
	if (gt_settings.iotrace && !gt_adapters_have("wrap-io"))
		gt_message(1, text, "VT_IOTRACE", "io");
	if (gt_settings.memtrace && !gt_adapters_have("wrap-memory"))
		gt_message(1, text, "VT_MEMTRACE", "memory");
}

static int set_up(void)
{
	char why[1200] = "";
	static char program[256];
	uint64_t begin;
	size_t length = 0;
	uint32_t seq;
	int rc;

	if (!parent.is_child) {
		if (getauxval(AT_SECURE))
			return -EPERM; /* privileged: nothing of gputrace is active, not even a word */
		gt_settings_load(environ, complain);
		by_itself = !gt_text_env(environ, "VT_RUN_DIR");
		if (gt_settings.mode == GT_MODE_OFF)
			return -ECANCELED;
		gt_stderr_keep();
		gt_verdict_setup(complain);
	}
	gt_clock_setup();
	begin = gt_clock_read();
	gt_pid = gt_sys_getpid();
	set_fork_mark();
	gt_folder_apart(read_command, &length, parent.folder.fd);
	if (!*program) /* a child has its parent's: what it made of its arguments is a title, not a name */
		program_name(program, sizeof(program));
	rc = gt_run_join(program, parent.is_child ? &parent.folder : NULL, &seq, why, sizeof(why));
	if (rc) {
		if (*why && !reported_by_run(rc))
			gt_warn_once(GT_WARN_DIRECTORY, "%s; %s runs without being traced", why, program);
		gt_run_withdraw(rc);
		return rc;
	}
	rc = gt_folder_apart(map_header, NULL, -1);
	if (!rc)
		rc = gt_journal_open();
	if (rc) {
		gt_warn_once(GT_WARN_DIRECTORY, "cannot write to %s: %s; %s runs without being traced",
			     gt_proc_folder, gt_text_errno(rc), program);
		gt_run_withdraw(rc);
		return rc;
	}
	gt_locations_setup();
	gt_proc->pid = (uint32_t)gt_pid;
	gt_proc->ppid = (uint32_t)GT_SYS1(SYS_getppid, 0);
	gt_folder_apart(read_start_time, NULL, -1);
	gt_proc->seq = seq;
	gt_proc->parent_seq = parent.is_child ? parent.seq : UINT32_MAX;
	gt_proc->origin = parent.is_child;
	gt_proc->begin = parent.is_child ? parent.tick : begin;
	gt_proc->rank = UINT32_MAX;
	memcpy(gt_proc->host, gt_run->host, sizeof(gt_proc->host)); /* only then it could join */
	gt_text(gt_proc->program, sizeof(gt_proc->program), "%s", program);
	gt_clock_begin();
	gt_proc->state = GT_PROC_RUNNING;
	__atomic_store_n(&gt_proc->magic, GT_MAGIC_PROC, __ATOMIC_RELEASE);
	if (!parent.is_child)
		gt_modules_scan();
	else if (gt_file_valid(&parent.folder)) {
		gt_folder_apart(copy_journal, NULL, parent.folder.fd);
		gt_sys_close(parent.folder.fd);
	}
	put_properties(length);
	/* From here on definitions and events are welcome, from this thread too. */
	__atomic_store_n(&gt_state, GT_READY, __ATOMIC_RELEASE);
	gt_clock_check(); /* from here on the counter's rate is known well enough to see it change */
	gt_adapters_list(); /* who registered meanwhile and found us not ready */
	return 0;
}

static bool wait_for_starter(void)
{
	if (starter == gt_sys_gettid())
		return false; /* we are in the middle of it: an event of our own set-up */
	for (int i = 0; i < 20000 && gt_state_now() == GT_STARTING; i++)
		gt_sys_sleep_us(50);
	return gt_state_now() == GT_READY;
}

bool gt_start(void)
{
	int state = gt_state_now(), rc;
	uint64_t mask;

	if (state == GT_COLD && !gt_confined && born_confined()) {
		gt_confined = 1;
		gt_signals_confine(true);
		gt_verdicts.mode = GT_VERDICT_UNSET;
		__atomic_store_n(&gt_state, GT_DEAD, __ATOMIC_RELEASE);
		return false;
	}
	if (gt_sys_refused())
		return state == GT_READY;
	/* Made by something that runs no fork handlers (_Fork, clone). Its process id says nothing: it may be the
	 * parent's in another namespace. A child of vfork has its parent's memory, and the mark. */
	if ((state == GT_READY || state == GT_FORKED) && fork_unmarked()) {
		gt_forked_raw();
		state = gt_state_now();
	}
	if (state == GT_READY)
		return true;
	if (state == GT_STARTING)
		return wait_for_starter();
	if (state != GT_COLD && state != GT_FORKED)
		return false;
	mask = gt_hold_signals();
	if (!__atomic_compare_exchange_n(&gt_state, &state, GT_STARTING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE)) {
		gt_release_signals(mask);
		return state == GT_READY || (state == GT_STARTING && wait_for_starter());
	}
	starter = gt_sys_gettid();
	rc = set_up();
	if (parent.waits)
		gt_run_waiting(-1);
	parent.waits = false;
	if (rc) {
		gt_verdicts.mode = GT_VERDICT_UNSET; /* sends the hooks to where they are dropped */
		__atomic_store_n(&gt_state, GT_DEAD, __ATOMIC_RELEASE);
	}
	gt_release_signals(mask);
	if (gt_state_now() == GT_READY || gt_run_withdrawn())
		gt_fork_handlers(); /* a library's constructor may fork before ours has run */
	return gt_state_now() == GT_READY;
}

/* A library's constructor that runs before ours is as good a beginning as any. */
int gt_state_begun(void)
{
	int state = gt_state_now(), saved = errno;

	if (gt_unlikely(state == GT_COLD) && environ && !gt_depth) {
		gt_start();
		state = gt_state_now();
		errno = saved;
	}
	return state;
}

bool gt_active(void)
{
	int state = gt_state_begun();
	const struct gt_hot *hot = gt_self;

	return (state == GT_READY || (state == GT_FORKED && !gt_sys_refused())) && !gt_depth &&
	       !(__atomic_load_n(&gt_attention, __ATOMIC_RELAXED) & GT_ATT_OFF) &&
	       !gt_thread_off && hot != &gt_hot_gone && hot != &gt_hot_closed && hot != &gt_hot_lost;
}

/* ---- fork ------------------------------------------------------------------------------------ */

static void prepare_fork(void)
{
	uint64_t held = gt_hold_signals();

	fork_masks[0] = gt_modules_lock();
	fork_held = held; /* now that no other thread that forks can be here */
	fork_masks[1] = gt_verdict_lock();
	fork_masks[2] = gt_locations_lock();
	fork_masks[3] = gt_defs_lock();
}

static void parent_after_fork(void)
{
	uint64_t held = fork_held;

	gt_defs_unlock(fork_masks[3]);
	gt_locations_unlock(fork_masks[2]);
	gt_verdict_unlock(fork_masks[1]);
	gt_modules_unlock(fork_masks[0]);
	gt_release_signals(held);
}

static void become_child(void)
{
	gt_stderr_drop();
	parent.is_child = true;
	parent.seq = gt_proc->seq;
	parent.tick = gt_clock_read();
	parent.defs_bytes = gt_proc->defs_bytes;
	parent.folder = gt_folder_forked();
	gt_locations_forget();
	gt_buffers_forked();
	gt_journal_forget();
	if (gt_proc != &gt_proc_early)
		gt_sys_munmap(gt_proc, GT_PAGE);
	gt_proc = &gt_proc_early;
	memset(&gt_proc_early, 0, sizeof(gt_proc_early));
	__atomic_store_n(&gt_state, GT_FORKED, __ATOMIC_RELEASE);
}

static void in_child(void)
{
	int state = gt_state_now();

	if (gt_sys_refused() && takes_part())
		gt_run_absent(GT_ABSENT_SANDBOX, 1);
	parent.waits = takes_part() && !gt_sys_refused();
	if (parent.waits)
		gt_run_waiting(1);
	gt_pid = gt_sys_getpid();
	set_fork_mark();
	if (state == GT_READY) {
		become_child();
	} else if (state == GT_FORKED) {
		parent.tick = gt_clock_read(); /* the parent never recorded: the grandparent's ids */
		gt_self = &gt_hot_new;
	} else if (state != GT_COLD) {
		gt_run_forked_absent();
		__atomic_store_n(&gt_state, GT_DEAD, __ATOMIC_RELEASE);
		gt_self = &gt_hot_closed;
	}
}

static void child_after_fork(void)
{
	gt_signals_forked(fork_held);
	in_child();
	parent_after_fork();
	if (!gt_sys_refused()) /* else this child records nothing, and they are not active */
		gt_adapters_forked();
}

/* No handler has run: other threads may have held any lock. */
void gt_forked_raw(void)
{
	gt_modules_lock_reset();
	gt_verdict_lock_reset();
	gt_locations_lock_reset();
	gt_defs_lock_reset();
	gt_signals_forked(GT_SIGNALS_KEPT);
	in_child();
	if (!gt_sys_refused())
		gt_adapters_forked();
}

/* ---- end ---------------------------------------------------------------------------------------- */

void gt_finish(int how, int status)
{
	int state = gt_state_now();
	uint64_t mask;

	if (gt_sys_refused()) {
		if (state == GT_READY)
			end_confined(how, status, GT_PROC_ENDED);
		return;
	}
	/* A child that never recorded still was a process of the run. */
	if (state == GT_FORKED && gt_is_our_process())
		state = gt_start() ? GT_READY : GT_DEAD;
	if (state != GT_READY || !gt_is_our_process())
		return;
	complain_of_start();
	gt_adapters_end(how);
	/* At least one location, even if nothing was recorded. (This thread may have none any more.) */
	if (!__atomic_load_n(&gt_proc->locations, __ATOMIC_RELAXED))
		gt_own_location();
	gt_modules_scan();
	if (!__atomic_compare_exchange_n(&gt_state, &state, GT_CLOSING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return; /* another thread was first */
	gt_attention_set(GT_ATT_CLOSING);
	gt_self = &gt_hot_closed;
	gt_clock_note();
	gt_proc->end = gt_clock_read();
	gt_proc->how = (uint32_t)how;
	gt_proc->status = (uint32_t)status & 0xff; /* as a parent sees it */
	__atomic_store_n(&gt_proc->state, GT_PROC_ENDED, __ATOMIC_RELEASE);
	__atomic_store_n(&gt_state, GT_CLOSED, __ATOMIC_RELEASE);
	mask = gt_defs_lock(); /* other threads may be in the middle of a definition */
	gt_journal_forget();
	gt_defs_unlock(mask);
	gt_run_leave(); /* the folder stays open: other threads may be opening a file in it */
}

/* Is this a process of the run, one that will be seen to end or to become another program? */
static bool takes_part(void)
{
	int state = gt_state_now();

	return state == GT_READY || state == GT_FORKED;
}

int gt_next_absent(void)
{
	if (!takes_part())
		return -1;
	return gt_sys_refused() ? GT_ABSENT_SANDBOX : gt_run_next_absent();
}

void gt_exec_begin(const char *path)
{
	if (gt_sys_refused() && gt_state_now() == GT_READY)
		end_confined(GT_END_EXEC, 0, GT_PROC_EXEC);
	if (gt_sys_refused() || !gt_is_our_process())
		return;
	if (parent.waits)
		gt_run_waiting(-1);
	if (gt_state_now() != GT_READY)
		return;
	complain_of_start();
	gt_adapters_end(GT_END_EXEC);
	if (gt_settings.exectrace)
		gt_record(GT_T_EXEC, 0, (uint64_t[2]){ gt_def_string(path ? path : "?"), 0 }, 1);
	gt_modules_scan();
	gt_clock_note();
	gt_proc->end = gt_clock_read();
	gt_proc->how = GT_END_EXEC;
	__atomic_store_n(&gt_proc->state, GT_PROC_EXEC, __ATOMIC_RELEASE);
}

void gt_exec_failed(void)
{
	if (!gt_is_our_process())
		return;
	if (parent.waits)
		gt_run_waiting(1);
	if (gt_state_now() != GT_READY)
		return;
	gt_proc->end = 0;
	gt_proc->how = GT_END_NONE;
	__atomic_store_n(&gt_proc->state, GT_PROC_RUNNING, __ATOMIC_RELEASE);
	gt_adapters_end(GT_END_NONE);
}

/* ---- confined ------------------------------------------------------------------------------------------- */

/*
 * What is mapped is recorded into until it is full; all else needs the kernel. A child that has not
 * recorded yet has no time for that any more.
 */
void gt_confine(bool confined)
{
	int saved = errno;

	if (confined && gt_state_now() == GT_FORKED)
		gt_start();
	if (confined && gt_state_now() == GT_READY) {
		gt_modules_scan();
		gt_own_location();
		gt_clock_note();
	}
	if (confined)
		gt_signals_confine(true);
	__atomic_store_n(&gt_confined, confined, __ATOMIC_SEQ_CST);
	if (!confined)
		gt_signals_confine(false);
	errno = saved;
}

/* The end, or the next program, of a process that is confined: what is mapped is reported. */
static void end_confined(int how, int status, uint32_t state)
{
	gt_proc->end = gt_clock_read();
	gt_proc->how = (uint32_t)how;
	gt_proc->status = (uint32_t)status & 0xff;
	__atomic_store_n(&gt_proc->state, state, __ATOMIC_RELEASE);
}

/*
 * Was a filter added since `gputrace run`? Those from before, of a container or a service manager, let
 * through what programs usually do.
 */
static bool born_confined(void)
{
	const char *told = gt_text_env(environ, GT_FILTERS_VAR);
	unsigned before = 0;

	if (!told || !gt_text_env(environ, GT_RUN_DIR_VAR))
		return false;
	for (; *told >= '0' && *told <= '9'; told++)
		before = before * 10 + (unsigned)(*told - '0');
	return gt_process_filters() > before;
}

/* ---- another user, another root ------------------------------------------------------------------------- */

/*
 * A server's child has often done nothing that is recorded when it gives up its rights, and may not
 * open anything afterwards: sshd sets its limits to 0 before it confines itself.
 */
static bool recording_now(void)
{
	if ((gt_state_now() == GT_FORKED && !gt_start()) || gt_state_now() != GT_READY || !gt_is_our_process())
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
 * What builds a sandbox of namespaces without privileges looks for open directories, which are a way out of it, and
 * ends if it finds one (Chromium). Until its root changes ours is found again by its path; from then on what is mapped
 * is recorded and the rest counted.
 */
void gt_namespace_changes(void)
{
	int saved = errno;

	if (!gt_sys_refused() && recording_now()) {
		given_up = true;
		gt_folder_give_up();
	}
	errno = saved;
}

/*
 * What the process has in its spool folder is opened again later, and its children make their folders
 * there: all that belongs to the new user from now on. The folders above stay closed to him, so nobody
 * but us can get there.
 */
void gt_user_changes(uid_t user)
{
	char buffer[2048];
	int saved = errno, at, list, n;

	if (user == (uid_t)-1 || gt_sys_refused() || !recording_now())
		return;
	at = gt_folder();
	list = at < 0 ? at : gt_sys_openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
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
	if (list >= 0) {
		gt_sys_close(list);
		gt_sys_fchownat(at, "", user, AT_EMPTY_PATH);
	}
	errno = saved;
}

/* ---- constructor, destructor ------------------------------------------------------------------------ */

__attribute__((constructor(101))) static void construct(void)
{
	int saved = errno;

	if (gt_start()) {
		register_handlers();
		gt_own_location();
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
