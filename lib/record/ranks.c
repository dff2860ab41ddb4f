/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of a parallel program (ranks.h): its rank, the other hosts, and how their clocks compare.
 *
 * Limits: nothing here sends the program a message. No malloc, no stdio. One thread at a time.
 */
#include "gputrace/ranks.h"
#include "launchers/job.h"
#include "lib/common/rundir.h"
#include "lib/common/text.h"
#include "lib/record/control.h"
#include "lib/record/record.h"
#include "lib/record/verdict.h"

#include <errno.h>
#include <string.h>

void gt_set_rank(uint32_t rank, uint32_t size, uint64_t job)
{
	char text[32];

	if (!gt_start())
		return;
	gt_proc->rank = rank;
	gt_text(text, sizeof(text), "%lx", (unsigned long)job);
	gt_put_property("job", text);
	gt_text(text, sizeof(text), "%u", size);
	gt_put_property("job-size", text);
	gt_text(text, sizeof(text), "%u", gt_job_local(environ));
	gt_put_property("job-local", text);
	gt_clock_note(); /* if it is killed before its end its rate is known, too */
	if (!gt_verdict_set_rank(rank))
		gt_switch(false);
}

/* ---- hosts -------------------------------------------------------------------------------------- */

/*
 * The other hosts are found through the run's directory, which they have to share. On each host the first
 * process that comes out of the job's start speaks for the host; the speakers agree who they are by a file
 * that only one of them can make, so that either all of them act on it or none. A host whose speaker is too
 * late is left out.
 *
 * Nobody waits for a process that may not be there: a speaker that finds no file within some seconds
 * makes it, empty, and then no clocks are compared.
 */
#define GATHER_MS   1500 /* that the coordinator waits for all processes to be accounted for */
#define DECIDE_MS   6000 /* that the others wait for its word */
#define NAP_US      200
#define NAP_MOST_US 20000

static struct gt_run_job *job_slot(uint64_t job)
{
	struct gt_run_header *run = gt_run;

	for (unsigned i = 0; run && i < GT_RUN_JOBS; i++) {
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(&run->jobs[i].job, &none, job, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		    none == job)
			return &run->jobs[i];
	}
	return NULL;
}

void gt_job_begun(uint64_t job)
{
	struct gt_run_job *slot = gt_start() ? job_slot(job) : NULL;

	if (slot)
		__atomic_fetch_add(&slot->begun, 1, __ATOMIC_ACQ_REL); /* pairs with gt_job_hosts() */
}

