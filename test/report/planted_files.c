/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does things with files in a folder that take long: planted_files FOLDER HOW. A disk is as fast as it is:
 * what calls take here is slept in them, by functions of the C library's names in a library (-DSLOW).
 *
 * Limits: only the calls that are used are slow.
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

static __attribute__((no_instrument_function)) void take(long us)
{
	syscall(SYS_nanosleep, &(struct timespec){ 0, us * 1000 }, NULL);
}

#ifdef SLOW

int fsync(int fd)
{
	take(4000);
	return (int)syscall(SYS_fsync, fd);
}

int unlink(const char *name)
{
	take(300);
	return (int)syscall(SYS_unlink, name);
}

#else

/* 900 files that are removed again, or their contents in one. */
static void collect(int apart)
{
	int fd = open("all", O_CREAT | O_WRONLY | O_TRUNC, 0600);
	char name[16];

	for (int i = 0; i < 900; i++) {
		if (apart) {
			snprintf(name, sizeof(name), "part%d", i);
			close(fd);
			fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
		}
		write(fd, "part", 4);
		if (apart)
			unlink(name);
	}
	close(fd);
}

static int save(const char *name, int waits)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	write(fd, "saved", 5);
	if (waits)
		fsync(fd);
	return close(fd);
}

static void work(void)
{
	take(2000);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	int round = 0;

	if (argc < 3 || chdir(argv[1]))
		return 1;
	if (!strcmp(how, "apart") || !strcmp(how, "together"))
		collect(!strcmp(how, "apart"));
	for (; round < 100; round++) {
		work();
		save("state", !strcmp(how, "fsync") || round == 99);
	}
	return 0;
}
#endif
