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
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define HIGHEST 65536u /* the kernel makes a table of all numbers up to the highest in use */
#define ROOM    64     /* numbers above the limit to look at: a child's parent has the first one */

/* Makes `number`, a copy, the file's descriptor. */
static void replace(struct gt_file *file, int number)
{
	struct gt_file high = { number, file->dev, file->ino };

	if (high.fd < 0)
		return;
	if (!gt_file_valid(&high)) { /* a copy of the program's: it would keep open what the program closes */
		gt_sys_close(high.fd);
		return;
	}
	gt_file_close(file);
	*file = high;
}

void gt_file_move(struct gt_file *file, int number)
{
	replace(file, gt_sys_fcntl(file->fd, F_DUPFD_CLOEXEC, number));
}

/* Is this thread the only one? */
static bool alone(void)
{
	struct stat st;

	return !gt_sys_fstatat(AT_FDCWD, "/proc/self/task", &st, 0) && st.st_nlink == 3;
}

/* ---- out of the program's way, whatever its threads do meanwhile -------------------------------------- */

struct away {
	int fd, from; /* which; and where to look for a number */
	uint64_t most;
	int result;
};

/* Is the next child the first of a PID namespace, which would end with it? Or who knows? */
static bool child_is_first(void)
{
	struct stat own, next;

	return gt_sys_fstatat(AT_FDCWD, "/proc/self/ns/pid", &own, 0) ||
	       gt_sys_fstatat(AT_FDCWD, "/proc/self/ns/pid_for_children", &next, 0) ||
	       own.st_ino != next.st_ino;
}

/* Limits are the process's, and this is another, of which nobody sees that they are raised. */
static int do_away(struct away *away)
{
	struct rlimit raised = { away->most, away->most };

	if (!GT_SYS4(SYS_prlimit64, 0, RLIMIT_NOFILE, &raised, NULL))
		away->result = gt_sys_fcntl(away->fd, F_DUPFD_CLOEXEC, away->from);
	else
		away->result = -EPERM;
	return (int)GT_SYS1(SYS_exit, 0);
}

/* As vfork, with this process's descriptors: see run_apart(). */
static __attribute__((noinline)) int run_away(struct away *away)
{
	int pid = (int)gt_syscall6(SYS_clone, CLONE_VM | CLONE_FILES | CLONE_VFORK, 0, 0, 0, 0, 0);

	return pid ? pid : do_away(away);
}

static int above_limit(int fd, const struct rlimit *limit)
{
	uint64_t from = limit->rlim_cur < GT_FILE_HIGH ? GT_FILE_HIGH : limit->rlim_cur;
	uint64_t most = limit->rlim_max < HIGHEST ? limit->rlim_max : HIGHEST;
	struct away away = { fd, (int)from, most, -EAGAIN };
	uint64_t mask;
	int pid;

	if (from >= most || child_is_first())
		return -EMFILE;
	mask = gt_signals_block();
	pid = run_away(&away);
	if (pid > 0)
		GT_SYS4(SYS_wait4, pid, NULL, __WCLONE, NULL);
	gt_signals_restore(mask);
	return pid < 0 ? pid : away.result;
}

/* Above the soft limit, which is raised for that moment: this thread is the only one. */
static void raise_and_move(struct gt_file *file, const struct rlimit *was)
{
	int number = was->rlim_cur < GT_FILE_HIGH ? GT_FILE_HIGH : (int)was->rlim_cur;
	struct rlimit raised = { (rlim_t)number + ROOM, was->rlim_max };

	if (raised.rlim_max <= (rlim_t)number)
		raised.rlim_max = (rlim_t)number + ROOM;
	if (raised.rlim_cur > raised.rlim_max)
		raised.rlim_cur = raised.rlim_max;
	if (GT_SYS4(SYS_prlimit64, 0, RLIMIT_NOFILE, &raised, NULL))
		return;
	gt_file_move(file, number);
	GT_SYS4(SYS_prlimit64, 0, RLIMIT_NOFILE, was, NULL);
}

/*
 * A number that the program can neither get nor count, above its soft limit. If that may not be, a high one
 * below.
 */
static void move_away(struct gt_file *file)
{
	static const int floor_numbers[] = { GT_FILE_HIGH, 400, 100, 40, 20 };
	int fd = file->fd;
	struct rlimit was;

	if (!GT_SYS4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &was) && was.rlim_cur < HIGHEST) {
		if (alone())
			raise_and_move(file, &was);
		else
			replace(file, above_limit(fd, &was));
	}
	for (unsigned i = 0; file->fd == fd && i < sizeof(floor_numbers) / sizeof(*floor_numbers); i++)
		gt_file_move(file, floor_numbers[i]);
}

int gt_descriptor_away(int fd)
{
	struct rlimit limit;
	struct stat own;
	int high, most;

	if (fd < 0 || gt_sys_fstat(fd, &own) || GT_SYS4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit))
		return fd;
	high = above_limit(fd, &limit);
	most = (int)(limit.rlim_cur > 1u << 30 ? 1u << 30 : limit.rlim_cur) / 8;
	if (high < 0 && most > GT_FILE_HIGH / 8)
		high = gt_sys_copy_own(fd, GT_FILE_HIGH, &own);
	if (high < 0 && fd < most)
		return fd;
	if (high >= 0 && (uint64_t)high < limit.rlim_cur && high >= GT_FILE_HIGH + most) {
		gt_sys_close_own(high, &own);
		high = -EMFILE;
	}
	gt_sys_close_own(fd, &own);
	return high < 0 ? -EMFILE : high;
}

