/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the launcher of a parallel job among our ancestors; see job.h.
 * Limits: see there.
 */
#include "launchers/job.h"

#include "gputrace/hash.h"
#include "launchers/hydra.h"
#include "lib/common/process.h"
#include "lib/common/sys.h"
#include "lib/common/text.h"

#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#define USER_HZ 100u /* clock ticks per second in /proc, on all Linux that matter */
#define LEVELS  16   /* of ancestors that are looked at */

static const char *const ranks[] = {
#define GT_LAUNCHER_RANK(name) name,
#include "launchers/launchers.def"
};
static const char *const sizes[] = {
#define GT_LAUNCHER_SIZE(name) name,
#include "launchers/launchers.def"
};
static const char *const locals[] = {
#define GT_LAUNCHER_LOCAL(name) name,
#include "launchers/launchers.def"
};
static const char *const jobs[] = {
#define GT_LAUNCHER_JOB(name) name,
#include "launchers/launchers.def"
};
static const char *const launchers[] = {
#define GT_LAUNCHER_PROGRAM(name) name,
#include "launchers/launchers.def"
};

static const char *const links[] = {
#define GT_LAUNCHER_LINK(name) name,
#include "launchers/launchers.def"
};
static const char *const killers[] = {
#define GT_LAUNCHER_KILLER(name) name,
#include "launchers/launchers.def"
};

struct ancestor {
	uint64_t pid;
	struct gt_process is;
};

static uint64_t number(const char *text)
{
	uint64_t value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (uint64_t)(*text++ - '0');
	return value;
}

static bool look_up(uint64_t pid, struct ancestor *a)
{
	a->pid = pid;
	return pid && gt_process_read((uint32_t)pid, &a->is);
}

static bool is_launcher(const char *name)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (!strncmp(name, launchers[i], strlen(launchers[i])))
			return true;
	return false;
}

/* The nearest launcher above us, or else our parent. */
static bool find_launcher(struct ancestor *found)
{
	struct ancestor a;

	if (!look_up((uint64_t)GT_SYS1(SYS_getppid, 0), found))
		return false;
	a = *found;
	for (int levels = 0; levels < LEVELS; levels++) {
		if (is_launcher(a.is.name)) {
			*found = a;
			return true;
		}
		if (a.is.parent <= 1 || !look_up(a.is.parent, &a))
			break;
	}
	return true;
}

/* In whole seconds, as the kernel says: all processes of the job must come to the same. */
static int64_t boot_time(void)
{
	char text[4096], *line;
	struct stat own;
	int fd = gt_sys_open_own(AT_FDCWD, "/proc/stat", 0, &own);
	uint64_t at = 0;
	size_t kept = 0;
	int64_t seconds = 0;
	ssize_t n;

	/* The line of interruptions alone may be longer than the buffer: keep what ends each piece. */
	while (fd >= 0 && !seconds && (n = gt_sys_pread(fd, text + kept, sizeof(text) - 1 - kept, at)) > 0) {
		at += (uint64_t)n;
		n += (ssize_t)kept;
		text[n] = 0;
		for (line = text; (line = strchr(line, '\n')) && !seconds; line++)
			if (!strncmp(line, "\nbtime ", 7) && strchr(line + 1, '\n'))
				seconds = (int64_t)number(line + 7);
		kept = n > 64 ? 64 : (size_t)n;
		memmove(text, text + n - kept, kept);
	}
	gt_sys_close_own(fd, &own);
	return seconds;
}

static const char *first_of(char *const *envp, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *value = gt_text_env(envp, names[i]);

		if (value && *value)
			return value;
	}
	return NULL;
}

static uint64_t of_hydra(const struct ancestor *a)
{
	char path[64], line[4096];
	const char *port, *group;
	ssize_t n;

	if (strncmp(a->is.name, "hydra_pmi_proxy", 15))
		return 0;
	gt_text(path, sizeof(path), "/proc/%lu/cmdline", (unsigned long)a->pid);
	n = gt_sys_read_text(path, line, sizeof(line));
	return n > 0 && gt_hydra_job(line, (size_t)n, &port, &group)
		       ? gt_hash_text(gt_hash_text(GT_HASH_START, port), group) | 1
		       : 0;
}

