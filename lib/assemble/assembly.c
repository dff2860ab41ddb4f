/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From an open spool to an archive in its place: numbers what is in it, converts the locations on several
 * threads, closes the archive, tidies up.
 *
 * Limits: the spool is kept until the archive is complete, unless the disk is full
 * and the space of what has been converted will be enough for the rest.
 */
#include "config.h"

#include "lib/assemble/assembly.h"
#include "lib/assemble/archive/clean.h"
#include "lib/assemble/archive/conversion.h"
#include "lib/assemble/halves.h"
#include "lib/assemble/spool/deferred.h"
#include "lib/assemble/spool/stream_sort.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MOST  24u                  /* about 6 MiB each */
#define PIPE_LEAST    (UINT64_C(8) << 20)  /* bytes of slots: below, a second thread is not worth it */
#define SMALL_BYTES   (UINT64_C(4) << 20)  /* of an archive */
#define KEPT_BYTES    (16 << 20)
#define BAR_AFTER_MS  2000
#define BAR_EVERY_MS  200
#define BAR_WIDTH     40
#define MEASUREMENT   6 /* OTF2_PARADIGM_MEASUREMENT_SYSTEM */

static mode_t users_mask;

static void prepare_process(void)
{
	static bool done;
	struct rlimit limit;
	mode_t mask = umask(077);

	if (!done)
		users_mask = mask;
	done = true;
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* ---- a full disk ------------------------------------------------------------------------------------ */

static void consumed(void *context, uint32_t location, uint64_t offset)
{
	struct gt_assembly *a = context;

	__atomic_store_n(&a->consumed[location], offset, __ATOMIC_RELAXED);
}

/* Frees what has been read of one location's .raw file. Returns the number of bytes. */
static uint64_t free_consumed(struct gt_assembly *a, uint32_t location)
{
	const struct gt_loc *loc = a->layout.locations[location].loc;
	uint64_t to = __atomic_load_n(&a->consumed[location], __ATOMIC_RELAXED);
	uint64_t from = a->freed[location];
	struct stat st;
	int fd, rc;

	if (to / GT_PAGE * GT_PAGE <= from || loc->raw_end == loc->begin)
		return 0;
	fd = gt_loc_open(loc, "raw", O_RDWR);
	if (fd < 0)
		return 0;
	rc = fstat(fd, &st);
	if (to > (uint64_t)st.st_size)
		to = ((uint64_t)st.st_size + GT_PAGE - 1) / GT_PAGE * GT_PAGE;
	to = to / GT_PAGE * GT_PAGE;
	if (!rc && to > from)
		rc = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
			       (off_t)(to - from));
	close(fd);
	if (rc || to <= from)
		return 0;
	a->freed[location] = to;
	return to - from;
}

static bool make_room(void *context, uint64_t bytes)
{
	struct gt_assembly *a = context;
	uint64_t freed = 0;

	(void)bytes;
	if (!a->may_eat)
		return false;
	pthread_mutex_lock(&a->room_lock);
	for (uint32_t i = 0; i < a->layout.location_count; i++)
		freed += free_consumed(a, i);
	if (freed)
		a->eaten = true;
	pthread_mutex_unlock(&a->room_lock);
	return freed > 0;
}

/* Of streams that hold records of other locations. */
static uint64_t deferred_bytes(const struct gt_spool *spool)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < spool->proc_count; i++)
		for (size_t k = 0; k < spool->procs[i].loc_count; k++)
			if (spool->procs[i].locs[k].win.kind == GT_LOC_DEFERRED)
				bytes += spool->procs[i].locs[k].end - spool->procs[i].locs[k].begin;
	return bytes;
}

/*
 * About the most that the archive can take: a slot of 16 bytes becomes up to 13 bytes; with sets of
 * parameters, which stand beside three other slots, twice as much.
 */
static uint64_t archive_bytes(const struct gt_assembly *a)
{
	uint64_t bytes = a->total_bytes + deferred_bytes(&a->spool);

	for (size_t i = 0; i < a->spool.proc_count; i++)
		if (gt_journal_count(&a->spool.procs[i].journal, GT_D_PARAMS)) {
			bytes *= 2;
			break;
		}
	return bytes / 16 * 13 + (uint64_t)a->layout.location_count * 1024;
}

