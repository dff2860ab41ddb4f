/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A parallel program whose rank r calls a function 1000 * (r + 1) times and then waits until a file exists,
 * for half a minute at most. Argument: the file; each rank first makes one of that name and its number, with
 * its process id in it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile long count;

__attribute__((noinline)) static void leaf(void)
{
	count++;
}

__attribute__((noinline)) static void stand_still(const char *file)
{
	for (int i = 0; i < 3000 && access(file, F_OK); i++)
		usleep(10000);
}

int main(int argc, char **argv)
{
	char name[4096];
	FILE *said;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 1000 * (rank + 1); i++)
		leaf();
	snprintf(name, sizeof(name), "%s.%d", argv[1], rank);
	said = fopen(name, "w");
	if (!said)
		return 1;
	fprintf(said, "%d\n", (int)getpid());
	fclose(said);
	stand_still(argv[1]);
	MPI_Finalize();
	return 0;
}
