/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens, reads, writes, moves, duplicates and closes in every way that the I/O wrapper knows, and
 * prints how many operations on handles there should be: "ops READS WRITES FLUSHES bytes READ WRITTEN".
 *
 * Limits: argument "cancel" cancels a thread in read(); "badly" uses descriptors that are not open.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int reads, writes, flushes;
static long in, out;

static void r(long n)
{
	reads++;
	in += n > 0 ? n : 0;
}

static void w(long n)
{
	writes++;
	out += n > 0 ? n : 0;
}

__attribute__((format(printf, 2, 3)))
static void list(FILE *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	w(vfprintf(f, format, args));
	va_end(args);
}

static void *waiter(void *fd)
{
	char c;

	read(*(int *)fd, &c, 1);
	return NULL;
}

static void badly(void)
{
	char c[4];

	if (read(900, c, 1) != -1 || errno != EBADF || write(-1, c, 1) != -1 || errno != EBADF ||
	    close(901) != -1 || errno != EBADF || open("/none/none", O_RDONLY) != -1 || errno != ENOENT ||
	    dup2(902, 903) != -1 || errno != EBADF || fopen("/none/none", "r") || errno != ENOENT ||
	    lseek(904, 0, SEEK_SET) != -1 || errno != EBADF || fcntl(905, F_GETFL) != -1 || errno != EBADF)
		puts("WRONG");
}

int main(int argc, char **argv)
{
	static char big[20 << 20];
	int p[2], fd, d, null;
	char b[100], *line = NULL;
	size_t room = 0;
	pthread_t id;
	FILE *f;
	void *m;

	fd = open("io.tmp", O_CREAT | O_RDWR | O_TRUNC, 0600);
	w(write(fd, "hello world", 11));
	lseek(fd, 3, SEEK_SET);
	r(read(fd, b, 50));
	r(pread(fd, b, 5, 0));
	w(pwrite(fd, "xy", 2, 4));
	w(writev(fd, (struct iovec[2]){ { b, 3 }, { b, 4 } }, 2));
	d = dup(fd);
	w(write(d, "dup", 3));
	d = dup2(fd, d);
	w(write(d, "dup2", 4));
	d = fcntl(fd, F_DUPFD_CLOEXEC, 50);
	w(write(d, "dupfd", 5));
	flushes++, fsync(fd);
	m = mmap(NULL, 5, PROT_READ, MAP_SHARED, fd, 0);
	munmap(m, 5);
	close(d);
	close(fd);
	f = fopen("io.tmp", "r+");
	r((long)fread(b, 2, 3, f) * 2);
	fseek(f, 0, SEEK_SET);
	r((long)strlen(fgets(b, 50, f)));
	w(fputs("tail", f) >= 0 ? 4 : 0);
	w(fprintf(f, "%d\n", 12345));
	list(f, "%s %s\n", "a", "list");
	w(fputc('x', f) == 'x');
	w((long)fwrite(b, 3, 4, f) * 3);
	flushes++, fflush(f);
	rewind(f);
	r(getline(&line, &room, f));
	f = freopen("io.tmp", "r", f);
	r(fgetc(f) >= 0);
	fclose(f);
	free(line);
	null = open("/dev/null", O_WRONLY);
	w(write(null, big, sizeof(big)));
	close(null);
	pipe(p);
	w(write(p[1], "pipe", 4));
	r(read(p[0], b, 4));
	fflush(NULL);
	flushes++;
	if (fork() == 0) {
		write(p[1], "child", 5);
		_exit(0);
	}
	w(5);
	r(read(p[0], b, 5));
	wait(NULL);
	if (argc > 1 && !strcmp(argv[1], "cancel")) {
		pthread_create(&id, NULL, waiter, &p[0]);
		usleep(20000);
		pthread_cancel(id);
		pthread_join(id, NULL);
		reads++;
	}
	close(p[0]);
	close(p[1]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, p);
	w(send(p[0], "sock", 4, 0));
	r(recv(p[1], b, 10, 0));
	shutdown(p[0], SHUT_RDWR);
	close(p[0]);
	close(p[1]);
	unlink("io.tmp");
	if (argc > 1 && !strcmp(argv[1], "badly"))
		badly();
	snprintf(b, sizeof(b), "ops %d %d %d bytes %ld %ld\n", reads, writes, flushes, in, out);
	fputs(b, stderr); /* not counted: the test leaves stderr out */
	return 0;
}
