! SPDX-License-Identifier: BSD-3-Clause
! A ring of ten messages and two collectives, with the bindings of use mpi.
program ring
  use mpi
  implicit none
  integer :: me, n, ierr, i, v, w
  integer :: request, comm, status(MPI_STATUS_SIZE)
  call MPI_Init(ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Comm_set_name(comm, 'ring', ierr)
  call MPI_Comm_rank(comm, me, ierr)
  call MPI_Comm_size(comm, n, ierr)
  do i = 1, 10
    v = i
    call MPI_Irecv(w, 1, MPI_INTEGER, mod(me + n - 1, n), i, comm, request, ierr)
    call MPI_Send(v, 1, MPI_INTEGER, mod(me + 1, n), i, comm, ierr)
    call MPI_Wait(request, status, ierr)
    if (w /= i) call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  end do
  call MPI_Bcast(v, 1, MPI_INTEGER, 0, comm, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, v, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
  if (v /= 10 * n) call MPI_Abort(MPI_COMM_WORLD, 4, ierr)
  call MPI_Finalize(ierr)
end program ring