const char *gt_host(uint32_t *clock)
{
	*clock = gt_clock_kind;
	return gt_proc->host;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	gt_sys_clock(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Makes dir/name with this content, whole or not at all. 0, -EEXIST or another negative errno. */
static int publish(const char *dir, const char *name, const void *data, size_t bytes, bool replace)
{
	char from[1400], to[1400];
	struct stat own = { 0 };
	int fd, rc;

	gt_text(from, sizeof(from), "%s/new.%s.%u", dir, gt_proc->host, (unsigned)gt_pid);
	gt_text(to, sizeof(to), "%s/%s", dir, name);
	fd = gt_sys_openat(AT_FDCWD, from, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			   0600);
	if (fd < 0)
		return fd;
	/* Another thread may have closed it, and opened a file of the program's. */
	rc = gt_sys_fstatat(AT_FDCWD, from, &own, AT_SYMLINK_NOFOLLOW);
	if (!rc)
		rc = gt_sys_is_own(fd, &own) ? gt_file_pwrite(fd, data, bytes, 0) : -EBADF;
	gt_sys_close_own(fd, &own);
	if (!rc && replace)
		return (int)GT_SYS4(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
	if (!rc)
		rc = gt_rundir_appear(AT_FDCWD, from, to);
	if (rc)
		gt_sys_unlinkat(AT_FDCWD, from, 0);
	return rc;
}

struct word {
	uint32_t begun, rank; /* processes of the host, rank of its speaker */
};

static ssize_t read_whole(const char *dir, const char *name, void *data, size_t size)
{
	char path[1400];

	gt_text(path, sizeof(path), "%s/%s", dir, name);
	return gt_sys_read_file(path, O_NOFOLLOW, data, size);
}

/* Adds up what the hosts say. Returns how many there are. */
static uint32_t gather(const char *dir, uint32_t *ranks, uint32_t room, uint64_t *begun)
{
	char buffer[4096];
	struct stat own;
	int fd = gt_sys_open_own(AT_FDCWD, dir, O_DIRECTORY, &own), n;
	uint32_t count = 0;

	*begun = 0;
	while (fd >= 0 && (n = gt_sys_getdents(fd, buffer, sizeof(buffer))) > 0) {
		for (int at = 0; at < n;) { /* struct linux_dirent64 */
			const char *name = buffer + at + 19;
			unsigned short bytes;
			struct word word;

			memcpy(&bytes, buffer + at + 16, sizeof(bytes));
			at += bytes ? bytes : n;
			if (strncmp(name, GT_HOST_FOLDER, strlen(GT_HOST_FOLDER)) || count == room ||
			    read_whole(dir, name, &word, sizeof(word)) != (ssize_t)sizeof(word))
				continue;
			*begun += word.begun;
			ranks[count++] = word.rank;
		}
	}
	gt_sys_close_own(fd, &own);
	return count;
}

static void sort(uint32_t *ranks, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t one = ranks[i], k = i;

		for (; k && ranks[k - 1] > one; k--)
			ranks[k] = ranks[k - 1];
		ranks[k] = one;
	}
}

/* The ranks of all hosts' speakers, equal for all of them. Returns their number; 0: there is no such list. */
static uint32_t decision(const char *dir, uint32_t *ranks, uint32_t room)
{
	ssize_t n = read_whole(dir, "hosts", ranks, room * sizeof(*ranks));

	return n > 0 ? (uint32_t)((size_t)n / sizeof(*ranks)) : 0;
}

static bool decided(const char *dir)
{
	char path[1400];
	struct stat st;

	gt_text(path, sizeof(path), "%s/hosts", dir);
	return !gt_sys_fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);
}

uint32_t gt_job_hosts(uint64_t job, uint32_t rank, uint32_t size, uint32_t *ranks, uint32_t room)
{
	struct gt_run_job *slot = gt_start() ? job_slot(job) : NULL;
	char dir[1200], own[128];
	uint32_t nobody = 0, count;
	struct word word = { .rank = rank };
	bool coordinator;
	uint64_t all;
	int64_t begin = now_ms();
	long nap = NAP_US;

	/* The usual case: all of them are on this host. */
	if (!slot || __atomic_load_n(&slot->begun, __ATOMIC_ACQUIRE) >= size ||
	    (!gt_settings.test_host[0] && gt_job_local(environ) >= size) ||
	    !__atomic_compare_exchange_n(&slot->speaker, &nobody, (uint32_t)gt_pid, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return 0;
	gt_text(dir, sizeof(dir), "%s/spool/job.%lx", gt_run_dir, (unsigned long)job);
	gt_sys_mkdirat(AT_FDCWD, dir);
	gt_text(own, sizeof(own), GT_HOST_FOLDER "%s", gt_proc->host);
	for (char *c = own; *c; c++)
		*c = *c == '/' ? '_' : *c;
	for (coordinator = false;; gt_sys_sleep_us(nap), nap = nap < NAP_MOST_US ? 2 * nap : nap) {
		uint32_t begun = __atomic_load_n(&slot->begun, __ATOMIC_ACQUIRE);

		if (begun != word.begun) {
			bool first = !word.begun;

			word.begun = begun;
			if (publish(dir, own, &word, sizeof(word), true))
				return 0;
			if (first)
				coordinator = !publish(dir, "coordinator", &word, sizeof(word), false);
		}
		if (decided(dir))
			break;
		if (coordinator) {
			count = gather(dir, ranks, room, &all);
			if (all < size && now_ms() - begin < GATHER_MS)
				continue;
			sort(ranks, count);
			if (all >= size) /* each host may convert its ranks by itself */
				publish(dir, "complete", &all, sizeof(all), false);
			publish(dir, "hosts", ranks, count * sizeof(*ranks), false);
			break;
		}
		if (now_ms() - begin > DECIDE_MS) {
			publish(dir, "hosts", ranks, 0, false);
			break;
		}
	}
	count = decision(dir, ranks, room);
	for (uint32_t i = 0; i < count; i++)
		if (ranks[i] == rank)
			return count > 1 ? count : 0;
	return 0;
}

static void (*timesync)(void);

void gt_on_timesync(void (*call)(void))
{
	__atomic_store_n(&timesync, call, __ATOMIC_RELEASE); /* pairs with gt_timesync() */
}

void gt_timesync(void)
{
	void (*call)(void) = __atomic_load_n(&timesync, __ATOMIC_ACQUIRE);

	if (call)
		call();
}

/* ---- clocks ------------------------------------------------------------------------------------- */

/*
 * Each comparison of this host's clock with another host's goes into the journal. At the end of a parallel
 * program the chain of clocks that leads to this one does, too: of many comparisons some, evenly chosen, and
 * none if this process's clock was compared with more than one other.
 */
#define KNOTS_MOST 96u

static struct gt_def_clock own;
static struct gt_def_sync_point sync_points[KNOTS_MOST + 1], latest;
static uint32_t seen, stride = 1;
static bool mixed; /* compared with several clocks */

static void keep_point(const struct gt_def_sync_point *point)
{
	latest = *point;
	if (seen++ % stride)
		return;
	if (own.count == KNOTS_MOST) {
		for (uint32_t i = 0; i < KNOTS_MOST / 2; i++)
			sync_points[i] = sync_points[2 * i];
		own.count = KNOTS_MOST / 2;
		stride *= 2;
		if ((seen - 1) % stride)
			return;
	}
	sync_points[own.count++] = *point;
}

void gt_clocks_compared(const char *reference, uint32_t kind, uint64_t tick, uint64_t other_tick,
			uint64_t width)
{
	struct gt_def_sync def = { .tick = tick, .other_tick = other_tick, .width = width,
				   .kind = kind };
	struct gt_piece piece = { &def, sizeof(def) };
	char name[sizeof(own.reference)] = "";

	if (!gt_start())
		return;
	def.reference = gt_def_string(reference);
	gt_journal_put(GT_D_SYNC, 0, &piece, 1);
	gt_text(name, sizeof(name), "%s", reference);
	mixed |= seen && (strcmp(own.reference, name) || own.reference_kind != kind);
	memcpy(own.reference, name, sizeof(name));
	own.reference_kind = kind;
	keep_point(&(struct gt_def_sync_point){ tick, other_tick, width });
}

/* This host's own link, at the end of the chain. */
static uint32_t append(char *chain, uint32_t bytes, uint32_t room)
{
	uint32_t need;

	if (own.count && memcmp(&latest, &sync_points[own.count - 1], sizeof(latest)))
		sync_points[own.count++] = latest;
	need = (uint32_t)(sizeof(own) + own.count * sizeof(*sync_points));
	if (need > room - bytes)
		return 0;
	own.nominal_hz = gt_proc->nominal_hz;
	own.kind = gt_clock_kind;
	own.first = gt_proc->first;
	gt_clock_calibrate(&own.last);
	memcpy(own.host, gt_proc->host, sizeof(own.host));
	memcpy(chain + bytes, &own, sizeof(own));
	memcpy(chain + bytes + sizeof(own), sync_points, own.count * sizeof(*sync_points));
	return bytes + need;
}

uint32_t gt_clocks_chain(void *chain, uint32_t bytes, uint32_t room)
{
	struct gt_def_clock link;
	uint32_t all;

	if (!gt_start() || mixed || !bytes != !own.count || bytes > room)
		return 0;
	all = append(chain, bytes, room);
	for (uint32_t at = 0, length; at + sizeof(link) <= all; at += length) {
		struct gt_piece piece = { (char *)chain + at, 0 };

		memcpy(&link, piece.data, sizeof(link));
		if (link.count > KNOTS_MOST + 1)
			return 0;
		length = (uint32_t)(sizeof(link) + link.count * sizeof(*sync_points));
		if (length > all - at)
			return 0;
		piece.bytes = length;
		gt_journal_put(GT_D_CLOCK, 0, &piece, 1);
	}
	return all;
}
