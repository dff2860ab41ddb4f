/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening a spool: the run header, the folders of the processes, the headers of their windows.
 *
 * Limits: two descriptors stay open, whatever the number of processes.
 */
#include "config.h"

#include "lib/assemble/spool/spool.h"

#include "lib/assemble/spool/partials.h"
#include "lib/assemble/spool/window.h"
#include "lib/assemble/util/array.h"
#include "lib/assemble/util/io.h"
#include "lib/common/process.h"
#include "lib/common/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fail(int rc, char *why, size_t size, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int fail(int rc, char *why, size_t size, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, size, format, ap);
	va_end(ap);
	return rc;
}

static void terminate(char *text, size_t size)
{
	text[size - 1] = 0;
}

/* Ticks above this cannot have been recorded: the present time with a day to spare. */
static uint64_t highest_tick(const struct gt_proc_header *header)
{
	const uint64_t day = UINT64_C(86400) * 1000000000;
	struct timespec now;
	int64_t passed;
	unsigned __int128 ticks;
	uint64_t hz = header->nominal_hz;

	if (!header->first.tick)
		return UINT64_MAX;
	if (!hz || hz > UINT64_C(100000000000))
		hz = UINT64_C(100000000000); /* unknown: faster than any clock */
	clock_gettime(CLOCK_REALTIME, &now);
	if (header->first.real_ns <= 0 ||
	    header->first.real_ns / 1000000000 > now.tv_sec + 86400 * 365)
		return UINT64_MAX;
	passed = ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec) - header->first.real_ns;
	if (passed < 0)
		passed = 0;
	ticks = ((unsigned __int128)(uint64_t)passed * 2 + day) * hz / 1000000000;
	if (ticks >= UINT64_MAX - header->first.tick)
		return UINT64_MAX;
	return header->first.tick + (uint64_t)ticks;
}

/* `n` bytes of the header have been read. */
static int look_at_header(struct gt_proc *proc, size_t n)
{
	struct gt_proc_header *header = &proc->header;

	if (n < sizeof(*header) || header->magic != GT_MAGIC_PROC ||
	    header->version != GT_FORMAT_VERSION || header->header_bytes < sizeof(*header))
		return -EINVAL;
	terminate(header->host, sizeof(header->host));
	terminate(header->program, sizeof(header->program));
	proc->ended = header->state == GT_PROC_ENDED ||
		      (header->state == GT_PROC_EXEC && header->how == GT_END_EXEC);
	proc->end_tick = proc->ended || header->how == GT_END_SIGNAL ? header->end : 0;
	proc->tick_max = highest_tick(header);
	if (proc->end_tick < header->begin)
		proc->end_tick = header->begin;
	if (proc->end_tick > proc->tick_max)
		proc->end_tick = proc->tick_max;
	return 0;
}

