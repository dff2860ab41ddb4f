/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI 4's sessions without MPI_Init: communicators from groups, twice with one name, of some of the ranks,
 * between two groups, and a copy of one; messages and collectives over all of them. Then the session ends,
 * but another goes on. Four ranks; says how many records of each kind there must be.
 */
#include <mpi.h>
#include <stdio.h>

static int me, size;

static MPI_Comm make(MPI_Group group, const char *name)
{
	MPI_Comm comm;

	MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	return comm;
}

/* Each rank sends one message and receives one. */
static void round_trip(MPI_Comm comm)
{
	MPI_Request request;
	int rank, ranks, out = 1, in;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &ranks);
	MPI_Isend(&out, 1, MPI_INT, (rank + 1) % ranks, 1, comm, &request);
	MPI_Recv(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, comm, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Barrier(comm);
}

static void between(MPI_Group all)
{
	int near[3] = { me % 2, size - 2 + me % 2, 2 }, far[3] = { 1 - me % 2, size - 1 - me % 2, 2 };
	MPI_Group own, other;
	MPI_Comm inter;
	int out = me, in;

	MPI_Group_range_incl(all, 1, &near, &own);
	MPI_Group_range_incl(all, 1, &far, &other);
	MPI_Intercomm_create_from_groups(own, 0, other, 0, "across", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL,
					 &inter);
	MPI_Sendrecv(&out, 1, MPI_INT, me / 2, 2, &in, 1, MPI_INT, me / 2, 2, inter, MPI_STATUS_IGNORE);
	MPI_Comm_free(&inter);
	MPI_Group_free(&own);
	MPI_Group_free(&other);
}

static MPI_Session first(void)
{
	int half[3] = { 0, 1, 1 };
	MPI_Session session, second, third;
	MPI_Group all, some;
	MPI_Comm comm, same, copy, part;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
	MPI_Group_rank(all, &me);
	MPI_Group_size(all, &size);
	comm = make(all, "one");
	same = make(all, "one");
	MPI_Session_finalize(&second);
	MPI_Comm_dup(comm, &copy);
	round_trip(comm);
	round_trip(same);
	round_trip(copy);
	MPI_Group_range_incl(all, 1, &half, &some);
	if (me < 2) {
		part = make(some, "half");
		round_trip(part);
		MPI_Comm_free(&part);
	}
	between(all);
	MPI_Comm_free(&comm);
	MPI_Comm_free(&same);
	MPI_Comm_free(&copy);
	MPI_Group_free(&all);
	MPI_Group_free(&some);
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &third);
	MPI_Session_finalize(&session);
	return third;
}

static void again(MPI_Session session)
{
	MPI_Group all;
	MPI_Comm comm;

	MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
	comm = make(all, "again");
	round_trip(comm);
	MPI_Comm_free(&comm);
	MPI_Group_free(&all);
	MPI_Session_finalize(&session);
}

int main(void)
{
	again(first());
	if (!me)
		printf("count MPI_ISEND 18\ncount MPI_ISEND_COMPLETE 18\ncount MPI_RECV 22\ncount MPI_SEND "
		       "4\n"
		       "count COMM_CREATE 22\ncount COMM_DESTROY 22\n");
	return 0;
}
