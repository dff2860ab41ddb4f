/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program for MPI and stubs of MPI, as LAMMPS and MUMPS have them for programs of one process. -DSTUBS: the
 * stubs; -DUSE: what uses them; -DLOAD: a program that loads a library with both, "./use.so".
 *
 * Limits: the declarations are the stubs' own, so that no MPI is needed.
 */
#include <stdio.h>
#include <string.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Initialized(int *flag);
int MPI_Comm_rank(int comm, int *rank);
int MPI_Comm_size(int comm, int *size);
int MPI_Allreduce(const void *from, void *to, int count, int type, int op, int comm);
double MPI_Wtime(void);
int MPI_Finalize(void);
int use(void);

#ifdef STUBS
static int begun;

int MPI_Init(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	begun = 1;
	return 0;
}

int MPI_Initialized(int *flag)
{
	*flag = begun;
	return 0;
}

int MPI_Comm_rank(int comm, int *rank)
{
	(void)comm;
	*rank = 0;
	return 0;
}

int MPI_Comm_size(int comm, int *size)
{
	(void)comm;
	*size = 1;
	return 0;
}

int MPI_Allreduce(const void *from, void *to, int count, int type, int op, int comm)
{
	(void)op, (void)comm;
	memcpy(to, from, (size_t)count * (size_t)type);
	return 0;
}

double MPI_Wtime(void)
{
	return 1.5;
}

int MPI_Finalize(void)
{
	begun = 0;
	return 0;
}
#endif

#ifdef USE
int use(void)
{
	int before = -1, begun = -1, rank = -1, size = -1;
	double value = 3, sum = 0;

	MPI_Initialized(&before);
	MPI_Init(NULL, NULL);
	MPI_Initialized(&begun);
	MPI_Comm_rank(1, &rank);
	MPI_Comm_size(1, &size);
	MPI_Allreduce(&value, &sum, 1, 8, 1, 1);
	printf("begun %d, %d, rank %d of %d, sum %g, time %g\n", before, begun, rank, size, sum, MPI_Wtime());
	return MPI_Finalize() + 5;
}
#endif

#ifdef LOAD
#include <dlfcn.h>

int main(void)
{
	void *library = dlopen("./use.so", RTLD_NOW | RTLD_LOCAL);
	int (*function)(void) = library ? (int (*)(void))dlsym(library, "use") : NULL;

	return function ? function() : 1;
}
#elif !defined(STUBS)
int main(void)
{
	return use();
}
#endif
