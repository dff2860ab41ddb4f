/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moving a node-local spool; see collect.h.
 *
 * Everything is copied to a folder of its own first, then put in place by renaming, then the run
 * header says that it is there, and only then the original is removed: whoever reads the header finds
 * a whole spool at any moment.
 *
 * Limits: plain files of processes' folders only, which is all there is.
 */
#include "config.h"

#include "lib/assemble/spool/collect.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/assemble/util/io.h"
#include "lib/assemble/spool/spool.h"
#include "lib/format.h"

#define COPIES "copies" /* in `home`, while it is being done */

static int copy_folder(int from, int to, const char *name, char *buffer)
{
	int source = gt_folder_open(from, name), target = -1, rc = 0;
	DIR *dir = source < 0 ? NULL : gt_folder_list(source, ".");
	struct dirent *entry;

	if (source < 0)
		return source;
	if (!dir || mkdirat(to, name, 0700) || (target = gt_folder_open(to, name)) < 0)
		rc = errno ? -errno : -EIO;
	while (!rc && (entry = gt_folder_next(dir, &rc)))
		if (entry->d_name[0] != '.') {
			rc = gt_copy_file(source, entry->d_name, target, entry->d_name, buffer);
			rc = rc == -EISDIR ? 0 : rc; /* not ours */
		}
	if (dir)
		closedir(dir);
	if (target >= 0)
		close(target);
	close(source);
	return rc;
}

/* Removes a process's folder. */
static void remove_folder(int at, const char *name)
{
	int fd = gt_folder_open(at, name);
	DIR *dir = fd < 0 ? NULL : gt_folder_list(fd, ".");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (fd >= 0)
		close(fd);
	unlinkat(at, name, AT_REMOVEDIR);
}

enum what { COPY, PLACE, REMOVE };

/* Does one thing with all processes' folders in `from`. */
static int for_all(int from, int to, enum what what, char *buffer)
{
	DIR *dir = gt_folder_list(from, ".");
	struct dirent *entry;
	uint32_t seq, pid;
	int rc = 0;

	if (!dir)
		return -errno;
	while (!rc && (entry = gt_folder_next(dir, &rc))) {
		const char *name = entry->d_name;

		if (!gt_spool_folder(name, &seq, &pid))
			continue;
		if (what == COPY)
			rc = copy_folder(from, to, name, buffer);
		else if (what == REMOVE)
			remove_folder(from, name);
		else if (renameat(from, name, to, name))
			rc = -errno;
	}
	closedir(dir);
	return rc;
}

static int collect(int home, int local, char *buffer)
{
	int copies, rc;

	if (mkdirat(home, COPIES, 0700) && errno != EEXIST)
		return -errno;
	copies = gt_folder_open(home, COPIES);
	if (copies < 0)
		return copies;
	rc = gt_spool_raise(local);
	for_all(copies, -1, REMOVE, NULL); /* what an earlier attempt has left */
	if (!rc)
		rc = for_all(local, copies, COPY, buffer);
	if (!rc)
		rc = for_all(copies, home, PLACE, NULL);
	if (rc)
		for_all(copies, -1, REMOVE, NULL);
	close(copies);
	unlinkat(home, COPIES, AT_REMOVEDIR);
	return rc;
}

int gt_collect(const char *home)
{
	struct gt_run_header run;
	int dir = gt_folder_open(AT_FDCWD, home), fd = -1, local = -1, rc = -EIO;
	char *buffer = malloc(GT_COPY_BUFFER), where[sizeof(run.spool)];

	if (dir < 0 || !buffer) {
		free(buffer);
		return dir < 0 ? dir : -ENOMEM;
	}
	fd = openat(dir, "run", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || pread(fd, &run, sizeof(run), 0) != (ssize_t)sizeof(run))
		goto done;
	run.spool[sizeof(run.spool) - 1] = 0;
	if (!strcmp(run.spool, home)) { /* it is there */
		rc = 0;
		goto done;
	}
	snprintf(where, sizeof(where), "%s", run.spool);
	local = gt_folder_open(AT_FDCWD, where);
	if (local < 0) {
		rc = local;
		goto done;
	}
	rc = collect(dir, local, buffer);
	if (rc)
		goto done;
	memset(run.spool, 0, sizeof(run.spool));
	snprintf(run.spool, sizeof(run.spool), "%s", home);
	if (pwrite(fd, run.spool, sizeof(run.spool), offsetof(struct gt_run_header, spool)) !=
	    (ssize_t)sizeof(run.spool)) {
		rc = -EIO;
		goto done;
	}
	for_all(local, -1, REMOVE, NULL);
	rmdir(where);
done:
	if (local >= 0)
		close(local);
	if (fd >= 0)
		close(fd);
	close(dir);
	free(buffer);
	return rc;
}
