/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process and its locations: names and opening of their files, their definitions.
 */
#include "config.h"

#include "lib/assemble/spool/proc.h"

#include "lib/assemble/util/io.h"
#include "lib/common/process.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool gt_spool_try_again(int rc)
{
	switch (-rc) {
	case 0:
	case EINVAL: /* our own words for what cannot be right */
	case ENODATA:
	case EPROTO:
	case ENOENT: /* not what was recorded: gone, or replaced by something else */
	case ELOOP:
	case ENOTDIR:
	case EISDIR:
	case ENXIO:
	case EACCES:
	case EPERM:
		return false;
	default:
		return true;
	}
}

int gt_proc_open(const struct gt_proc *proc)
{
	return gt_folder_open(proc->root->fd, proc->folder);
}

int gt_loc_open(const struct gt_loc *loc, const char *suffix, int flags)
{
	int folder = gt_proc_open(loc->proc);
	char name[32];
	struct stat st;
	int fd, rc;

	if (folder < 0)
		return folder;
	snprintf(name, sizeof(name), "l%u.%s", loc->id, suffix);
	fd = openat(folder, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	rc = fd < 0 ? -errno : 0;
	close(folder);
	if (rc)
		return rc;
	rc = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* Reads decimal digits (at most nine) and moves *at behind them. */
static bool parse_number(const char **at, uint32_t *value)
{
	const char *begin = *at;

	*value = 0;
	while (isdigit((unsigned char)**at) && *at - begin < 9)
		*value = *value * 10 + (uint32_t)(*(*at)++ - '0');
	return *at > begin && !isdigit((unsigned char)**at);
}

bool gt_spool_folder(const char *name, uint32_t *seq, uint32_t *pid)
{
	return *name++ == 'p' && parse_number(&name, seq) && *name++ == '.' &&
	       parse_number(&name, pid) && !*name;
}

/* "l<id>.win"; the name must be the one that gt_loc_open makes of the number. */
bool gt_spool_window(const char *name, uint32_t *id)
{
	const char *at = name + 1;

	return *name == 'l' && parse_number(&at, id) && !strcmp(at, ".win") &&
	       (name[1] != '0' || name[2] == '.');
}

static int by_id(const void *id, const void *loc)
{
	uint32_t a = *(const uint32_t *)id, b = ((const struct gt_loc *)loc)->id;

	return (a > b) - (a < b);
}

struct gt_loc *gt_proc_loc(const struct gt_proc *proc, uint32_t id)
{
	return proc->loc_count ? bsearch(&id, proc->locs, proc->loc_count, sizeof(*proc->locs), by_id) : NULL;
}

const void *gt_proc_find(const struct gt_proc *proc, unsigned type, uint32_t id, size_t *bytes)
{
	for (; proc; proc = proc->header.origin == 1 ? proc->parent : NULL) {
		const void *found = gt_journal_find(&proc->journal, type, id, bytes);

		if (found)
			return found;
	}
	return NULL;
}

const char *gt_proc_string(const struct gt_proc *proc, uint32_t id)
{
	return id ? gt_proc_find(proc, GT_D_STRING, id, NULL) : NULL;
}

bool gt_proc_same_boot(const struct gt_proc *proc)
{
	char boot[40] = "";
	ssize_t n = gt_read_head(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, sizeof(boot) - 1);

	return n <= 0 || !strncmp(boot, proc->root->run.boot_id, 36);
}

bool gt_proc_alive(const struct gt_proc *proc)
{
	if (proc->header.state == GT_PROC_ENDED || !gt_proc_same_boot(proc))
		return false;
	return gt_process_lives(proc->header.pid, proc->header.start_time);
}

/* There is another of that name, or one of both is no folder: somebody has changed the spool. */
static bool is_in_the_way(int error)
{
	return error == EEXIST || error == ENOTEMPTY || error == ENOTDIR || error == EISDIR ||
	       error == ENOENT;
}

/*
 * Moves the folders of processes that lie in the folder `name` of `top`, at any depth, to `top`. Of one that
 * is no folder, or a folder of somebody else, whoever reads it next says so.
 */
static int raise_from(int top, int at, const char *name, unsigned depth)
{
	DIR *dir = gt_folder_list(at, name);
	struct dirent *entry;
	uint32_t seq, pid;
	int rc = 0;

	if (!dir)
		return gt_spool_try_again(-errno) ? -errno : 0;
	while (!rc && (entry = gt_folder_next(dir, &rc))) {
		if (!gt_spool_folder(entry->d_name, &seq, &pid))
			continue;
		if (depth < 64)
			rc = raise_from(top, dirfd(dir), entry->d_name, depth + 1);
		if (!rc && renameat(dirfd(dir), entry->d_name, top, entry->d_name) && !is_in_the_way(errno))
			rc = -errno;
	}
	closedir(dir);
	return rc;
}

int gt_spool_raise(int fd)
{
	DIR *dir = gt_folder_list(fd, ".");
	struct dirent *entry;
	uint32_t seq, pid;
	int rc = 0;

	if (!dir)
		return -errno;
	while (!rc && (entry = gt_folder_next(dir, &rc)))
		if (gt_spool_folder(entry->d_name, &seq, &pid))
			rc = raise_from(fd, fd, entry->d_name, 0);
	closedir(dir);
	return rc;
}
