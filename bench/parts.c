/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the parts of many hosts from that of one: `parts DIR HOSTS` copies DIR/spool/part.0, which holds
 * the ranks 0 to n-1 of a job, to DIR/spool/host.<h>/part.0 for the hosts 1 to HOSTS-1, with the ranks
 * h*n and so on, of communicators that have HOSTS*n ranks. `gputrace recover` then joins them.
 *
 * Limits: all hosts define the same things in the same order, but for what names a process; their event
 * files are links to one host's. MPI_COMM_WORLD is the largest communicator in even steps.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/assemble/util/io.h"
#include "lib/assemble/join/partial.h"

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* The number of ranks in the part; the communicator of all gets those of all hosts. */
static uint32_t count_ranks(const struct gt_partial *partial)
{
	uint32_t ranks = 0;

	for (uint32_t i = 0; i < partial->group_count; i++)
		ranks += partial->groups[i].job != 0;
	return ranks;
}

static void widen(struct gt_partial *partial, uint32_t ranks, uint32_t hosts)
{
	struct gt_comm *comms = partial->defs.comms.items;

	for (size_t i = 0; i < gt_table_count(&partial->defs.comms); i++) {
		if (comms[i].paradigm != 4 || comms[i].member_count != ranks)
			continue;
		free(comms[i].members);
		comms[i].member_count = (size_t)ranks * hosts;
		comms[i].members = malloc(comms[i].member_count * sizeof(*comms[i].members));
		if (!comms[i].members)
			fail("members");
		for (size_t k = 0; k < comms[i].member_count; k++)
			comms[i].members[k] = k;
		for (uint32_t g = 0; g < partial->group_count; g++)
			if (partial->groups[g].job)
				comms[i].job = partial->groups[g].job;
	}
}

/* A string of the part, replaced by another of the same length. */
static void rename_host(struct gt_partial *partial, const char *from, const char *to)
{
	struct gt_intern *strings = &partial->defs.strings;

	for (size_t i = 0; i < strings->count; i++) {
		char *text = strings->blob + strings->entries[i].at;

		if (!strcmp(text, from))
			memcpy(text, to, strlen(from));
	}
	for (size_t i = 0; i < partial->origins.count; i++)
		if (!strcmp(partial->origins.list[i].host, from))
			memcpy(partial->origins.list[i].host, to, strlen(from));
}

/* The run header of a host without processes. */
static void copy_header(int dir, const char *folder, const char *host)
{
	struct gt_run_header run;
	char path[300];
	int in = openat(dir, "spool/run", O_RDONLY), out;

	if (in < 0 || read(in, &run, sizeof(run)) != (ssize_t)sizeof(run))
		fail("spool/run");
	close(in);
	snprintf(run.host, sizeof(run.host), "%s", host);
	snprintf(run.spool, sizeof(run.spool), "/%s", folder);
	snprintf(path, sizeof(path), "%s/run", folder);
	out = openat(dir, path, O_WRONLY | O_CREAT, 0600);
	if (out < 0 || write(out, &run, sizeof(run)) != (ssize_t)sizeof(run) || close(out))
		fail(path);
}

static void make_host(int dir, struct gt_partial *partial, uint32_t host, uint32_t ranks, char *name)
{
	static char buffer[GT_COPY_BUFFER];
	char path[256], from[300], to[300], next[16];
	int fd;

	snprintf(next, sizeof(next), "n%07u", host);
	rename_host(partial, name, next);
	memcpy(name, next, sizeof(next));
	for (uint32_t i = 0; host && i < partial->group_count; i++)
		if (partial->groups[i].job)
			partial->groups[i].rank += ranks;
	snprintf(path, sizeof(path), host ? "spool/host.%s" : "spool", next);
	if (host && mkdirat(dir, path, 0700))
		fail(path);
	if (host) {
		copy_header(dir, path, next);
	}
	snprintf(path, sizeof(path), host ? "spool/host.%s/part.0" : "spool/part.0", next);
	snprintf(to, sizeof(to), "%s/traces", path);
	if (host && (mkdirat(dir, path, 0700) || mkdirat(dir, to, 0700)))
		fail(path);
	for (uint32_t i = 0; host && i < partial->location_count; i++) {
		snprintf(from, sizeof(from), "spool/part.0/traces/%u.evt", i);
		snprintf(to, sizeof(to), "%s/traces/%u.evt", path, i);
		if (linkat(dir, from, dir, to, 0) && gt_copy_file(dir, from, dir, to, buffer))
			fail(to);
	}
	fd = openat(dir, path, O_RDONLY | O_DIRECTORY);
	unlinkat(fd, "part", 0);
	if (fd < 0 || gt_partial_save(partial, fd))
		fail(path);
	close(fd);
	snprintf(to, sizeof(to), "%s/" GT_PART_COVERS, path);
	unlinkat(dir, to, 0);
	if (gt_partial_write(dir, to, GT_PART_COVERS_END, strlen(GT_PART_COVERS_END)))
		fail(to);
}

int main(int argc, char **argv)
{
	uint32_t hosts = argc == 3 ? (uint32_t)atoi(argv[2]) : 0, ranks;
	struct gt_partial partial;
	char name[16] = "n0000000";
	int dir;

	if (!hosts) {
		fprintf(stderr, "usage: parts DIR HOSTS\n");
		return 2;
	}
	dir = open(argv[1], O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		fail(argv[1]);
	errno = -gt_partial_load(&partial, dir, "spool/part.0", true);
	if (errno)
		fail("part.0");
	ranks = count_ranks(&partial);
	widen(&partial, ranks, hosts);
	for (uint32_t host = 0; host < hosts; host++)
		make_host(dir, &partial, host, ranks, name);
	printf("%u ranks, %u locations each\n", ranks * hosts, partial.location_count);
	gt_partial_free(&partial);
	return 0;
}
