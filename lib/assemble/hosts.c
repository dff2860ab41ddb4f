/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Archives of several hosts: each host makes a partial archive, and the last one joins them.
 *
 * Limits: see assemble.h and partial.h.
 */
#include "config.h"

#include "lib/assemble/hosts.h"

#include "lib/assemble/archive/clean.h"
#include "lib/assemble/archive/local_defs.h"
#include "lib/assemble/halves.h"
#include "lib/assemble/join/merge.h"
#include "lib/assemble/join/partial.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFS_EXTRA    (64u << 10)

/* Which processes the part is made of. */
static int save_covers(const struct gt_assembly *a)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);
	bool bad;
	int rc;

	if (!file)
		return -ENOMEM;
	for (size_t i = 0; i < a->spool.proc_count; i++)
		fprintf(file, "%s/%s\n", a->spool.procs[i].root->name, a->spool.procs[i].folder);
	fputs(GT_PART_COVERS_END, file);
	bad = ferror(file);
	rc = fclose(file) || bad ? -ENOMEM : gt_partial_write(a->workfd, GT_PART_COVERS, text, bytes);
	free(text);
	return rc;
}

static uint64_t bytes_of_events(const struct gt_assembly *a, uint32_t location)
{
	char path[48];
	struct stat st;

	snprintf(path, sizeof(path), "traces/%u.evt", location);
	return fstatat(a->workfd, path, &st, AT_SYMLINK_NOFOLLOW) ? 0 : (uint64_t)st.st_size;
}

static int save_partial(struct gt_assembly *a)
{
	struct gt_partial partial = { .facts = a->facts, .defs = a->defs, .nodes = a->layout.nodes,
				.node_count = a->layout.node_count,
				.group_count = a->layout.group_count,
				.location_count = a->layout.location_count,
				.properties = a->properties, .origins = a->origins,
				.last_ns = a->facts.tally.last_ns };
	int rc = -ENOMEM;

	partial.groups = calloc(partial.group_count + 1, sizeof(*partial.groups));
	partial.locations = calloc(partial.location_count + 1, sizeof(*partial.locations));
	for (uint32_t i = 0; partial.groups && i < partial.group_count; i++) {
		const struct gt_out_group *from = &a->layout.groups[i];
		struct gt_partial_group *to = &partial.groups[i];

		to->name = from->name;
		to->node = from->node;
		to->creator = from->creator;
		to->rank = from->rank;
		to->job = from->job;
		to->clock = a->origins.which[from->proc - a->spool.procs];
		to->accelerator = from->accelerator;
		to->launcher = from->launcher;
	}
	for (uint32_t i = 0; partial.locations && i < partial.location_count; i++) {
		const struct gt_out_location *from = &a->layout.locations[i];
		struct gt_partial_location *to = &partial.locations[i];

		to->name = from->name;
		to->group = from->group;
		to->events = from->events;
		to->bytes = bytes_of_events(a, i);
		to->type = from->type;
		to->thread = from->thread;
		to->first = from->first;
	}
	if (partial.groups && partial.locations)
		rc = gt_partial_save(&partial, a->workfd);
	free(partial.groups);
	free(partial.locations);
	return rc;
}

static int complete_partial(struct gt_assembly *a)
{
	int rc;

	gt_spool_ends(&a->spool);
	rc = gt_facts_collect(&a->facts, &a->spool, &a->layout, &a->clock);
	if (!rc)
		rc = gt_properties_collect(&a->properties, &a->layout, &a->defs, &a->clock,
					   a->spool.procs, true);
	if (!rc)
		rc = gt_assembly_close(a, NULL, NULL, NULL);
	if (!rc)
		rc = save_partial(a);
	if (!rc)
		rc = save_covers(a);
	return rc;
}

/* Makes a part, in the folder `home` below DIR, of the spool that is open. 0 or a negative errno. */
static int make_part(struct gt_assembly *a, const char *home)
{
	int rc;

	a->workfd = gt_clean_begin_partial(a->dirfd, home);
	if (a->workfd < 0)
		return a->workfd;
	rc = gt_assembly_convert(a);
	if (!rc)
		rc = complete_partial(a);
	if (!rc)
		rc = gt_clean_publish_partial(a->dirfd, home);
	if (rc && !a->why[0])
		snprintf(a->why, sizeof(a->why), "%s", strerror(-rc));
	if (rc && a->conv.archive)
		gt_archive_abandon(a->conv.archive);
	if (rc)
		gt_clean_abandon_partial(a->dirfd, home);
	return rc;
}