/*
 * Is freeing the spool while it is converted worth its risk? Only if there will be room for the
 * whole archive then.
 */
static bool worth_eating(const struct gt_assembly *a)
{
	uint64_t need = archive_bytes(a) + (UINT64_C(24) << 20), have = 0;
	struct statvfs fs;
	struct stat st, home;

	if (fstatvfs(a->dirfd, &fs) || fstat(a->dirfd, &home))
		return false;
	have = (uint64_t)fs.f_bavail * fs.f_frsize;
	for (uint32_t i = 0; i < a->layout.location_count; i++) {
		int fd = gt_loc_open(a->layout.locations[i].loc, "raw", O_RDONLY);

		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && st.st_dev == home.st_dev)
			have += (uint64_t)st.st_blocks * 512;
		close(fd);
		if (have > need)
			break;
	}
	return have > need;
}

/* ---- the workers --------------------------------------------------------------------------------------- */

static void *work(void *argument)
{
	struct gt_worker *worker = argument;
	struct gt_assembly *a = worker->conv->context;
	uint32_t i;

	while ((i = __atomic_fetch_add(&a->next, 1, __ATOMIC_RELAXED)) < a->layout.location_count)
		if (gt_convert_location(worker, a->order[i]))
			break;
	pthread_mutex_lock(&a->lock);
	a->running--;
	pthread_cond_signal(&a->idle);
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void draw_bar(struct gt_assembly *a)
{
	uint64_t done = __atomic_load_n(&a->conv.done_bytes, __ATOMIC_RELAXED);
	unsigned percent = a->total_bytes ? (unsigned)(done * 100 / a->total_bytes) : 100;
	char bar[BAR_WIDTH + 1];

	percent = percent > 100 ? 100 : percent;
	for (unsigned i = 0; i < BAR_WIDTH; i++)
		bar[i] = i * 100 < percent * BAR_WIDTH ? '#' : '.';
	bar[BAR_WIDTH] = 0;
	fprintf(stderr, "\r[gputrace] assembling [%s] %3u %%", bar, percent);
	fflush(stderr);
}

/* Waits until all workers are done, and shows how far they are if that takes long. */
static void wait_for_workers(struct gt_assembly *a)
{
	bool show = a->options->verbose >= 1 && !a->how && isatty(STDERR_FILENO), drawn = false;
	uint64_t begin = now_ms();

	pthread_mutex_lock(&a->lock);
	while (a->running) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += BAR_EVERY_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&a->idle, &a->lock, &until);
		if (show && a->running && now_ms() - begin > BAR_AFTER_MS) {
			draw_bar(a);
			drawn = true;
		}
	}
	pthread_mutex_unlock(&a->lock);
	if (drawn)
		fprintf(stderr, "\r\033[K");
}

/* The processors that may be used. */
static unsigned processors(const struct gt_assembly *a)
{
	long there = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = a->options->threads;

	if (!n)
		n = there > 0 ? (unsigned)there : 1;
	return n > THREADS_MOST ? THREADS_MOST : n;
}

static unsigned choose_threads(const struct gt_assembly *a)
{
	unsigned n = processors(a);

	if (n > a->layout.location_count)
		n = a->layout.location_count;
	return n ? n : 1;
}

/*
 * A location that takes longer than its share of the work would keep the other processors waiting:
 * it gets a second thread.
 */
static uint64_t longest_alone(const struct gt_assembly *a)
{
	uint64_t share = a->total_bytes / processors(a) * 6 / 5;

	if (processors(a) < 2)
		return UINT64_MAX;
	return share > PIPE_LEAST ? share : PIPE_LEAST;
}

