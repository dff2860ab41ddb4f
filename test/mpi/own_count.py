#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Messages around a ring, some of them pickled, with mpi4py; rank 0 prints what they gave, and "calls N N N N": the
calls of all ranks of MPI_Isend, MPI_Mrecv, MPI_Sendrecv and MPI_Barrier. Each rank gets 70 messages."""
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
size, rank = world.size, world.rank
got = 0
for i in range(50):
    request = world.isend({"i": i}, dest=(rank + 1) % size, tag=3)
    got += world.recv(source=(rank - 1) % size, tag=3)["i"]
    request.wait()
into = bytearray(8)
for i in range(20):
    world.Sendrecv(b"12345678", (rank + 1) % size, 4, into, (rank - 1) % size, 4)
total = array("i", [0])
world.Allreduce(array("i", [got]), total)
for i in range(3):
    world.Barrier()
if rank == 0:
    print(MPI.Get_library_version()[:8], total[0], bytes(into).decode())
    print("calls", 50 * size, 50 * size, 20 * size, 3 * size, flush=True)
