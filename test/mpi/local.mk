# SPDX-License-Identifier: BSD-3-Clause
# MPI: programs with Open MPI and MPICH, several ranks on this machine.
dist_check_SCRIPTS += test/mpi/random.test test/mpi/programs.test test/mpi/records.test \
	test/mpi/real.test test/mpi/suite.test test/mpi/hosts.test test/mpi/join.test test/mpi/hosts_gpu.test test/mpi/dynamic.test \
	test/mpi/network.test test/mpi/spread.test test/mpi/gen.test test/mpi/ends.test test/mpi/hand_on.test test/mpi/without.test \
	test/mpi/stubs.test test/mpi/slurm.test
EXTRA_DIST += test/mpi/mpi.sh test/mpi/stubs.c test/mpi/random.c test/mpi/compare.py test/mpi/dynamic.c test/mpi/compare_dynamic.py test/mpi/polls.c test/mpi/corners.c test/mpi/mpi4.h test/mpi/early.cc test/mpi/threads.c \
	test/mpi/deadlock.c test/mpi/abort.c test/mpi/tool.c test/mpi/f77.f90 test/mpi/f90.f90 test/mpi/f08.f90 \
	test/mpi/ring.py test/mpi/own_count.py test/mpi/peers.py test/mpi/onesided.c test/mpi/files.c test/mpi/near.c test/mpi/counter.c \
	test/mpi/channels.c test/mpi/confined.c test/mpi/ends.c test/mpi/refused_sends.c test/mpi/failing.c test/mpi/sessions.c test/mpi/refuse.c test/mpi/refused.c test/mpi/suite.py test/mpi/peers.py test/mpi/hosts.sh test/mpi/network.sh test/mpi/messages.c test/mpi/late.c test/mpi/gpu.c test/mpi/devices.c test/mpi/events.py
EXTRA_DIST += test/mpi/libgputrace-mpi-openmpi.symbols test/mpi/libgputrace-mpi-mpich.symbols
