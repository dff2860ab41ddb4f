/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs on several hosts; see hosts.h.
 *
 * Only the speakers communicate, one for each host, over a communicator of their own that is made
 * by them alone (MPI_Comm_create_group): processes that are not traced, or came too late, are not
 * waited for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gputrace/ranks.h"
#include "gputrace/syscall.h"
#include "launchers/hydra.h"
#include "mpi/clocks.h"
#include "mpi/hosts.h"

#define TAG        30011 /* between MPI_COMM_WORLD's speakers, in MPI's own context */
#define QUESTIONS  10    /* between two comparisons: how often rank 0 is asked whether it is time */

static MPI_Comm speakers = MPI_COMM_NULL;
static int me, count;
uint32_t gt_mpi_rank = UINT32_MAX;

/* VT_ETIMESYNC */
bool gt_mpi_meets;
static uint64_t meetings, next_question = 1; /* collectives so far; the one after which to ask */
static double interval, last_sync, last_question;

/* ---- the job -------------------------------------------------------------------------------- */

#define PARENT 4  /* fields of /proc/<pid>/stat */
#define START  22 /* when the process began, in the kernel's clock ticks */
#define LEVELS 16 /* of ancestors that are looked at */

/* One of these as text; "" if it cannot be known. */
static void stat_field(pid_t pid, int number, char *text, size_t size)
{
	char path[64], line[1024], *at;

	*text = 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	gt_raw_read_text(path, line, sizeof(line));
	at = strrchr(line, ')');
	for (int field = 2; at && field < number; field++)
		at = strchr(at + 1, ' ');
	if (at)
		snprintf(text, size, "%.*s", (int)strcspn(at + 1, " \n"), at + 1);
}

static uint64_t of_hydra(pid_t proxy)
{
	char path[64], line[4096] = "";
	const char *port, *group;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)proxy);
	n = gt_raw_read_text(path, line, sizeof(line));
	return gt_hydra_job(line, n, &port, &group) ? gt_hash_text(gt_hash_text(1, port), group) : 0;
}

uint64_t gt_mpi_job_of(const char *name)
{
	const char *slurm = getenv("SLURM_JOB_ID");

	return gt_hash_text(gt_hash_text(1, name), slurm ? slurm : "");
}

static pid_t parent_of(pid_t pid)
{
	char text[32];

	stat_field(pid, PARENT, text, sizeof(text));
	return (pid_t)atoi(text);
}

/* `gputrace run` and scripts may stand between us and the proxy. */
static uint64_t of_ancestor(void)
{
	uint64_t hash = 0;
	pid_t pid = (pid_t)gt_raw(SYS_getppid);

	for (int level = 0; !hash && pid > 1 && level < LEVELS; level++) {
		hash = of_hydra(pid);
		pid = parent_of(pid);
	}
	return hash;
}

