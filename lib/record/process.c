/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The beginning of a recording process: set-up before main (or at the first event, whichever comes
 * first), and fork. Every step fails into less trace, never into the program. (Its end: finish.c.)
 *
 * Limits: the program's own descriptors, signals, memory and errno are not touched; what is on disk
 * is always complete, so the end of a process only adds facts (doc/FORMAT.md).
 */
#include "launchers/job.h"
#include "lib/common/ending.h"
#include "lib/common/process.h"
#include "lib/common/rundir.h"
#include "lib/common/text.h"
#include "lib/record/record.h"
#include "lib/record/verdict.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>

static int starter;            /* thread that sets up */
static uint64_t fork_held, fork_masks[GT_LOCKS];

/* What a forked child knows of its parent until it sets up. */
static struct {
	bool is_child, waits; /* it is counted as one that has recorded nothing */
	uint32_t seq;
	uint64_t tick, defs_bytes;
	struct gt_file folder;
} parent;

/*
 * Zero in a child that has memory of its own, until it is set there; NULL where the kernel has no such
 * advice.
 */
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

static void prepare_fork(void);
static void parent_after_fork(void);
static void child_after_fork(void);
static void become_child(void);

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

/* A child in a sandbox or another root: `gputrace run` says how many could not join. */
static bool reported_by_run(int error)
{
	return parent.is_child && gt_run && gt_run->watched &&
	       gt_absent_cause(error) != GT_ABSENT_SPACE;
}

static bool by_itself; /* the program was started without `gputrace run` */

/* What `gputrace run` would have preloaded a library for: now it is known whether the program has it. */
void gt_complain_of_start(void)
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
	if (!parent.is_child) /* later the first thread may be bound to one of them */
		GT_SYS3(SYS_sched_getaffinity, 0, sizeof(gt_proc->processors), gt_proc->processors);
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

void gt_copy_unrecorded(void)
{
	gt_verdicts.mode = GT_VERDICT_UNSET;
	__atomic_store_n(&gt_state, GT_DEAD, __ATOMIC_RELEASE);
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
	/* Made by something that runs no fork handlers (_Fork, clone). Its process id says nothing: it may be
	 * the parent's in another namespace. A child of vfork has its parent's memory, and the mark. */
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

	for (int i = 0; i < GT_LOCKS; i++)
		fork_masks[i] = gt_lock(&gt_locks[i]);
	fork_held = held; /* now that no other thread that forks can be here */
}

static void parent_after_fork(void)
{
	uint64_t held = fork_held;

	for (int i = GT_LOCKS; i--;)
		gt_unlock(&gt_locks[i], fork_masks[i]);
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

void gt_child_executes(bool begins)
{
	if (!parent.waits)
		return;
	gt_run_waiting(begins ? -1 : 1);
	if (gt_run)
		gt_run_executes(gt_run, (uint32_t)gt_pid, begins);
}

static void in_child(void)
{
	int state = gt_state_now();

	if (gt_sys_refused() && gt_takes_part())
		gt_run_absent(GT_ABSENT_SANDBOX, 1);
	parent.waits = gt_takes_part() && !gt_sys_refused();
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

void gt_fork_returns(void)
{
	int saved = errno;

	if (!gt_sys_refused() && gt_is_our_process())
		gt_adapters_fork_returns();
	errno = saved;
}

/* No handler has run: other threads may have held any lock. */
void gt_forked_raw(void)
{
	memset(gt_locks, 0, sizeof(gt_locks));
	gt_signals_forked(GT_SIGNALS_KEPT);
	in_child();
	if (!gt_sys_refused())
		gt_adapters_forked();
}
