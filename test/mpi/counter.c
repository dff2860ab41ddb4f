/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shortest tool that counts: messages and bytes sent, receives begun, and some collectives, of all
 * ranks. Rank 0 adds one line to the file $COUNTER: "sends N bytes N receives N collectives N".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long long n[4];

static void sent(int to, int count, MPI_Datatype type)
{
	int size;

	PMPI_Type_size(type, &size);
	n[0] += to != MPI_PROC_NULL;
	n[1] += to != MPI_PROC_NULL ? (long long)count * size : 0;
}
#define SEND(name) int MPI_##name(const void *b, int c, MPI_Datatype t, int to, int tag, MPI_Comm m) \
	{ sent(to, c, t); return PMPI_##name(b, c, t, to, tag, m); }
SEND(Send) SEND(Ssend) SEND(Rsend) SEND(Bsend)
#define ISEND(name)                                                                                          \
	int MPI_##name(const void *b, int c, MPI_Datatype t, int to, int tag, MPI_Comm m, MPI_Request *r)    \
	{                                                                                                    \
		sent(to, c, t);                                                                              \
		return PMPI_##name(b, c, t, to, tag, m, r);                                                  \
	}
ISEND(Isend) ISEND(Issend) ISEND(Irsend) ISEND(Ibsend)
int MPI_Recv(void *b, int c, MPI_Datatype t, int from, int tag, MPI_Comm m, MPI_Status *s)
	{ n[2] += from != MPI_PROC_NULL; return PMPI_Recv(b, c, t, from, tag, m, s); }
int MPI_Irecv(void *b, int c, MPI_Datatype t, int from, int tag, MPI_Comm m, MPI_Request *r)
	{ n[2] += from != MPI_PROC_NULL; return PMPI_Irecv(b, c, t, from, tag, m, r); }
	int MPI_Sendrecv(const void *b, int c, MPI_Datatype t, int to, int tag, void *rb, int rc,
			 MPI_Datatype rt, int from, int rtag, MPI_Comm m, MPI_Status *s)
	{
		sent(to, c, t);
		n[2] += from != MPI_PROC_NULL;
		return PMPI_Sendrecv(b, c, t, to, tag, rb, rc, rt, from, rtag, m, s);
	}
int MPI_Barrier(MPI_Comm m) { n[3]++; return PMPI_Barrier(m); }
int MPI_Bcast(void *b, int c, MPI_Datatype t, int r, MPI_Comm m) { n[3]++; return PMPI_Bcast(b, c, t, r, m); }
int MPI_Reduce(const void *a, void *b, int c, MPI_Datatype t, MPI_Op o, int r, MPI_Comm m)
	{ n[3]++; return PMPI_Reduce(a, b, c, t, o, r, m); }
int MPI_Allreduce(const void *a, void *b, int c, MPI_Datatype t, MPI_Op o, MPI_Comm m)
	{ n[3]++; return PMPI_Allreduce(a, b, c, t, o, m); }

int MPI_Finalize(void)
{
	long long all[4];
	int me;
	FILE *f;

	PMPI_Comm_rank(MPI_COMM_WORLD, &me);
	PMPI_Reduce(n, all, 4, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (me == 0 && getenv("COUNTER") && (f = fopen(getenv("COUNTER"), "a"))) {
		fprintf(f, "sends %lld bytes %lld receives %lld collectives %lld\n", all[0], all[1], all[2],
			all[3]);
		fclose(f);
	}
	return PMPI_Finalize();
}