static bool is_gputrace(pid_t pid)
{
	char path[64], name[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	gt_raw_read_text(path, name, sizeof(name));
	return !strcmp(name, "gputrace\n");
}

/* The process that has started us on behalf of a launcher. */
static pid_t starter(void)
{
	pid_t pid = (pid_t)gt_raw(SYS_getppid);

	while (is_gputrace(pid))
		pid = parent_of(pid);
	return pid;
}

uint64_t gt_mpi_find_job(void)
{
	static const char *const names[] = {
#define GT_LAUNCHER_JOB(name) name,
#include "launchers/launchers.def"
		"SLURM_STEP_ID"
	};
	const char *rank = getenv("PMI_RANK");
	pid_t launcher = rank ? starter() : (pid_t)gt_raw(SYS_getpid);
	uint64_t hash = rank ? of_ancestor() : 0;
	char start[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return gt_mpi_job_of(value);
	}
	if (hash)
		return hash;
	stat_field(launcher, START, start, sizeof(start));
	return gt_hash_text(gt_hash_mix(1, (uint64_t)launcher), start);
}

uint64_t gt_mpi_be_rank(int rank, int size)
{
	static uint32_t done;
	uint64_t job = gt_mpi_find_job();

	gt_mpi_rank = (uint32_t)rank;
	if (!__atomic_exchange_n(&done, 1, __ATOMIC_ACQ_REL))
		gt_set_rank((uint32_t)rank, (uint32_t)size, job);
	return job;
}

/* ---- speakers ------------------------------------------------------------------------------- */

static bool begun;

void gt_mpi_hosts_begin(void)
{
	if (__atomic_exchange_n(&begun, true, __ATOMIC_ACQ_REL))
		return;
	gt_job_begun(gt_mpi_find_job());
}

static double now(void)
{
	return (double)gt_monotonic() * 1e-9;
}

static void timesync(void)
{
	if (speakers == MPI_COMM_NULL)
		return;
	gt_guard();
	gt_mpi_clocks_compare(speakers, me, count);
	last_sync = now();
	gt_unguard();
}

static void make_speakers(const uint32_t *ranks, uint32_t n)
{
	MPI_Group world, group;

	if (gt_mpi_Comm_group()(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
		return;
	if (gt_mpi_Group_incl()(world, (int)n, (const int *)ranks, &group) == MPI_SUCCESS) {
		if (gt_mpi_Comm_create_group()(MPI_COMM_WORLD, group, TAG, &speakers) != MPI_SUCCESS)
			speakers = MPI_COMM_NULL;
		gt_mpi_Group_free()(&group);
	}
	gt_mpi_Group_free()(&world);
	if (speakers == MPI_COMM_NULL)
		return;
	gt_mpi_Comm_set_errhandler()(speakers, MPI_ERRORS_RETURN);
	if (gt_mpi_Comm_rank()(speakers, &me) != MPI_SUCCESS ||
	    gt_mpi_Comm_size()(speakers, &count) != MPI_SUCCESS)
		speakers = MPI_COMM_NULL;
}

void gt_mpi_hosts_ready(uint64_t job, int rank, int size)
{
	const char *often = gt_setting("VT_ETIMESYNC"), *seconds = gt_setting("VT_ETIMESYNC_INTV");
	uint32_t room = (uint32_t)size < GT_MPI_HOSTS_MOST ? (uint32_t)size : GT_MPI_HOSTS_MOST, n;
	uint32_t *ranks;

	if (!begun || size < 2)
		return; /* nobody knows when the others came, or there is none */
	ranks = gt_memory(room * sizeof(*ranks));
	if (!ranks)
		return;
	n = gt_job_hosts(job, (uint32_t)rank, (uint32_t)size, ranks, room);
	if (n)
		make_speakers(ranks, n);
	gt_memory_free(ranks, room * sizeof(*ranks));
	if (speakers == MPI_COMM_NULL)
		return;
	timesync();
	gt_on_timesync(timesync);
	interval = seconds ? atof(seconds) : 120;
	last_question = now();
	gt_mpi_meets = often && !strcmp(often, "yes");
}

void gt_mpi_hosts_forked(void)
{
	speakers = MPI_COMM_NULL; /* they are its parent's */
}

void gt_mpi_hosts_end(void)
{
	if (speakers == MPI_COMM_NULL)
		return;
	gt_mpi_meets = false;
	gt_on_timesync(NULL);
	timesync();
	gt_guard();
	gt_mpi_clocks_report(speakers, me, count);
	gt_unguard();
	gt_mpi_Comm_free()(&speakers);
	speakers = MPI_COMM_NULL;
}

/*
 * All speakers count the collectives of MPI_COMM_WORLD alike. After some of them the first speaker
 * says whether it is time for a comparison, and when it is to be asked again.
 */
void gt_mpi_meet(void)
{
	uint64_t word[2] = { 0, 0 };
	double t, rate;

	if (++meetings < next_question || speakers == MPI_COMM_NULL)
		return;
	if (!me) {
		t = now();
		rate = (double)meetings / (t - last_question + 1e-6);
		word[0] = t - last_sync >= interval;
		word[1] = (uint64_t)(rate * interval / QUESTIONS);
		if (word[1] > 1000000)
			word[1] = 1000000;
	}
	if (gt_mpi_Bcast()(word, sizeof(word), MPI_BYTE, 0, speakers) != MPI_SUCCESS) {
		gt_mpi_meets = false;
		return;
	}
	if (word[0])
		timesync();
	last_question = now();
	meetings = 0;
	next_question = word[1] ? word[1] : 1;
}
