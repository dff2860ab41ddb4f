/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors in a process whose program may close, duplicate over or count them; and the one that is
 * kept: of the process's spool folder. All that is opened later is opened relative to it, so that the
 * archive may be renamed, and the program may change its root or its user.
 *
 * Limits: a program that closes our descriptor and opens another file in the microsecond between
 * gt_file_valid and the write can still fool us; nothing in user space can prevent that.
 */
#include "lib/record/record.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define HIGHEST 65536u /* the kernel makes a table of all numbers up to the highest in use */

int gt_file_move(int fd, int number)
{
	int high = gt_sys_fcntl(fd, F_DUPFD_CLOEXEC, number);

	if (high < 0)
		return fd;
	gt_sys_close(fd);
	return high;
}

/* Is this thread the only one? */
static bool alone(void)
{
	struct stat st;

	return !gt_sys_fstatat(AT_FDCWD, "/proc/self/task", &st, 0) && st.st_nlink == 3;
}

/*
 * A number that the program can neither get nor count: above its soft limit, which is raised for that
 * moment. If that may not be, or other threads could see it, a high one below.
 */
static int move_away(int fd)
{
	static const int floor_numbers[] = { GT_FILE_HIGH, 400, 100, 40, 20 };
	struct rlimit was, raised;
	int number, moved = fd;

	if (!GT_SYS4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &was) && was.rlim_cur < HIGHEST && alone()) {
		number = was.rlim_cur < GT_FILE_HIGH ? GT_FILE_HIGH : (int)was.rlim_cur;
		raised = (struct rlimit){ (rlim_t)number + 1,
					  was.rlim_max > (rlim_t)number ? was.rlim_max : (rlim_t)number + 1 };
		if (!GT_SYS4(SYS_prlimit64, 0, RLIMIT_NOFILE, &raised, NULL)) {
			moved = gt_file_move(fd, number);
			GT_SYS4(SYS_prlimit64, 0, RLIMIT_NOFILE, &was, NULL);
		}
	}
	for (unsigned i = 0; moved == fd && i < sizeof(floor_numbers) / sizeof(*floor_numbers); i++)
		moved = gt_file_move(fd, floor_numbers[i]);
	return moved;
}

int gt_file_keep(struct gt_file *file, int fd)
{
	struct stat st;
	int rc = gt_sys_fstat(fd, &st);

	if (!rc)
		fd = move_away(fd);
	if (rc) {
		gt_sys_close(fd);
		file->fd = -1;
		return rc;
	}
	file->fd = fd;
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	return 0;
}

bool gt_file_valid(const struct gt_file *file)
{
	struct stat st;

	return file->fd >= 0 && !gt_sys_fstat(file->fd, &st) && st.st_ino == file->ino &&
	       st.st_dev == file->dev;
}

int gt_file_pwrite(int fd, const void *data, size_t bytes, uint64_t offset)
{
	const char *from = data;
	int tries = 0;

	while (bytes) {
		ssize_t n = gt_sys_pwrite(fd, from, bytes, offset);

		if (n == -EINTR || n == -EAGAIN || n == 0) {
			if (tries++ > 100)
				return n ? (int)n : -EIO;
			continue;
		}
		if (n < 0)
			return (int)n;
		from += n;
		bytes -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

int gt_file_reserve(int fd, uint64_t offset, uint64_t bytes)
{
	static const char zeros[GT_PAGE];
	int rc = gt_sys_fallocate(fd, 0, offset, bytes);

	if (rc != -EOPNOTSUPP && rc != -ENOSYS)
		return rc;
	for (rc = 0; !rc && bytes; offset += GT_PAGE, bytes -= GT_PAGE)
		rc = gt_file_pwrite(fd, zeros, GT_PAGE, offset);
	return rc;
}

/* ---- the spool folder ------------------------------------------------------------------------- */

static struct gt_file folder = { .fd = -1 };
static struct gt_lock folder_lock;

int gt_folder_keep(int fd)
{
	return gt_file_keep(&folder, fd);
}

struct gt_file gt_folder_forked(void)
{
	struct gt_file parents = folder;

	folder = (struct gt_file){ .fd = -1 };
	folder_lock = (struct gt_lock){ 0 };
	return parents;
}

void gt_folder_close(void)
{
	uint64_t mask = gt_lock(&folder_lock);

	if (mask != GT_LOCK_REFUSED && gt_file_valid(&folder))
		gt_sys_close(folder.fd);
	if (mask != GT_LOCK_REFUSED)
		folder = (struct gt_file){ .fd = -1 };
	gt_unlock(&folder_lock, mask);
}

void gt_folder_give_up(void)
{
	uint64_t mask = gt_lock(&folder_lock);

	if (mask != GT_LOCK_REFUSED && gt_file_valid(&folder))
		gt_sys_close(folder.fd);
	if (mask != GT_LOCK_REFUSED)
		folder.fd = -1;
	gt_unlock(&folder_lock, mask);
}

/* The program has closed it: finds it again by its path. Somebody may have put another one there. */
static int open_again(void)
{
	struct gt_file again;
	int rc = gt_sys_openat(AT_FDCWD, gt_proc_folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (rc >= 0)
		rc = gt_file_keep(&again, rc);
	if (!rc && (again.ino != folder.ino || again.dev != folder.dev)) {
		gt_sys_close(again.fd);
		rc = -ESTALE;
	}
	folder.fd = rc ? -1 : again.fd;
	return rc ? rc : folder.fd;
}

int gt_folder(void)
{
	uint64_t mask = gt_lock(&folder_lock);
	int fd = -EBUSY;

	if (mask != GT_LOCK_REFUSED)
		fd = gt_file_valid(&folder) ? folder.fd : folder.ino ? open_again() : -EBADF;
	gt_unlock(&folder_lock, mask);
	return fd;
}

int gt_folder_open(const char *name, int flags)
{
	int at = gt_folder();

	return at < 0 ? at : gt_sys_openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* ---- without descriptors ------------------------------------------------------------------------- */

struct apart {
	int (*function)(void *);
	void *argument;
	int folder, other, result;
};

/* More than is open at the same time anywhere here. */
static void close_some(const struct apart *apart)
{
	for (int fd = 0, closed = 0; fd < 64 && closed < 8; fd++)
		if (fd != 2 && fd != apart->folder && fd != apart->other)
			closed += !gt_sys_close(fd);
}

static int do_apart(struct apart *apart)
{
	struct rlimit limit;

	close_some(apart);
	if (!GT_SYS4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		GT_SYS4(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL);
	}
	apart->result = apart->function(apart->argument);
	return (int)GT_SYS1(SYS_exit, 0);
}

/* As vfork: on the same stack, while the caller waits; so this must not be inlined. */
static __attribute__((noinline)) int run_apart(struct apart *apart)
{
	int pid = (int)gt_syscall6(SYS_clone, CLONE_VM | CLONE_VFORK, 0, 0, 0, 0, 0);

	return pid ? pid : do_apart(apart);
}

int gt_folder_apart(int (*function)(void *), void *argument, int other)
{
	struct apart apart = { function, argument, folder.fd, other, 0 };
	uint64_t mask;
	int pid;

	apart.result = function(argument);
	if (apart.result != -EMFILE)
		return apart.result;
	mask = gt_signals_block(); /* no handler of the program runs there */
	pid = run_apart(&apart);
	if (pid > 0)
		GT_SYS4(SYS_wait4, pid, NULL, __WCLONE, NULL);
	gt_signals_restore(mask);
	return apart.result;
}
