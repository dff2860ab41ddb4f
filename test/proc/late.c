/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in that brings its own MPI (-DMPI) or OpenMP: use() calls it once.
 * Limits: the number of threads and of calls is fixed.
 */
#ifdef MPI
#include <mpi.h>
#include <stddef.h>

int use(void)
{
	int size = 0;

	MPI_Init(NULL, NULL);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return size;
}
#else
int use(void)
{
	int threads = 0;

#pragma omp parallel num_threads(2)
	{
#pragma omp critical
		threads++;
	}
	return threads;
}
#endif