static int convert_all(struct gt_assembly *a)
{
	pthread_t threads[THREADS_MOST];
	unsigned started = 0;
	int rc = 0;

	a->workers = calloc(a->worker_count, sizeof(*a->workers));
	if (!a->workers)
		return -ENOMEM;
	for (unsigned i = 0; !rc && i < a->worker_count; i++)
		rc = gt_worker_init(&a->workers[i], &a->conv);
	if (rc)
		return rc;
	/* This thread shows the progress; if no other can be made, it works itself. */
	for (unsigned i = 0; i < a->worker_count; i++) {
		pthread_mutex_lock(&a->lock);
		a->running++;
		pthread_mutex_unlock(&a->lock);
		if (!pthread_create(&threads[started], NULL, work, &a->workers[i]))
			started++;
		else
			work(&a->workers[i]);
	}
	wait_for_workers(a);
	while (started)
		pthread_join(threads[--started], NULL);
	return 0;
}

/* ---- preparing ------------------------------------------------------------------------------- */

static uint64_t stream_bytes(const struct gt_assembly *a, uint32_t location)
{
	const struct gt_loc *loc = a->layout.locations[location].loc;

	return loc->end - loc->begin;
}

static int longer_first(const void *x, const void *y, void *assembly)
{
	uint64_t a = stream_bytes(assembly, *(const uint32_t *)x);
	uint64_t b = stream_bytes(assembly, *(const uint32_t *)y);

	return (a < b) - (a > b);
}

static int make_order(struct gt_assembly *a)
{
	uint32_t n = a->layout.location_count;

	a->order = calloc(n, sizeof(*a->order));
	a->consumed = calloc(n, sizeof(*a->consumed));
	a->freed = calloc(n, sizeof(*a->freed));
	if (!a->order || !a->consumed || !a->freed)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		a->order[i] = i;
		a->total_bytes += stream_bytes(a, i);
	}
	qsort_r(a->order, n, sizeof(*a->order), longer_first, a);
	return 0;
}

static int make_names(struct gt_assembly *a)
{
	struct gt_attribute_def process_id = {
		.name = gt_defs_string(&a->defs, "ProcessId"),
		.description = gt_defs_string(&a->defs, "Process identification number"),
		.type = 4, /* OTF2_TYPE_UINT64 */
	};
	int rc = 0;

	a->conv.names = calloc(a->spool.proc_count, sizeof(*a->conv.names));
	a->symbolizer.symbols = gt_symbols_new();
	a->symbolizer.groups = gt_names_groups();
	if (!a->conv.names || !a->symbolizer.symbols)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < a->spool.proc_count; i++)
		rc = gt_names_make(&a->conv.names[i], &a->spool.procs[i], &a->defs, &a->symbolizer);
	a->conv.region_off = gt_defs_own_region(&a->defs, "MEASUREMENT OFF", MEASUREMENT);
	a->conv.region_flush = gt_defs_own_region(&a->defs, "TRACE BUFFER FLUSH", MEASUREMENT);
	a->conv.process_id = gt_defs_attribute(&a->defs, &process_id);
	return rc;
}

static int prepare(struct gt_assembly *a)
{
	int rc = gt_defs_init(&a->defs);

	gt_halves_load(a, &a->spool);
	a->defs.note_spoken = a->how != GT_HOW_WHOLE;
	if (!rc && a->how == GT_HOW_ALONE && gt_messages_any(&a->spool))
		rc = -EAGAIN; /* their partners may be on other hosts */
	if (!rc)
		rc = gt_halves_scan(a);
	if (!rc)
		rc = gt_layout_make(&a->layout, &a->spool, &a->defs);
	if (!rc)
		rc = a->how ? gt_clock_alone(&a->clock, &a->spool, &a->origins)
			    : gt_clock_make(&a->clock, &a->spool);
	if (!rc)
		rc = make_names(a);
	if (!rc)
		rc = make_order(a);
	if (!rc)
		rc = gt_halves_define(a);
	if (!rc)
		rc = gt_messages_pair(&a->messages, &a->spool, &a->layout, &a->clock, &a->defs,
				      a->workfd);
	if (rc)
		snprintf(a->why, sizeof(a->why), "%s", strerror(-rc));
	return rc;
}