/*
 * Open MPI's launcher numbers the jobs that programs spawn behind the first one: all are one run.
 * Version 4 calls them by the launcher's number * 65536 + 1, 2 ...; version 5 by a text with @1, @2 ...
 */
static uint64_t hash_job(uint64_t hash, const char *name)
{
	const char *at = strrchr(name, '@'), *end = name;

	while (*end >= '0' && *end <= '9')
		end++;
	if (!*end)
		return gt_hash_mix(hash, number(name) >> 16);
	return gt_hash_bytes(hash, name, at ? (size_t)(at - name) : strlen(name));
}

const char *gt_job_rank(char *const *envp)
{
	return first_of(envp, ranks, sizeof(ranks) / sizeof(ranks[0]));
}

static uint32_t number_in(char *const *envp, const char *const *names, size_t n)
{
	uint32_t value = 0;

	for (size_t i = 0; !value && i < n; i++) {
		const char *text = gt_text_env(envp, names[i]);

		for (; text && *text >= '0' && *text <= '9' && value < 100000000; text++)
			value = value * 10 + (uint32_t)(*text - '0');
	}
	return value;
}

uint32_t gt_job_size(char *const *envp)
{
	return number_in(envp, sizes, sizeof(sizes) / sizeof(sizes[0]));
}

uint32_t gt_job_local(char *const *envp)
{
	return number_in(envp, locals, sizeof(locals) / sizeof(locals[0]));
}

/* The other end of a pair of sockets, which that process has made. */
static bool made_by(int fd, uint64_t pid)
{
	struct ucred maker = {0};
	socklen_t length = sizeof(maker);

	return !GT_SYS5(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &maker, &length) &&
	       (uint64_t)maker.pid == pid;
}

/* The variable may be an outer launcher's, and its number that of another file by now. */
int gt_job_link(char *const *envp)
{
	uint32_t fd = number_in(envp, links, sizeof(links) / sizeof(links[0]));
	struct ancestor a;

	return fd > 2 && find_launcher(&a) && made_by((int)fd, a.pid) ? (int)fd : -1;
}

/* The launcher closes its end when the process takes its leave, and MPI then closes its own. */
bool gt_job_has_left(int link)
{
	const struct timespec now = {0, 0};
	struct pollfd end = {.fd = link, .events = POLLIN};

	return link < 0 || (GT_SYS5(SYS_ppoll, &end, 1, &now, NULL, 0) == 1 &&
			    end.revents & (POLLHUP | POLLERR | POLLNVAL));
}

uint32_t gt_job_killer(char *const *envp)
{
	struct ancestor a;

	if (!gt_job_rank(envp) || !find_launcher(&a))
		return 0;
	for (size_t i = 0; i < sizeof(killers) / sizeof(killers[0]); i++)
		if (!strncmp(a.is.name, killers[i], strlen(killers[i])))
			return (uint32_t)a.pid;
	return 0;
}

uint64_t gt_job(char **envp, int64_t *when)
{
	const char *name = first_of(envp, jobs, sizeof(jobs) / sizeof(jobs[0]));
	const char *slurm = gt_text_env(envp, "SLURM_JOB_ID");
	const char *step = gt_text_env(envp, "SLURM_STEP_ID");
	uint64_t hash = GT_HASH_START;
	struct ancestor a;

	*when = 0;
	if (!gt_job_rank(envp) || !find_launcher(&a))
		return 0;
	*when = boot_time() + (int64_t)(a.is.start_time / USER_HZ);
	if (name)
		return gt_hash_text(hash_job(hash, name), slurm ? slurm : "") | 1;
	if (slurm && step)
		return gt_hash_text(gt_hash_text(hash, slurm), step) | 1;
	if (of_hydra(&a))
		return of_hydra(&a);
	return gt_hash_mix(gt_hash_mix(hash, a.pid), a.is.start_time) | 1;
}
