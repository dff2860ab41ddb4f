// SPDX-License-Identifier: BSD-3-Clause
// A C++ program whose libraries call MPI before main: Open MPI's C++ bindings do, and so does the
// library that -DLIBRARY makes of this file. It calls by the bindings where there are any.
#include <mpi.h>

int early_answers();

#ifdef LIBRARY
static int answers;

__attribute__((constructor)) static void begin()
{
	int flag = 1;

	answers += MPI_Initialized(&flag) == MPI_SUCCESS && !flag;
	answers += MPI_Finalized(&flag) == MPI_SUCCESS && !flag;
}

int early_answers()
{
	return answers;
}
#else
int main(int argc, char **argv)
{
	int me, size, value = 0, sum = 0, wrong = early_answers() != 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 10; i++) {
#ifdef MPI_CXX
		MPI::Request request = MPI::COMM_WORLD.Irecv(&value, 1, MPI::INT, (me + 1) % size, i);
		MPI::COMM_WORLD.Send(&me, 1, MPI::INT, (me + size - 1) % size, i);
		request.Wait();
		MPI::COMM_WORLD.Allreduce(&value, &sum, 1, MPI::INT, MPI::SUM);
#else
		MPI_Request request;
		MPI_Irecv(&value, 1, MPI_INT, (me + 1) % size, i, MPI_COMM_WORLD, &request);
		MPI_Send(&me, 1, MPI_INT, (me + size - 1) % size, i, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#endif
		wrong |= value != (me + 1) % size || sum != size * (size - 1) / 2;
	}
	MPI_Finalize();
	return wrong;
}
#endif
