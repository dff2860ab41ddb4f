/* SPDX-License-Identifier: BSD-3-Clause */
/* Four threads that share a lock, then writes to and a read of the file argv[1]. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile double sum;

static __attribute__((noinline)) void work(int n)
{
	for (int i = 0; i < n * 1000; i++)
		sum += i;
}

static __attribute__((noinline)) void critical(void)
{
	pthread_mutex_lock(&lock);
	work(3);
	pthread_mutex_unlock(&lock);
}

static void *run(void *unused)
{
	for (int i = 0; i < 200; i++) {
		critical();
		work(1);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[4];
	char text[99];
	FILE *file;
	int fd;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	fd = open(argv[argc - 1], O_CREAT | O_WRONLY | O_TRUNC, 0644);
	for (int i = 0; i < 100; i++)
		if (write(fd, "hello", 5) != 5)
			return 1;
	close(fd);
	file = fopen(argv[argc - 1], "r");
	if (!file || fread(text, 1, sizeof(text), file) != sizeof(text))
		return 1;
	fclose(file);
	return 0;
}
