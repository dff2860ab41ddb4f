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
#include "lib/record/control.h"
#include "lib/record/record.h"
#include "lib/record/verdict.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>

static int starter;            /* thread that sets up */
static uint64_t fork_held, fork_masks[GT_LOCKS];
static uint64_t fork_at; /* gt_monotonic() when a fork began; 0: none has */

/* A forked child's knowledge of its parent until it is set up. */
static struct {
	bool is_child, waits; /* it is counted as one that has recorded nothing */
	uint32_t seq;
	uint64_t tick, at, defs_bytes; /* at: of the fork (CLOCK_MONOTONIC), before it waited to run */
	struct gt_file folder;
	struct gt_proc_header header;
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

bool gt_fork_unmarked(void)
{
	return fork_mark && !*fork_mark;
}

/* ---- set-up --------------------------------------------------------------------------------- */

/* Without a /proc it fails, too: then another try does no harm. */
static int read_start_time(void *unused)
{
	(void)unused;
	/* Not by number: in a new pid namespace, /proc may still be the old one, where it is another's. */
	gt_proc->start_time = gt_process_start_time(0);
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

/* Not to be begun again because it does not fit. */
static int copy_journal(void *unused)
{
	int rc = gt_journal_copy(parent.folder.fd, parent.defs_bytes);

	(void)unused;
	return rc == -EFBIG ? -ENOSPC : rc;
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
	void *memory = NULL;
	int rc = gt_folder_map("proc", &gt_proc_file, 0, GT_PAGE, &memory);

	(void)unused;
	if (rc)
		return rc;
	header = memory;
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
	gt_put_settings();
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

/* Not before it is known which wrappers the program has. */
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

/*
 * A program linked with one version of gputrace may be run by another one, whose libgputrace.so has another
 * SONAME: then both are here, and one process would be counted as two. The first of the loader's list is the
 * one that the compilers' hooks and the functions we take the place of are bound to, whichever starts first.
 * Asked of the list itself, since others intercept what libc has to walk it. What dlmopen() has brought in
 * is in another list, and records what nobody else can see. The list stays as it is meanwhile: constructors
 * ask, ours or those of libraries before it, and while they run the loader lets no other thread change it.
 */
static bool another_records(void)
{
	bool another = false;

	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		if (map->l_ld == _DYNAMIC)
			return another;
		another = another || gt_is_libgputrace(map->l_name);
	}
	return false;
}

/* What the process may have of them, and what it had been given when it began. */
static void note_processors(const struct gt_sched *given, bool known)
{
	/* Of a child of one without quotas nothing is known: it may have been moved to another group. */
	if (!parent.is_child || parent.header.quotas[0].group)
		gt_quotas_begin();
	if (parent.is_child) {
		gt_states_born(&gt_proc->states, parent.at);
		return;
	}
	gt_states_begin(&gt_proc->states, given, known);
	gt_proc->states.tick = gt_proc->begin;
	/* later the first thread may be bound to one of them */
	GT_SYS3(SYS_sched_getaffinity, 0, sizeof(gt_proc->processors), gt_proc->processors);
}

static int set_up(void)
{
	char why[1200] = "";
	static char program[256];
	struct gt_moment moment;
	uint64_t begin;
	struct gt_sched given;
	size_t length = 0;
	uint32_t seq;
	bool known;
	int rc;

	if (!parent.is_child) {
		if (getauxval(AT_SECURE))
			return -EPERM; /* privileged: nothing of gputrace is active, not even a word */
		if (another_records()) /* which says so (modules.c) */
			return -EALREADY;
		gt_settings_load(environ, complain);
		by_itself = !gt_text_env(environ, "VT_RUN_DIR");
		if (gt_settings.mode == GT_MODE_OFF)
			return -ECANCELED;
		gt_stderr_keep();
		gt_verdict_setup(complain);
	}
	gt_pid = gt_sys_getpid();
	known = !parent.is_child && gt_states_read((uint32_t)gt_pid, &given);
	gt_clock_now(&moment);
	set_fork_mark();
	if (parent.is_child) /* while gt_proc_folder is the parent's */
		gt_folder_of_parent(&parent.folder);
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
	begin = gt_clock_setup(&moment);
	rc = gt_folder_apart(map_header, NULL, -1);
	if (!rc)
		rc = gt_journal_open();
	if (rc) {
		gt_warn_once(GT_WARN_DIRECTORY, "cannot write to %s: %s; %s runs without being traced",
			     gt_proc_folder, gt_text_errno(rc), program);
		gt_run_withdraw(rc);
		return rc;
	}
	gt_clock_begin(); /* as early as can be: what follows takes the time that gt_clock_check() needs */
	gt_locations_setup();
	gt_proc->pid = (uint32_t)gt_pid;
	gt_proc->ppid = (uint32_t)GT_SYS1(SYS_getppid, 0);
	gt_folder_apart(read_start_time, NULL, -1);
	gt_proc->seq = seq;
	gt_proc->parent_seq = parent.is_child ? parent.seq : UINT32_MAX;
	gt_proc->origin = parent.is_child;
	gt_proc->begin = parent.is_child ? parent.tick : begin;
	gt_proc->rank = UINT32_MAX;
	note_processors(&given, known);
	memcpy(gt_proc->host, gt_run->host, sizeof(gt_proc->host)); /* only then it could join */
	gt_text(gt_proc->program, sizeof(gt_proc->program), "%s", program);
	gt_proc->state = GT_PROC_RUNNING;
	/* Pairs with map_header() in live/follow.c. */
	__atomic_store_n(&gt_proc->magic, GT_MAGIC_PROC, __ATOMIC_RELEASE);
	if (!parent.is_child)
		__atomic_store_n(&gt_modules_dirty, 1, __ATOMIC_RELAXED); /* the first event looks */
	else if (gt_file_valid(&parent.folder)) {
		struct gt_file done = parent.folder;

		gt_folder_apart(copy_journal, NULL, done.fd);
		gt_file_close(&done);
	}
	put_properties(length);
	/* From here on definitions and events are welcome, from this thread too. */
	__atomic_store_n(&gt_state, GT_READY, __ATOMIC_RELEASE); /* pairs with gt_state_now() */
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
	if ((state == GT_READY || state == GT_FORKED) && gt_fork_unmarked()) {
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

bool gt_active_inside(void)
{
	int state = gt_state_begun();
	const struct gt_hot *hot = gt_self;

	return (state == GT_READY || (state == GT_FORKED && !gt_sys_refused())) &&
	       !(__atomic_load_n(&gt_attention, __ATOMIC_RELAXED) & GT_ATT_OFF) &&
	       !gt_thread_off && hot != &gt_hot_gone && hot != &gt_hot_closed && hot != &gt_hot_lost;
}

void gt_lost_inactive(unsigned events)
{
	const struct gt_hot *hot = gt_self;
	int state = gt_state_now();

	if (gt_thread_off || state == GT_DEAD ||
	    (__atomic_load_n(&gt_attention, __ATOMIC_RELAXED) & GT_ATT_OFF))
		return;
	if (state == GT_CLOSING || state == GT_CLOSED || hot == &gt_hot_gone || hot == &gt_hot_closed)
		gt_count_lost(GT_LOSS_LATE, events);
	else if (hot == &gt_hot_lost)
		gt_count_lost(__atomic_load_n(&gt_no_location, __ATOMIC_RELAXED), events);
	else if (state == GT_FORKED)
		gt_count_lost(GT_LOSS_SANDBOX, events);
}

bool gt_active(void)
{
	return !gt_depth && gt_active_inside();
}

/* ---- fork ------------------------------------------------------------------------------------ */

static void prepare_fork(void)
{
	uint64_t held = gt_hold_signals();

	for (int i = 0; i < GT_LOCKS; i++)
		fork_masks[i] = gt_lock(&gt_locks[i]);
	fork_held = held; /* now that no other thread that forks can be here */
	fork_at = gt_monotonic();
	gt_locks_forking(true);
}

static void parent_after_fork(void)
{
	uint64_t held = fork_held;

	fork_at = 0;
	gt_locks_forking(false);
	for (int i = GT_LOCKS; i--;)
		gt_unlock(&gt_locks[i], fork_masks[i]);
	gt_release_signals(held);
}

static void become_child(void)
{
	gt_stderr_drop();
	parent.is_child = true;
	parent.header = *gt_proc;
	parent.seq = parent.header.seq;
	parent.tick = gt_clock_read();
	parent.at = fork_at ? fork_at : gt_monotonic();
	parent.defs_bytes = parent.header.defs_bytes;
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

/* ---- a child that has recorded nothing --------------------------------------------------------- */

/*
 * Children of shells and servers often end at once. A folder with its files would cost them more than all
 * that they do, so such a child is a record in a file of the process that it was forked from.
 */
static struct gt_proc_header child; /* not on small stacks */
static uint64_t child_end;          /* where its record ends in that file; 0: there is none */
static struct gt_file children;     /* that file */

static int append_to(struct gt_file *file)
{
	struct stat st;
	int rc = gt_sys_fstatat(parent.folder.fd, GT_CHILDREN, &st, AT_SYMLINK_NOFOLLOW);
	ssize_t n;

	if (rc)
		return rc; /* it is left open: nobody knows whose it is */
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	if (!gt_file_valid(file)) /* another thread has put a file of its own there */
		return -EBADF;
	if ((st.st_mode & 0600) != 0600) /* a umask */
		gt_sys_fchmodat(parent.folder.fd, GT_CHILDREN, 0600);
	n = gt_sys_write(file->fd, &child, sizeof(child));
	if (n == (ssize_t)sizeof(child))
		child_end = (uint64_t)GT_SYS3(SYS_lseek, file->fd, 0, SEEK_CUR);
	children = *file;
	gt_file_close(file);
	return n == (ssize_t)sizeof(child) ? 0 : n < 0 ? (int)n : -ENOSPC;
}

static int append_child(void *unused)
{
	struct gt_file file = { .fd = -1 };

	file.fd = gt_sys_openat(parent.folder.fd, GT_CHILDREN,
				O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	(void)unused;
	return file.fd < 0 ? file.fd : append_to(&file);
}

static void fill_child(struct gt_proc_header *header, int how, int status)
{
	struct rusage use = { .ru_maxrss = 0 };

	*header = parent.header;
	memcpy(header->lost, gt_proc->lost, sizeof(header->lost)); /* by adapters, since it was forked */
	memset(header->processors, 0, sizeof(header->processors));
	header->quotas_known = 0; /* nobody has read its own */
	memset(&header->last, 0, sizeof(header->last));
	GT_SYS2(SYS_getrusage, RUSAGE_SELF, &use);
	header->processor_ns = gt_sys_ns_used(&use);
	header->memory_peak = 0;
	header->locations = header->defs_bytes = 0;
	gt_states_born(&header->states, parent.at);
	gt_states_note(&header->states, (uint32_t)gt_pid, true);
	header->pid = (uint32_t)gt_pid;
	header->ppid = (uint32_t)GT_SYS1(SYS_getppid, 0);
	header->start_time = 0;
	header->seq = __atomic_fetch_add(&gt_run->next_seq, 1, __ATOMIC_RELAXED);
	header->parent_seq = parent.seq;
	header->origin = 1;
	header->begin = parent.tick;
	header->end = gt_clock_read();
	header->how = (uint32_t)how;
	header->status = (uint32_t)status & 0xff;
	header->state = GT_PROC_ENDED;
	header->rank = UINT32_MAX;
}

static int map_child(void *header)
{
	uint64_t at = child_end - sizeof(child), from = at / gt_page_size() * gt_page_size();
	char *mapped;
	int rc = gt_folder_open(GT_CHILDREN, &children);

	if (rc)
		return rc;
	mapped = gt_sys_map_file(children.fd, from, child_end - from, &rc);
	if (mapped && !gt_file_valid(&children)) { /* it was not ours any more */
		gt_sys_munmap(mapped, child_end - from);
		mapped = NULL;
		rc = EBADF;
	}
	gt_file_close(&children);
	if (mapped)
		*(struct gt_proc_header **)header = (struct gt_proc_header *)(mapped + (at - from));
	return -rc;
}

/*
 * Handlers and destructors that run after ours, and threads that still run, may lose events when the child's
 * record has been written: from the first one on it is counted there.
 */
static void child_late(void)
{
	struct gt_proc_header *header;
	static uint32_t begun;

	if (!child_end || child_end % sizeof(uint64_t) || gt_sys_refused() ||
	    __atomic_exchange_n(&begun, 1, __ATOMIC_RELAXED) || gt_folder_apart(map_child, &header, -1))
		return;
	__atomic_store_n(&gt_proc, header, __ATOMIC_RELEASE);
	for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
		__atomic_fetch_add(&header->lost[cause],
				   __atomic_exchange_n(&gt_proc_early.lost[cause], 0, __ATOMIC_RELAXED),
				   __ATOMIC_RELAXED);
}

bool gt_child_ends(int how, int status)
{
	int expected = GT_FORKED;

	if (!gt_run || gt_state_now() != expected || gt_adapters_record_end() ||
	    !gt_folder_of_parent(&parent.folder) ||
	    !__atomic_compare_exchange_n(&gt_state, &expected, GT_CLOSING, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return false;
	fill_child(&child, how, status);
	if (gt_folder_apart(append_child, NULL, parent.folder.fd)) {
		__atomic_fetch_add(&gt_run->untraced, 1, __ATOMIC_ACQ_REL); /* the number is not used */
		__atomic_store_n(&gt_state, GT_FORKED, __ATOMIC_RELEASE);
		return false;
	}
	for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
		__atomic_fetch_sub(&gt_proc->lost[cause], child.lost[cause], __ATOMIC_RELAXED);
	gt_adapters_end(how);
	gt_proc->seq = child.seq;
	if (parent.waits)
		gt_run_waiting(-1);
	parent.waits = false;
	gt_self = &gt_hot_closed;
	gt_counts_late = child_late;
	__atomic_store_n(&gt_state, GT_CLOSED, __ATOMIC_RELEASE);
	gt_folder_adopt(&parent.folder); /* the run is found from there, whatever its path is now */
	gt_run_leave();
	return true;
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
		parent.at = fork_at ? fork_at : gt_monotonic();
		memset(gt_proc->lost, 0, sizeof(gt_proc->lost)); /* it says what it has lost itself */
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
