/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks: 3 messages of 4 bytes that arrive, and 5 sends and 2 non-blocking ones that MPI refuses
 * (their tag); then each sends 8 bytes to the other one, whose buffer has 4 (MPI_Sendrecv fails). */
#include <mpi.h>

int main(int argc, char **argv)
{
	MPI_Request request = MPI_REQUEST_NULL;
	int me, value = 0, two[2] = { 0, 0 };

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < 3; i++)
		if (me)
			MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		else
			MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	for (int i = 0; !me && i < 5; i++)
		MPI_Send(&value, 1, MPI_INT, 1, -5, MPI_COMM_WORLD);
	for (int i = 0; !me && i < 2; i++)
		MPI_Isend(&value, 1, MPI_INT, 1, -5, MPI_COMM_WORLD, &request);
	MPI_Sendrecv(two, 2, MPI_INT, 1 - me, 2, &value, 1, MPI_INT, 1 - me, 2, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