/* The spool of this host is where its run header is: what lay elsewhere is in a part. */
static int point_home(const struct gt_assembly *a, const char *home)
{
	char path[1300], spool[sizeof(a->spool.run.spool)] = "";
	int fd, rc = 0;

	snprintf(path, sizeof(path), "%s/run", home);
	snprintf(spool, sizeof(spool), "%s", home);
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (pwrite(fd, spool, sizeof(spool), offsetof(struct gt_run_header, spool)) !=
	    (ssize_t)sizeof(spool))
		rc = -EIO;
	close(fd);
	return rc;
}

int gt_assemble_partial(const char *dir, const char *home, const struct gt_assemble_options *options)
{
	const char *name = strrchr(home, '/');
	struct gt_assembly a;
	char path[160];
	int rc;

	gt_assembly_begin(&a, dir, options);
	if (a.dirfd < 0)
		return 1;
	a.how = GT_HOW_ALONE;
	name = name && strcmp(name, "/spool") ? name + 1 : "";
	snprintf(path, sizeof(path), "spool%s%s", *name ? "/" : "", name);
	rc = gt_spool_open_host(&a.spool, a.dirfd, name, a.why, sizeof(a.why));
	if (rc || !a.spool.proc_count || a.spool.missing) {
		if (!rc)
			gt_spool_close(&a.spool);
		close(a.dirfd);
		return 1;
	}
	rc = make_part(&a, path);
	if (rc)
		gt_assembly_say(&a, rc == -EAGAIN ? 2 : 1, "%s: host %s does not convert its events: %s",
				dir, a.spool.run.host,
				rc == -EAGAIN ? "the last host must read those of all hosts" : a.why);
	if (rc && a.conv.archive)
		return 1; /* libotf2 still points into what would be freed */
	if (!rc && !options->keep_spool) {
		if (a.spool.roots[0].elsewhere)
			rc = point_home(&a, home);
		if (!rc)
			rc = gt_clean_processes(&a.spool);
		if (rc && rc != -ENOTEMPTY) /* then files are open: who ends last removes them */
			gt_assembly_say(&a, 1, "cannot remove the spool of host %s", a.spool.run.host);
		rc = 0;
	}
	gt_assembly_free(&a);
	return rc ? 1 : 0;
}

/* Makes parts of spools that their hosts have not converted. 0 or a negative errno. */
static int make_rest(const char *dir, const struct gt_assemble_options *options, char *why,
		     size_t why_size)
{
	struct gt_assembly a;
	int rc;

	gt_assembly_begin(&a, dir, options);
	if (a.dirfd < 0)
		return -errno;
	a.how = GT_HOW_PART;
	rc = gt_spool_open(&a.spool, a.dirfd, options->folders, a.why, sizeof(a.why));
	if (!rc)
		rc = make_part(&a, "spool");
	snprintf(why, why_size, "%s", a.why);
	if (!rc || !a.conv.archive) /* else libotf2 still points into what would be freed */
		gt_assembly_free(&a);
	return rc;
}

static void say_why(struct gt_assembly *a, const struct gt_merge *m, int rc)
{
	const char *what = rc == -EPROTO	      ? "it is damaged"
			   : rc == -EPROTONOSUPPORT ? "it was made by another build of gputrace"
						    : strerror(-rc);

	if (m->at)
		snprintf(a->why, sizeof(a->why), "what a host has converted (%s) cannot be used: %s",
			 m->at, what);
	else
		snprintf(a->why, sizeof(a->why), "what its hosts have converted cannot be joined: %s",
			 strerror(-rc));
}

static int join(struct gt_assembly *a)
{
	struct gt_archive_options options = { .mode = GT_ARCHIVE_JOINED, .dirfd = a->workfd,
					      .locations = 1, .threads = 1 };
	struct gt_merge m = { .dirfd = a->dirfd, .workfd = a->workfd, .partials = a->spool.partials,
			      .partial_count = a->spool.partial_count };
	struct gt_run_report report = { .dir = a->dir, .dirfd = a->dirfd, .options = a->options,
				    .facts = &m.facts, .layout = &m.layout, .defs = &m.defs,
				    .spool = &a->spool, .properties = &m.properties };
	int rc = gt_merge_who(&m);

	if (!rc && a->options->in_order)
		rc = gt_merge_order(&m);
	if (!rc) {
		gt_assembly_say(a, 2, "joining %zu partial archives", m.partial_count);
		a->conv.archive = gt_archive_open(&options, a->why, sizeof(a->why));
		rc = a->conv.archive ? gt_merge_all(&m, a->conv.archive) : -EIO;
	}
	if (!rc) {
		gt_halves_load_joined(a, &m.properties, &m.defs);
		m.facts.damaged += a->spool.damaged;
		gt_facts_outside(&m.facts, &a->spool);
		report.clock_error_ns = m.clock.error_ns;
		report.hosts = m.clock.hosts;
		report.order = &m.order;
		report.length_ns = m.when.length_ns;
		gt_report_properties(&report, a->conv.archive);
		if (!gt_archive_reserve_defs(a->conv.archive,
					     gt_defs_bytes(&m.defs) + DEFS_EXTRA +
						     (uint64_t)m.layout.location_count * 1024)) {
			gt_archive_fail(a->conv.archive, "the disk is full");
			rc = -ENOSPC;
		} else {
			rc = gt_assembly_close(a, &m.layout, &m.defs, &m.when);
		}
	}
	if (a->conv.archive && gt_archive_failed(a->conv.archive, a->why, sizeof(a->why)))
		rc = rc ? rc : -EIO;
	if (rc && !a->why[0])
		say_why(a, &m, rc);
	if (!rc)
		rc = gt_assembly_conclude(a, &report);
	if (rc >= 0 || !a->conv.archive)
		gt_merge_free(&m);
	return rc;
}

