/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a run; see run.h. */
#include "config.h"

#include "live/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/assemble/util/array.h"
#include "lib/assemble/util/io.h"
#include "lib/assemble/spool/spool.h"
#include "lib/common/process.h"
#include "lib/common/rundir.h"

#define NESTING 8 /* processes that became another user have the folders of their children in their own */

struct one {
	uint32_t seq, pid;
	bool found;            /* its folder is there */
	struct gt_follow *follow; /* NULL: it has ended, or there is nothing to follow yet */
	bool ended, alive;
};

struct gt_live_run {
	char dir[PATH_MAX];
	int home;              /* the folder of this host's run header */
	int folder;            /* that of the processes */
	struct gt_symbols *symbols;
	struct one *list;
	size_t count, room;
};

/* Where this host's run header is: DIR/spool, or a folder in it if another host has made DIR. */
static int open_home(int spool, const char *host, struct gt_run_header *header)
{
	char name[sizeof(header->host)];
	struct dirent *entry;
	int found = -ENOENT;
	DIR *dir;

	gt_host_name(host, name, sizeof(name));
	if (gt_read_head(spool, "run", header, sizeof(*header)) == (ssize_t)sizeof(*header) &&
	    !strncmp(header->host, name, sizeof(name)))
		return fcntl(spool, F_DUPFD_CLOEXEC, 3);
	dir = gt_folder_list(spool, ".");
	while (dir && found < 0 && (entry = readdir(dir))) {
		int home = strncmp(entry->d_name, GT_HOST_FOLDER, strlen(GT_HOST_FOLDER))
				   ? -1
				   : gt_folder_open(spool, entry->d_name);

		if (home >= 0 &&
		    gt_read_head(home, "run", header, sizeof(*header)) == (ssize_t)sizeof(*header) &&
		    !strncmp(header->host, name, sizeof(name)))
			found = home;
		else if (home >= 0)
			close(home);
	}
	if (dir)
		closedir(dir);
	return found;
}

static struct gt_live_run *fail(struct gt_live_run *run, char *why, size_t size, const char *dir,
				const char *reason)
{
	snprintf(why, size, "%s cannot be followed: %s", dir, reason);
	if (run)
		gt_live_run_close(run);
	return NULL;
}

struct gt_live_run *gt_live_run_open(const char *dir, const char *host, char *why, size_t size)
{
	struct gt_live_run *run = calloc(1, sizeof(*run));
	struct gt_run_header header;
	char path[PATH_MAX + 8];
	int spool;

	if (!run)
		return fail(NULL, why, size, dir, strerror(ENOMEM));
	run->home = run->folder = -1;
	run->symbols = gt_symbols_new();
	if (!run->symbols)
		return fail(run, why, size, dir, strerror(ENOMEM));
	if (!realpath(dir, run->dir))
		return fail(run, why, size, dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/spool", run->dir);
	spool = gt_folder_open(AT_FDCWD, path);
	if (spool < 0)
		return fail(run, why, size, dir, "no run is in progress there");
	run->home = open_home(spool, host, &header);
	close(spool);
	if (run->home < 0)
		return fail(run, why, size, dir, "no process of this host is recorded there");
	if (header.magic != GT_MAGIC_RUN || header.version != GT_FORMAT_VERSION)
		return fail(run, why, size, dir, "another version of gputrace records there");
	header.spool[sizeof(header.spool) - 1] = '\0';
	run->folder = gt_folder_open(AT_FDCWD, header.spool);
	if (run->folder < 0) /* the directory was moved */
		run->folder = fcntl(run->home, F_DUPFD_CLOEXEC, 3);
	return run;
}

void gt_live_run_close(struct gt_live_run *run)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->list[i].follow)
			gt_follow_close(run->list[i].follow);
	free(run->list);
	if (run->symbols)
		gt_symbols_free(run->symbols);
	if (run->home >= 0)
		close(run->home);
	if (run->folder >= 0)
		close(run->folder);
	free(run);
}

bool gt_live_run_over(const struct gt_live_run *run)
{
	struct gt_run_header header;

	return gt_read_head(run->home, "run", &header, sizeof(header)) != (ssize_t)sizeof(header) ||
	       header.state == GT_RUN_DONE || header.state == GT_RUN_TIDY;
}

static struct one *find(struct gt_live_run *run, uint32_t seq, uint32_t pid)
{
	struct one *list;

	for (size_t i = 0; i < run->count; i++)
		if (run->list[i].seq == seq && run->list[i].pid == pid)
			return &run->list[i];
	if (!gt_array_has_room(run->list, run->count, &run->room))
		return NULL;
	list = &run->list[run->count++];
	*list = (struct one){.seq = seq, .pid = pid};
	return list;
}

/* Finds the processes in the folder; those of another user's are in the folders of their parents. */
static void scan(struct gt_live_run *run, int folder, int nesting)
{
	DIR *dir = gt_folder_list(folder, ".");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		uint32_t seq, pid;
		struct one *one = gt_spool_folder(entry->d_name, &seq, &pid) ? find(run, seq, pid) : NULL;
		int fd = one && !one->ended ? gt_folder_open(folder, entry->d_name) : -1;

		if (!one)
			continue;
		one->found = true;
		if (fd >= 0 && nesting)
			scan(run, fd, nesting - 1);
		one = find(run, seq, pid); /* it may have moved */
		if (fd >= 0 && one && !one->follow)
			one->follow = gt_follow_open(fd, run->dir);
		if (fd >= 0 && (!one || !one->follow || gt_follow_folder(one->follow) != fd))
			close(fd);
	}
	if (dir)
		closedir(dir);
}

/* Has it become another program? Then that has a folder of its own, with a later number. */
static bool replaced(const struct gt_live_run *run, const struct one *one)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->list[i].pid == one->pid && run->list[i].seq > one->seq && run->list[i].follow)
			return true;
	return false;
}

static void drop(struct one *one)
{
	if (one->follow)
		gt_follow_close(one->follow);
	one->follow = NULL;
	one->ended = true;
	one->alive = false;
}

size_t gt_live_run_look(struct gt_live_run *run, uint64_t interval_ns)
{
	size_t alive = 0, kept = 0;

	for (size_t i = 0; i < run->count; i++)
		run->list[i].found = false;
	scan(run, run->folder, NESTING);
	for (size_t i = 0; i < run->count; i++) {
		struct one *one = &run->list[i];

		if (one->follow && replaced(run, one))
			drop(one);
		one->alive = one->follow && gt_follow_look(one->follow, run->symbols, interval_ns);
		if (one->follow && !one->alive)
			drop(one);
		alive += one->alive;
	}
	for (size_t i = 0; i < run->count; i++)
		if (run->list[i].found || run->list[i].follow)
			run->list[kept++] = run->list[i];
	run->count = kept;
	return alive;
}

const struct gt_image *gt_live_run_image(const struct gt_live_run *run, size_t i)
{
	for (size_t k = 0; k < run->count; k++)
		if (run->list[k].alive && !i--)
			return gt_follow_image(run->list[k].follow);
	return NULL;
}