int gt_file_keep(struct gt_file *file, int fd)
{
	struct stat st;
	int rc = gt_sys_fstat(fd, &st);

	if (rc) { /* nobody knows whose it is */
		file->fd = -1;
		return rc;
	}
	*file = (struct gt_file){ fd, st.st_dev, st.st_ino };
	move_away(file);
	return 0;
}

bool gt_file_valid(const struct gt_file *file)
{
	struct stat st;

	return file->fd >= 0 && !gt_sys_fstat(file->fd, &st) && st.st_ino == file->ino &&
	       st.st_dev == file->dev;
}

void gt_file_close(struct gt_file *file)
{
	if (gt_file_valid(file))
		gt_sys_close(file->fd);
	file->fd = -1;
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

void gt_folder_adopt(const struct gt_file *parents)
{
	folder = *parents;
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
static int open_again(struct gt_file *file)
{
	struct gt_file again;
	int rc = gt_sys_openat(AT_FDCWD, gt_proc_folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (rc >= 0)
		rc = gt_file_keep(&again, rc);
	if (!rc && (again.ino != file->ino || again.dev != file->dev)) {
		gt_sys_close(again.fd);
		rc = -ESTALE;
	}
	file->fd = rc ? -1 : again.fd;
	return rc ? rc : file->fd;
}

bool gt_folder_of_parent(struct gt_file *parents)
{
	return gt_file_valid(parents) || (parents->fd >= 0 && open_again(parents) >= 0);
}

int gt_folder(void)
{
	uint64_t mask = gt_lock(&folder_lock);
	int fd = -EBUSY;

	if (mask != GT_LOCK_REFUSED)
		fd = gt_file_valid(&folder) ? folder.fd : folder.ino ? open_again(&folder) : -EBADF;
	gt_unlock(&folder_lock, mask);
	return fd;
}

/*
 * May this user write there, as far as owner and mode say? Landlock does not look at this call, so that what
 * is refused all the same was refused by a sandbox.
 */
static bool may_write(void)
{
	int at = gt_folder();

	return !(at < 0 ? GT_SYS4(SYS_faccessat2, AT_FDCWD, gt_proc_folder, W_OK | X_OK, AT_EACCESS)
			: GT_SYS4(SYS_faccessat2, at, "", W_OK | X_OK, AT_EACCESS | AT_EMPTY_PATH));
}

unsigned gt_folder_loss(int error, unsigned memory)
{
	if (error == -ENOMEM || error == -EAGAIN)
		return memory;
	return (error == -EACCES || error == -EPERM) && may_write() ? GT_LOSS_SANDBOX : GT_LOSS_SPACE;
}

int gt_folder_open(const char *name, struct gt_file *file)
{
	int at = gt_folder(), flags = file->ino ? 0 : O_CREAT | O_EXCL, rc;
	struct gt_file there;
	struct stat st;

	if (at < 0)
		return at;
	there.fd = gt_sys_openat(at, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
	if (there.fd < 0)
		return there.fd;
	/* What it is, its name says: another file of the program's may have its number. */
	rc = gt_sys_fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW);
	if (rc) /* it was there a moment ago */
		rc = gt_sys_fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW);
	if (rc) { /* the descriptor stays open: nobody knows whose it is */
		if (flags)
			gt_sys_unlinkat(at, name, 0);
		return rc;
	}
	there.dev = st.st_dev;
	there.ino = st.st_ino;
	if (!gt_file_valid(&there))
		rc = -EBADF;
	else if (file->ino && (file->ino != there.ino || file->dev != there.dev))
		rc = -EPROTO; /* somebody has put another one there */
	else if (flags && (st.st_mode & 0600) != 0600) /* a umask may take that away */
		rc = gt_sys_fchmodat(at, name, 0600);
	if (rc != -EPROTO)
		*file = there;
	if (rc)
		gt_file_close(&there);
	return rc;
}

size_t gt_page_size(void)
{
	return GT_TEST_PAGE(getauxval(AT_PAGESZ));
}

int gt_folder_map(const char *name, struct gt_file *file, uint64_t offset, uint64_t bytes, void **memory)
{
	bool made = !file->ino;
	int rc = gt_folder_open(name, file);

	if (rc)
		return rc;
	rc = gt_file_reserve(file->fd, offset, bytes);
	if (!rc) {
		*memory = gt_sys_map_file(file->fd, offset, bytes, &rc);
		rc = -rc;
	}
	if (!rc && !gt_file_valid(file)) { /* it was not ours any more */
		gt_sys_munmap(*memory, bytes);
		rc = -EBADF;
	}
	gt_file_close(file);
	if (rc && made) { /* the next try makes it anew */
		gt_sys_unlinkat(gt_folder(), name, 0);
		file->ino = 0;
	}
	return rc;
}

/* ---- beyond the program's limits ------------------------------------------------------------------ */

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

static void raise_limit(int resource)
{
	struct rlimit limit;

	if (GT_SYS4(SYS_prlimit64, 0, resource, NULL, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	GT_SYS4(SYS_prlimit64, 0, resource, &limit, NULL);
}

static int do_apart(struct apart *apart)
{
	close_some(apart);
	raise_limit(RLIMIT_NOFILE);
	raise_limit(RLIMIT_FSIZE);
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
	if ((apart.result != -EMFILE && apart.result != -EFBIG) || child_is_first())
		return apart.result;
	mask = gt_signals_block(); /* no handler of the program runs there */
	pid = run_apart(&apart);
	if (pid > 0)
		GT_SYS4(SYS_wait4, pid, NULL, __WCLONE, NULL);
	gt_signals_restore(mask);
	return apart.result;
}