/* Some hosts have converted their events already. */
int gt_hosts_join(struct gt_assembly *a)
{
	int rc;

	if (a->spool.proc_count) {
		rc = make_rest(a->dir, a->options, a->why, sizeof(a->why));
		if (rc)
			return rc;
		gt_spool_close(&a->spool);
		rc = gt_spool_open(&a->spool, a->dirfd, a->options->folders, a->why, sizeof(a->why));
		if (rc)
			return rc;
		a->spool.damaged = 0; /* counted in that part */
	}
	return join(a);
}

/* ---- hosts that are converted at once -------------------------------------------------------- */

/* A host is the place of its first process. */
static void find_hosts(const struct gt_spool *spool, uint32_t *hosts)
{
	for (uint32_t i = 0; i < spool->proc_count; i++) {
		hosts[i] = 0;
		while (strcmp(spool->procs[hosts[i]].header.host, spool->procs[i].header.host) != 0)
			hosts[i]++;
	}
}

/* The shifts of the hosts as corrections that the readers apply, and their errors. */
static int shift(struct gt_assembly *a, const uint32_t *hosts, struct gt_corrections *times)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < a->spool.proc_count; i++) {
		int64_t *error = &a->clock.errors[i];

		rc = gt_shift_correct(&times[i], &a->shifts.shifts[i]); /* none but of first processes */
		if (*error >= 0)
			*error += gt_shift_most(&a->shifts.shifts[hosts[i]]);
		if (a->clock.error_ns >= 0 && *error > a->clock.error_ns)
			a->clock.error_ns = *error;
	}
	a->clock.end_ns += (uint64_t)a->shifts.worst;
	a->facts.tally.last_ns += (uint64_t)a->shifts.worst;
	return rc;
}

static void write_locals(struct gt_assembly *a, const uint32_t *hosts, const struct gt_corrections *times,
			 uint32_t *first)
{
	for (uint32_t i = 0; i < a->layout.location_count; i++) {
		size_t place = (size_t)(a->layout.locations[i].loc->proc - a->spool.procs);
		const struct gt_corrections *c = &times[hosts[place]];
		int64_t error = a->clock.errors[place];

		gt_local_defs_write(a->conv.archive, NULL, i, first[hosts[place]] - 1, c->points,
				    c->count, error < 0 ? 0 : (double)error);
		first[hosts[place]] = i + 1;
	}
}

int gt_hosts_order(struct gt_assembly *a)
{
	size_t n = a->spool.proc_count;
	uint32_t *hosts = calloc(2 * n + 1, sizeof(*hosts));
	struct gt_corrections *times = calloc(n + 1, sizeof(*times));
	struct gt_messages *ends = NULL;
	int rc = hosts && times ? gt_messages_new(&ends, a->workfd) : -ENOMEM;

	if (!rc) {
		find_hosts(&a->spool, hosts);
		rc = gt_order_read(ends, a->workfd, GT_ORDER_NAME, hosts, times, n);
	}
	if (!rc)
		rc = gt_order_make(&a->shifts, ends, a->clock.errors, n);
	if (!rc)
		rc = shift(a, hosts, times);
	if (!rc || rc == -ENOSPC) { /* no room to sort: the times stay as they are */
		write_locals(a, hosts, times, hosts + n);
		rc = 0;
	}
	unlinkat(a->workfd, GT_ORDER_NAME, 0);
	gt_messages_free(ends);
	for (size_t i = 0; times && i < n; i++)
		free(times[i].points);
	free(times);
	free(hosts);
	return rc;
}