static int compare_locs(const void *a, const void *b)
{
	const struct gt_loc *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int read_proc(struct gt_proc *proc, int folder)
{
	ssize_t n = gt_read_head(folder, "proc", &proc->header, sizeof(proc->header));

	if (n < 0)
		return (int)n;
	if (!proc->header.magic) /* nothing yet */
		return -ENODATA;
	return look_at_header(proc, (size_t)n);
}

/* Finds the window files of a process. Unusable ones are counted in *damaged. */
static int read_locations(struct gt_proc *proc, int folder, uint64_t *damaged)
{
	DIR *dir = gt_folder_list(folder, ".");
	size_t room = 0;
	struct dirent *entry;
	int rc = 0;

	if (!dir)
		return -errno;
	while ((entry = gt_folder_next(dir, &rc))) {
		struct gt_loc *loc;
		uint32_t id;

		if (!gt_spool_window(entry->d_name, &id))
			continue;
		if (!gt_array_has_room(proc->locs, proc->loc_count, &room)) {
			rc = -ENOMEM;
			break;
		}
		loc = &proc->locs[proc->loc_count];
		memset(loc, 0, sizeof(*loc));
		loc->proc = proc;
		loc->id = id;
		loc->number = GT_NOT_WRITTEN;
		rc = gt_window_read(loc);
		if (!rc)
			proc->loc_count++;
		else if (gt_spool_try_again(rc))
			break;
		else if (rc != -ENODATA) /* made, but not filled in when the process was killed */
			++*damaged;
		rc = 0;
	}
	closedir(dir);
	if (proc->loc_count)
		qsort(proc->locs, proc->loc_count, sizeof(*proc->locs), compare_locs);
	return rc;
}

static int read_folder(struct gt_spool *spool, struct gt_proc *proc)
{
	int folder = proc->child ? -1 : gt_proc_open(proc);
	int rc;

	if (proc->child) /* written at its end */
		return proc->header.state != GT_PROC_ENDED ? -EINVAL
							   : look_at_header(proc, sizeof(proc->header));
	if (folder < 0)
		return folder;
	rc = read_proc(proc, folder);
	if (!rc)
		rc = gt_journal_read(&proc->journal, folder);
	if (!rc)
		rc = read_locations(proc, folder, &spool->damaged);
	close(folder);
	if (rc)
		return rc;
	if (!proc->ended)
		for (size_t i = 0; i < proc->loc_count; i++)
			if (proc->locs[i].last_tick > proc->end_tick)
				proc->end_tick = proc->locs[i].last_tick;
	return 0;
}

static void free_proc(struct gt_proc *proc)
{
	gt_journal_free(&proc->journal);
	free(proc->locs);
	memset(proc, 0, sizeof(*proc));
}

static int compare_procs(const void *a, const void *b)
{
	const struct gt_proc *x = a, *y = b;

	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct gt_proc *add_proc(struct gt_spool *spool, struct gt_root *root, uint32_t seq, uint32_t pid,
				size_t *room)
{
	struct gt_proc *proc;

	if (!gt_array_has_room(spool->procs, spool->proc_count, room))
		return NULL;
	proc = &spool->procs[spool->proc_count++];
	memset(proc, 0, sizeof(*proc));
	proc->seq = seq;
	proc->pid = pid;
	proc->spool = spool;
	proc->root = root;
	proc->number = GT_NOT_WRITTEN;
	snprintf(proc->folder, sizeof(proc->folder), "p%04u.%u", seq % 1000000000, pid % 1000000000);
	return proc;
}

/*
 * The next header at *at, or behind something that is none: one that could not be written to its end. 1; 0:
 * there is no more; or why that cannot be known.
 */
static int next_child(int fd, uint64_t *at, struct gt_proc_header *header, uint64_t *damaged)
{
	const uint64_t magic = GT_MAGIC_PROC;
	char text[2 * sizeof(*header)];
	const char *next;
	ssize_t n;

	while ((n = gt_read_at(fd, text, sizeof(text), *at)) > 0) {
		bool begins = n >= (ssize_t)sizeof(magic) && !memcmp(text, &magic, sizeof(magic));
		size_t from = begins ? sizeof(magic) : 0;

		/* The next one begins within this if this was cut off. */
		next = memmem(text + from, (size_t)n - from, &magic, sizeof(magic));
		if (begins && n >= (ssize_t)sizeof(*header) && (!next || next >= text + sizeof(*header))) {
			memcpy(header, text, sizeof(*header));
			*at += sizeof(*header);
			return 1;
		}
		*damaged += next || !begins; /* the last one may still be being written */
		if (!next)
			return 0;
		*at += (uint64_t)(next - text);
	}
	return (int)n;
}

/* Children that have recorded nothing are in a file of the process that they were forked from. */
static int list_children(struct gt_spool *spool, struct gt_root *root, const char *folder, size_t *room)
{
	int dir = gt_folder_open(root->fd, folder);
	int fd = dir < 0 ? -1 : openat(dir, GT_CHILDREN, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct gt_proc_header header;
	uint64_t at = 0;
	struct stat st;
	int rc = fd < 0 && dir >= 0 ? -errno : 0;

	if (dir >= 0)
		close(dir);
	if (fd < 0) {
		spool->damaged += rc && rc != -ENOENT && !gt_spool_try_again(rc);
		return gt_spool_try_again(rc) ? rc : 0;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		spool->damaged++;
	else
		while (!rc && (rc = next_child(fd, &at, &header, &spool->damaged)) > 0) {
			struct gt_proc *proc = add_proc(spool, root, header.seq, header.pid, room);

			rc = proc ? 0 : -ENOMEM;
			if (proc && gt_spool_covered(spool, root, proc->folder))
				spool->proc_count--;
			else if (proc)
				proc->header = header;
			if (proc)
				proc->child = true;
		}
	close(fd);
	return rc;
}

/* Collects the names first, so that the processes never move once locations point to them. */
static int list_folders(struct gt_spool *spool, struct gt_root *root, size_t *room)
{
	DIR *dir = gt_folder_list(root->fd, ".");
	struct dirent *entry;
	int rc = 0;

	if (!dir)
		return -errno;
	while (!rc && (entry = gt_folder_next(dir, &rc))) {
		struct gt_proc *proc;
		uint32_t seq, pid;

		if (!gt_spool_folder(entry->d_name, &seq, &pid))
			continue;
		rc = list_children(spool, root, entry->d_name, room);
		if (rc || gt_spool_covered(spool, root, entry->d_name))
			continue;
		proc = add_proc(spool, root, seq, pid, room);
		if (proc)
			memcpy(proc->folder, entry->d_name, strlen(entry->d_name) + 1); /* at most 20 */
		else
			rc = -ENOMEM;
	}
	closedir(dir);
	return rc;
}

static void repoint(struct gt_proc *proc)
{
	for (size_t i = 0; i < proc->loc_count; i++)
		proc->locs[i].proc = proc;
}

/*
 * The process that this one was forked from, or that became this one by exec. A parent's number is
 * always lower, so that there are no cycles.
 */
static struct gt_proc *find_parent(const struct gt_spool *spool, const struct gt_proc *proc)
{
	for (size_t i = (size_t)(proc - spool->procs); i-- > 0;) {
		struct gt_proc *other = &spool->procs[i];

		if (other->root != proc->root)
			break;
		if (proc->header.parent_seq != UINT32_MAX
			    ? other->seq == proc->header.parent_seq
			    : other->pid == proc->pid && other->header.state == GT_PROC_EXEC)
			return other;
	}
	return NULL;
}

/* Did `by` start this process, so far as is known? One that was spawned does not say who its parent is. */
static bool may_be_child(const struct gt_proc *proc, const struct gt_proc *by)
{
	while (proc->parent && proc->parent->pid == proc->pid)
		proc = proc->parent;
	return !proc->parent || proc->parent->pid == by->pid;
}

void gt_spool_waited(const struct gt_proc *by, uint32_t pid, uint32_t status, uint64_t tick)
{
	struct gt_spool *spool = by->spool;

	if (!WIFEXITED((int)status) && !WIFSIGNALED((int)status))
		return;
	for (size_t i = spool->proc_count; i-- > 0;) { /* a number that was used again: the last one before */
		struct gt_proc *proc = &spool->procs[i];

		if (proc->pid != pid || proc->root != by->root || proc->header.begin > tick)
			continue;
		if (!proc->ended && proc->header.how == GT_END_NONE && may_be_child(proc, by))
			__atomic_store_n(&proc->waited, GT_WAITED | (status & 0xffff), __ATOMIC_RELAXED);
		return;
	}
}

/* They may lose more when this has been read: the number is the least. */
static void lost_meanwhile(struct gt_proc *proc)
{
	struct gt_proc_header now;
	struct gt_process process;
	int folder;

	if (proc->header.state != GT_PROC_ENDED || !gt_proc_same_boot(proc) ||
	    !gt_process_read(proc->pid, &process) || process.start_time != proc->header.start_time ||
	    process.threads < 2 + (process.state == 'Z')) /* main() by pthread_exit() still counts */
		return;
	folder = gt_proc_open(proc);
	if (folder < 0)
		return;
	if (gt_read_head(folder, "proc", &now, sizeof(now)) == (ssize_t)sizeof(now))
		memcpy(proc->header.lost, now.lost, sizeof(now.lost));
	close(folder);
	proc->goes_on = proc->header.lost[GT_LOSS_LATE] != 0;
}

void gt_spool_ends(struct gt_spool *spool)
{
	for (size_t i = 0; i < spool->proc_count; i++) {
		struct gt_proc *proc = &spool->procs[i];
		int status = (int)(proc->waited & 0xffff);

		lost_meanwhile(proc);
		if (!(proc->waited & GT_WAITED))
			continue;
		proc->ended = WIFEXITED(status);
		proc->header.how = proc->ended ? GT_END__EXIT : GT_END_SIGNAL;
		proc->header.status = (uint32_t)(proc->ended ? WEXITSTATUS(status) : WTERMSIG(status));
	}
}

static int read_processes(struct gt_spool *spool)
{
	size_t kept = 0, room = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < spool->root_count; i++)
		if (spool->roots[i].fd >= 0) {
			rc = gt_spool_raise(spool->roots[i].fd);
			rc = rc ? rc : list_folders(spool, &spool->roots[i], &room);
		}
	if (rc)
		return rc;
	if (spool->proc_count)
		qsort(spool->procs, spool->proc_count, sizeof(*spool->procs), compare_procs);
	for (size_t i = 0; i < spool->proc_count; i++) {
		struct gt_proc *proc = &spool->procs[i];

		rc = kept && !compare_procs(proc, &spool->procs[kept - 1]) ? -EINVAL
									   : read_folder(spool, proc);
		if (gt_spool_try_again(rc))
			return rc;
		if (rc) { /* killed before it had filled in its header, or damaged */
			spool->unborn += rc == -ENOENT || rc == -ENODATA;
			spool->damaged += rc != -ENOENT && rc != -ENODATA;
			free_proc(proc);
			continue;
		}
		if (kept != i) {
			spool->procs[kept] = *proc;
			memset(proc, 0, sizeof(*proc));
			repoint(&spool->procs[kept]);
		}
		kept++;
	}
	spool->proc_count = kept;
	for (size_t i = 0; i < kept; i++)
		spool->procs[i].parent = find_parent(spool, &spool->procs[i]);
	return kept || spool->partial_count ? 0 : -ENODATA;
}

/* Are there processes' folders? 0, -ENOENT: none, or why that cannot be known. */
static int has_folders(int fd)
{
	DIR *dir = gt_folder_list(fd, ".");
	struct dirent *entry;
	bool found = false;
	uint32_t seq, pid;
	int rc = dir ? 0 : -errno;

	while (dir && !found && (entry = gt_folder_next(dir, &rc)))
		found = gt_spool_folder(entry->d_name, &seq, &pid);
	if (dir)
		closedir(dir);
	return found ? 0 : rc ? rc : -ENOENT;
}

/* A folder of ours with processes in it; its name comes from a file, or from the user. */
static int open_processes(int at, const char *path)
{
	int fd = gt_folder_open(at, path);
	struct stat st;
	int rc;

	if (fd < 0)
		return fd;
	rc = fstat(fd, &st) ? -errno : st.st_uid != geteuid() ? -ENOENT : has_folders(fd);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* Did the process in that folder run on that host? 1: yes; 0; or why that cannot be known. */
static int one_of_host(int at, const char *name, const struct gt_root *root)
{
	struct gt_proc_header header = { 0 };
	int folder = gt_folder_open(at, name);
	ssize_t n;

	if (folder < 0)
		return gt_spool_try_again(folder) ? folder : 0;
	n = gt_read_head(folder, "proc", &header, sizeof(header));
	close(folder);
	if (n < 0)
		return gt_spool_try_again((int)n) ? (int)n : 0;
	return n > 0 && !strncmp(header.host, root->run.host, sizeof(header.host));
}

/* Did these processes run on that host? 0, -ENOENT: no, or why that cannot be known. */
static int of_host(int fd, const struct gt_root *root)
{
	DIR *dir = gt_folder_list(fd, ".");
	struct dirent *entry;
	uint32_t seq, pid;
	int found = 0, rc = dir ? 0 : -errno;

	while (dir && !found && (entry = gt_folder_next(dir, &rc)))
		if (gt_spool_folder(entry->d_name, &seq, &pid))
			found = one_of_host(fd, entry->d_name, root);
	if (dir)
		closedir(dir);
	return found > 0 ? 0 : found ? found : rc ? rc : -ENOENT;
}

/* The descriptor, if its processes ran on that host; else it is closed. */
static int if_of_host(int fd, const struct gt_root *root)
{
	int rc = fd < 0 ? fd : of_host(fd, root);

	if (rc && fd >= 0)
		close(fd);
	return rc ? rc : fd;
}

/*
 * A copy of the host's spool among the folders that the user has named, or in one of them. The name
 * that the spool had on its host is unique; a copy under another name is known by its processes. A folder
 * that cannot be read may be the one.
 */
static int find_copy(const struct gt_root *root, char *const *folders)
{
	const char *base = strrchr(root->run.spool, '/');

	for (; folders && *folders; folders++) {
		int above = gt_folder_open(AT_FDCWD, *folders), fd = above < 0 ? above : -ENOENT;

		if (above >= 0 && base && base[1])
			fd = open_processes(above, base + 1);
		if (above >= 0 && fd < 0 && !gt_spool_try_again(fd))
			fd = open_processes(above, ".");
		if (above >= 0)
			close(above);
		fd = if_of_host(fd, root);
		if (fd >= 0 || gt_spool_try_again(fd))
			return fd;
	}
	return -ENOENT;
}

/*
 * Finds the folder with the processes: where the header says, or else a copy of that, or else beside
 * the header. root->fd is -1 if there is none; an error only if it may be otherwise another time.
 */
static int find_processes(struct gt_root *root, int home, char *const *folders)
{
	char beside[160];
	size_t n, length = strlen(root->run.spool);
	int fd, rc;

	root->fd = home;
	if (root->run.next_seq && root->run.next_seq == root->run.untraced)
		return 0; /* none of its processes could record anything */
	n = (size_t)snprintf(beside, sizeof(beside), "/spool%s%s", root->name[0] ? "/" : "",
			     root->name);
	if (root->run.spool[0] != '/' || (length >= n && !strcmp(root->run.spool + length - n, beside)))
		return 0;
	/* Or it has the same name on another host. */
	fd = if_of_host(open_processes(AT_FDCWD, root->run.spool), root);
	if (fd < 0 && !gt_spool_try_again(fd)) {
		fd = find_copy(root, folders);
		root->given = fd >= 0;
	}
	rc = fd < 0 && !gt_spool_try_again(fd) ? has_folders(home) : -ENOENT;
	if (!rc)
		return 0;
	close(home);
	root->fd = fd < 0 ? -1 : fd;
	root->elsewhere = true;
	rc = fd < 0 && gt_spool_try_again(fd) ? fd : rc;
	return gt_spool_try_again(rc) ? rc : 0;
}

/*
 * Behind the page: a byte for each process that could not map it (gt_run_absent). A damaged file may have any
 * number of them.
 */
static int count_absent(struct gt_run_header *run, int home)
{
	enum { MOST = 1 << 24 };
	int fd = openat(home, "run", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	unsigned char causes[4096];
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	for (off_t at = GT_PAGE, all = 0; n > 0 && all < MOST; at += n, all += n) {
		off_t data = lseek(fd, at, SEEK_DATA); /* a hole is none of theirs */

		if (data < 0)
			break;
		at = data > at ? data : at;
		n = gt_read_at(fd, causes, sizeof(causes), (uint64_t)at);
		for (ssize_t i = 0; i < n; i++)
			run->absent[causes[i] % GT_ABSENT_N]++;
	}
	close(fd);
	return n < 0 ? (int)n : 0;
}

static int read_root(struct gt_root *root, int home, char *const *folders, char *why, size_t why_size)
{
	ssize_t n = gt_read_head(home, "run", &root->run, sizeof(root->run));
	int rc;

	root->fd = -1;
	if (n < 0) {
		close(home);
		return fail((int)n, why, why_size, "its spool has no run header: %s",
			    strerror((int)-n));
	}
	if ((size_t)n < sizeof(root->run) || root->run.magic != GT_MAGIC_RUN) {
		close(home);
		return fail(-EINVAL, why, why_size,
			    "its spool was not made by gputrace, or by another kind of machine");
	}
	if (root->run.version != GT_FORMAT_VERSION) {
		close(home);
		return fail(-EPROTO, why, why_size,
			    "its spool has format %u, this gputrace reads format %u",
			    root->run.version, GT_FORMAT_VERSION);
	}
	terminate(root->run.boot_id, sizeof(root->run.boot_id));
	terminate(root->run.host, sizeof(root->run.host));
	terminate(root->run.spool, sizeof(root->run.spool));
	rc = count_absent(&root->run, home);
	if (rc)
		close(home);
	else
		rc = find_processes(root, home, folders);
	return rc ? fail(rc, why, why_size, "its spool cannot be read: %s", strerror(-rc)) : 0;
}

static int compare_roots(const void *a, const void *b)
{
	const struct gt_root *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* The folders of further hosts. One that cannot be used is counted as damaged. */
static int read_hosts(struct gt_spool *spool, int home, char *const *folders)
{
	DIR *dir = gt_folder_list(home, ".");
	struct dirent *entry;
	char why[256];
	int rc = 0;

	if (!dir)
		return -errno;
	while ((entry = gt_folder_next(dir, &rc))) {
		struct gt_root *root;
		int folder;

		if (strncmp(entry->d_name, GT_HOST_FOLDER, strlen(GT_HOST_FOLDER)) ||
		    strlen(entry->d_name) >= sizeof(root->name))
			continue;
		folder = gt_folder_open(home, entry->d_name);
		if (folder < 0 && gt_spool_try_again(folder)) {
			rc = folder; /* rather than to do without the host */
			break;
		}
		if (folder < 0)
			continue;
		root = realloc(spool->roots, (spool->root_count + 1) * sizeof(*root));
		if (!root) {
			close(folder);
			rc = -ENOMEM;
			break;
		}
		spool->roots = root;
		root += spool->root_count;
		memset(root, 0, sizeof(*root));
		snprintf(root->name, sizeof(root->name), "%.127s", entry->d_name);
		rc = gt_spool_list_partials(spool, folder, root->name);
		if (rc) {
			close(folder);
			break;
		}
		rc = read_root(root, folder, folders, why, sizeof(why));
		if (gt_spool_try_again(rc))
			break;
		if (rc)
			spool->damaged++;
		else
			spool->root_count++;
		rc = 0;
	}
	closedir(dir);
	if (spool->root_count > 1)
		qsort(spool->roots + 1, spool->root_count - 1, sizeof(*spool->roots), compare_roots);
	return rc;
}

/* Everything but the first root has been done. */
static int finish_open(struct gt_spool *spool, int rc, char *why, size_t why_size)
{
	for (size_t i = 0; i < spool->root_count; i++)
		spool->missing += spool->roots[i].fd < 0;
	if (!rc)
		rc = gt_spool_sort_partials(spool);
	if (!rc)
		rc = read_processes(spool);
	if (rc == -ENODATA && spool->missing)
		rc = 0; /* it may be found elsewhere */
	if (!rc)
		return 0;
	gt_spool_close(spool);
	if (rc == -ENODATA)
		return fail(rc, why, why_size, "no process recorded anything in it");
	return fail(rc, why, why_size, "its spool cannot be read: %s",
		    rc == -EPROTO ? "a partial archive of a host is damaged" : strerror(-rc));
}

int gt_spool_open_host(struct gt_spool *spool, int dirfd, const char *name, char *why,
		       size_t why_size)
{
	char path[160];
	int home, rc;

	memset(spool, 0, sizeof(*spool));
	spool->dirfd = dirfd;
	spool->roots = calloc(1, sizeof(*spool->roots));
	if (!spool->roots)
		return fail(-ENOMEM, why, why_size, "no memory");
	snprintf(path, sizeof(path), "spool/%s", name);
	snprintf(spool->roots[0].name, sizeof(spool->roots[0].name), "%s", name);
	home = gt_folder_open(dirfd, path);
	rc = home < 0 ? home : gt_spool_list_partials(spool, home, name);
	if (rc) {
		if (home >= 0)
			close(home);
		gt_spool_close(spool);
		return fail(rc, why, why_size, "%s: %s", path, strerror(-rc));
	}
	spool->root_count = 1;
	rc = read_root(&spool->roots[0], home, NULL, why, why_size);
	if (rc) {
		gt_spool_close(spool);
		return rc;
	}
	spool->run = spool->roots[0].run;
	return finish_open(spool, 0, why, why_size);
}

int gt_spool_open(struct gt_spool *spool, int dirfd, char *const *folders, char *why,
		  size_t why_size)
{
	int home, copy, rc;

	memset(spool, 0, sizeof(*spool));
	spool->dirfd = -1;
	home = gt_folder_open(dirfd, "spool");
	if (home < 0)
		return fail(home, why, why_size, "there is no folder 'spool' in it: %s",
			    strerror(-home));
	copy = fcntl(home, F_DUPFD_CLOEXEC, 0);
	rc = copy < 0 ? -errno : 0;
	spool->roots = calloc(1, sizeof(*spool->roots));
	if (!spool->roots || rc) {
		close(home);
		if (copy >= 0)
			close(copy);
		gt_spool_close(spool);
		return rc ? fail(rc, why, why_size, "its spool cannot be read: %s", strerror(-rc))
			  : fail(-ENOMEM, why, why_size, "no memory");
	}
	spool->root_count = 1;
	rc = read_root(&spool->roots[0], copy, folders, why, why_size);
	if (rc) {
		close(home);
		gt_spool_close(spool);
		return rc;
	}
	spool->run = spool->roots[0].run;
	spool->dirfd = dirfd;
	rc = gt_spool_list_partials(spool, home, "");
	if (!rc)
		rc = read_hosts(spool, home, folders);
	close(home);
	return finish_open(spool, rc, why, why_size);
}

void gt_spool_close(struct gt_spool *spool)
{
	for (size_t i = 0; i < spool->proc_count; i++)
		free_proc(&spool->procs[i]);
	free(spool->procs);
	for (size_t i = 0; i < spool->root_count; i++)
		if (spool->roots[i].fd >= 0)
			close(spool->roots[i].fd);
	free(spool->roots);
	for (size_t i = 0; i < spool->partial_count; i++)
		free(spool->partials[i].covers);
	free(spool->partials);
	free(spool->covered);
	memset(spool, 0, sizeof(*spool));
	spool->dirfd = -1;
}