/* libotf2 clears 4 MiB again and again: for little data, most of the time goes into making the pages. */
static void keep_memory(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

static int open_archive(struct gt_assembly *a)
{
	struct gt_archive_options options = {
		.mode = a->how ? GT_ARCHIVE_PART : GT_ARCHIVE_WHOLE,
		.late_defs = gt_assembly_orders(a),
		.dirfd = a->workfd,
		.locations = a->layout.location_count,
		.bytes = archive_bytes(a) * 2,
		.make_room = make_room,
		.context = a,
	};

	if (options.bytes < SMALL_BYTES)
		keep_memory();
	a->may_eat = worth_eating(a);
	a->worker_count = choose_threads(a);
	options.threads = a->worker_count;
	a->conv.archive = gt_archive_open(&options, a->why, sizeof(a->why));
	a->conv.spool = &a->spool;
	a->conv.workfd = a->workfd;
	a->conv.defs = &a->defs;
	a->conv.layout = &a->layout;
	a->conv.clock = &a->clock;
	a->conv.messages = a->messages;
	a->conv.assembly = a;
	a->conv.kinds = gt_halves_kinds;
	a->conv.clock_of = a->origins.which;
	if (options.late_defs || (a->options->in_order && a->how))
		a->conv.order = gt_order_open(a->workfd);
	a->conv.pipe_over = longest_alone(a);
	a->conv.consumed = consumed;
	a->conv.context = a;
	return a->conv.archive ? 0 : -EIO;
}

/* ---- putting together ------------------------------------------------------------------------ */

/* Adds up what the workers have counted. */
static void merge(struct gt_assembly *a, struct gt_tally *tally)
{
	memset(tally, 0, sizeof(*tally));
	for (unsigned i = 0; i < a->worker_count; i++)
		gt_tally_add(tally, &a->workers[i].tally);
	tally->paths = a->defs.paths;
}

static bool truncated(const struct gt_assembly *a)
{
	for (uint32_t i = 0; i < a->layout.location_count; i++)
		if (a->layout.locations[i].cut_short)
			return true;
	return false;
}

void gt_assembly_mark(const struct gt_assembly *a, uint32_t state)
{
	for (size_t i = 0; i < a->spool.root_count; i++) {
		const char *name = a->spool.roots[i].name;
		char path[160];
		int fd;

		snprintf(path, sizeof(path), "spool/%s%srun", name, *name ? "/" : "");
		fd = openat(a->dirfd, path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (pwrite(fd, &state, sizeof(state), offsetof(struct gt_run_header, state)) < 0)
			gt_assembly_say(a, 2, "cannot mark the spool: %s", strerror(errno));
		close(fd);
	}
}

/* Where the hosts do not share the directory each makes an archive: `gputrace recover` can join them. */
static bool keeps_spool(const struct gt_assembly *a)
{
	return a->options->keep_spool || a->facts.hosts_missing;
}

int gt_assembly_close(struct gt_assembly *a, const struct gt_layout *layout, struct gt_defs *defs,
			 const struct gt_archive_clock *clock)
{
	int rc = gt_archive_close(a->conv.archive, layout, defs, clock);

	if (rc) {
		gt_archive_failed(a->conv.archive, a->why, sizeof(a->why));
		return rc;
	}
	a->conv.archive = NULL;
	if (a->how)
		return 0;
	/* Before the archive is there: whoever comes now begins another one. */
	gt_assembly_mark(a, keeps_spool(a) ? GT_RUN_DONE : GT_RUN_TIDY);
	rc = gt_clean_publish(a->dirfd);
	if (rc)
		snprintf(a->why, sizeof(a->why), "cannot put the archive in its place: %s",
			 strerror(-rc));
	return rc;
}

/* The archive is in its place: tell about it and tidy up. */
int gt_assembly_conclude(struct gt_assembly *a, struct gt_run_report *report)
{
	int rc = gt_report_files(report, a->options->verbose >= 1);

	if (rc)
		gt_assembly_say(a, 1, "cannot write gputrace.cfg, MANIFEST.md and SUMMARY in %s: %s", a->dir,
		    strerror(-rc));
	if (keeps_spool(a)) {
		gt_clean_partials(&a->spool);
	} else {
		rc = gt_clean_spool(&a->spool);
		/* Files that are open still have names in NFS and FUSE: who has called us tries again. */
		if (rc)
			gt_assembly_say(a, rc == -ENOTEMPTY ? 2 : 1, "cannot remove the spool in %s: %s",
					a->dir, strerror(-rc));
	}
	rc = gt_clean_share(a->dirfd, users_mask);
	if (rc)
		gt_assembly_say(a, 2, "cannot set the permissions of %s: %s", a->dir, strerror(-rc));
	if (report->facts->truncated)
		gt_assembly_say(a, 0, "the disk is full: the archive in %s lacks %llu events", a->dir,
		    (unsigned long long)report->facts->lost[GT_LOSS_SPACE]);
	return report->facts->truncated;
}

/* From the spool to event files, and what was counted. */
int gt_assembly_convert(struct gt_assembly *a)
{
	int rc = prepare(a);

	if (rc)
		return rc;
	gt_assembly_say(a, 2, "assembling %u processes, %u locations, %.1f MB", a->layout.group_count,
	    a->layout.location_count, (double)a->total_bytes / 1e6);
	rc = open_archive(a);
	if (rc)
		return rc;
	rc = convert_all(a);
	gt_order_close(a->conv.order);
	a->conv.order = NULL;
	if (rc) {
		snprintf(a->why, sizeof(a->why), "%s", strerror(-rc));
		return rc;
	}
	if (gt_archive_failed(a->conv.archive, a->why, sizeof(a->why)))
		return -EIO;
	if (a->conv.read_error && !a->eaten) {
		snprintf(a->why, sizeof(a->why), "the spool cannot be read: %s",
			 strerror(-a->conv.read_error));
		return a->conv.read_error;
	}
	a->facts.truncated = truncated(a);
	if (a->facts.truncated && !a->eaten) {
		snprintf(a->why, sizeof(a->why), "the disk is full; the archive needs about %llu MB",
			 (unsigned long long)(archive_bytes(a) / 1000000 + 1));
		return -ENOSPC;
	}
	merge(a, &a->facts.tally);
	return 0;
}

void gt_assembly_free(struct gt_assembly *a)
{
	for (unsigned i = 0; a->workers && i < a->worker_count; i++)
		gt_worker_free(&a->workers[i]);
	free(a->workers);
	free(a->order);
	free(a->consumed);
	free(a->freed);
	for (size_t i = 0; i < a->spool.proc_count; i++) {
		if (a->conv.names)
			gt_names_free(&a->conv.names[i]);
		gt_deferred_forget(&a->spool.procs[i]);
		for (size_t k = 0; k < a->spool.procs[i].loc_count; k++)
			gt_stream_forget(&a->spool.procs[i].locs[k]);
	}
	free(a->conv.names);
	if (a->symbolizer.symbols)
		gt_symbols_free(a->symbolizer.symbols);
	gt_filter_free(a->symbolizer.groups);
	gt_jits_free(&a->symbolizer.jits);
	gt_messages_free(a->messages);
	gt_halves_end(a);
	gt_order_free(&a->shifts);
	gt_origins_free(&a->origins);
	gt_clock_free(&a->clock);
	gt_layout_free(&a->layout);
	gt_properties_free(&a->properties);
	gt_facts_free(&a->facts);
	gt_defs_free(&a->defs);
	gt_spool_close(&a->spool);
	pthread_mutex_destroy(&a->symbolizer.lock);
	pthread_mutex_destroy(&a->lock);
	pthread_mutex_destroy(&a->room_lock);
	pthread_cond_destroy(&a->idle);
	if (a->workfd >= 0)
		close(a->workfd);
	if (a->dirfd >= 0)
		close(a->dirfd);
}

void gt_assembly_begin(struct gt_assembly *a, const char *dir, const struct gt_assemble_options *options)
{
	*a = (struct gt_assembly){ .dir = dir, .options = options, .workfd = -1 };
	gt_halves_begin();
	prepare_process();
	pthread_mutex_init(&a->symbolizer.lock, NULL);
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&a->room_lock, NULL);
	pthread_cond_init(&a->idle, NULL);
	a->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool gt_assembly_orders(const struct gt_assembly *a)
{
	return a->options->in_order && !a->how && a->clock.hosts > 1;
}
