/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes, lists, looks at, renames and removes files and folders in every way that the I/O wrapper knows, and
 * prints each call as "NAME TIMES"; "WRONG ..." if a result or errno is not what it must be.
 *
 * Limits: in the folder that it runs in. renameat2 and statx are left out where the system has none.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct { const char *name; int times; } seen[64];

static void count(const char *name)
{
	int i = 0;

	while (seen[i].name && strcmp(seen[i].name, name))
		i++;
	seen[i].name = name;
	seen[i].times++;
}

/* A call that succeeds, and one that must fail with this errno. Another one must not be left behind. */
#define DOES(name, ...)                                                                            \
	do {                                                                                       \
		errno = E2BIG;                                                                     \
		if (name(__VA_ARGS__) != 0 || errno != E2BIG)                                      \
			printf("WRONG %s %d\n", #name, errno);                                     \
		count(#name);                                                                      \
	} while (0)
#define FAILS(error, name, ...)                                                                    \
	do {                                                                                       \
		errno = 0;                                                                         \
		if (name(__VA_ARGS__) != -1 || errno != (error))                                   \
			printf("WRONG %s failing: %d\n", #name, errno);                            \
		count(#name);                                                                      \
	} while (0)

static void touch(const char *name)
{
	close(open(name, O_CREAT | O_WRONLY, 0600));
	count("open");
	count("close");
}

static void looks(void)
{
	struct stat s;
	struct statx x;

	DOES(stat, "d/a", &s);
	DOES(lstat, "d/a", &s);
	DOES(fstatat, AT_FDCWD, "d/a", &s, 0);
	DOES(access, "d/a", R_OK);
	DOES(faccessat, AT_FDCWD, "d/a", R_OK, 0);
	DOES(statx, AT_FDCWD, "d/a", 0, STATX_SIZE, &x);
	FAILS(ENOENT, stat, "d/none", &s);
	FAILS(ENOENT, lstat, "d/none", &s);
	FAILS(ENOENT, fstatat, AT_FDCWD, "d/none", &s, 0);
	FAILS(ENOENT, access, "d/none", R_OK);
	FAILS(ENOENT, statx, AT_FDCWD, "d/none", 0, STATX_SIZE, &x);
}

/* How many names a folder has, with "." and "..". */
static int list(DIR *folder)
{
	int names = 0;

	errno = 0;
	for (; readdir(folder); names++)
		count("readdir");
	count("readdir");
	if (errno)
		printf("WRONG readdir %d\n", errno);
	DOES(closedir, folder);
	return names;
}

static void lists(void)
{
	int fd = open("d", O_RDONLY | O_DIRECTORY);

	count("open");
	if (list(opendir("d")) != 4 || list(fdopendir(fd)) != 4)
		puts("WRONG names");
	count("opendir");
	count("fdopendir");
	errno = 0;
	if (opendir("none") || errno != ENOENT)
		puts("WRONG opendir");
	count("opendir");
	FAILS(EINVAL, closedir, NULL);
}

static void syncs(void)
{
	int fd = open("d/a", O_RDWR);
	void *page;

	count("open");
	ftruncate(fd, 4096);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	DOES(msync, page, 4096, MS_SYNC);
	FAILS(EINVAL, msync, page, 4096, -1);
	DOES(fsync, fd);
	close(fd);
	count("close");
}

/* A child that shares the memory: what it removes is not recorded. */
static void child(void)
{
	pid_t pid = vfork();
	int status;

	if (!pid)
		_exit(mkdir("v", 0700) || rmdir("v"));
	waitpid(pid, &status, 0);
	if (status)
		puts("WRONG child");
}

int main(void)
{
	DOES(mkdir, "d", 0700);
	FAILS(EEXIST, mkdir, "d", 0700);
	DOES(mkdirat, AT_FDCWD, "e", 0700);
	touch("d/a");
	touch("d/b");
	looks();
	lists();
	syncs();
	DOES(rename, "d/a", "d/c");
	FAILS(ENOENT, rename, "d/a", "d/c");
	DOES(renameat, AT_FDCWD, "d/c", AT_FDCWD, "d/f");
	DOES(renameat2, AT_FDCWD, "d/f", AT_FDCWD, "d/g", 0);
	DOES(unlink, "d/b");
	FAILS(ENOENT, unlink, "d/b");
	DOES(unlinkat, AT_FDCWD, "d/g", 0);
	child();
	DOES(rmdir, "d");
	FAILS(ENOENT, rmdir, "d");
	touch("e/a");
	DOES(remove, "e/a");
	DOES(rmdir, "e");
	for (int i = 0; seen[i].name; i++)
		printf("%s %d\n", seen[i].name, seen[i].times);
	return 0;
}
