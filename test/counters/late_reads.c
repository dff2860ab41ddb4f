/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for a second, in which its counters are read; then a child reads 500 times 2,000 bytes.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	char data[2000];
	int zero, status = 1;

	usleep(1000000);
	if (!fork()) {
		zero = open("/dev/zero", O_RDONLY);
		for (int i = 0; i < 500; i++)
			if (read(zero, data, sizeof(data)) != (ssize_t)sizeof(data))
				exit(1);
		exit(0);
	}
	wait(&status);
	return status != 0;
}
