# SPDX-License-Identifier: BSD-3-Clause
"""Ten messages around a ring and a reduction, with mpi4py."""
from mpi4py import MPI

comm = MPI.COMM_WORLD.Dup()
comm.Set_name("ring")
me, n = comm.Get_rank(), comm.Get_size()
for i in range(10):
    request = comm.isend(i, dest=(me + 1) % n, tag=i)
    assert comm.recv(source=(me + n - 1) % n, tag=i) == i
    request.wait()
assert comm.allreduce(1) == n
