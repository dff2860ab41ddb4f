# SPDX-License-Identifier: BSD-3-Clause
# Other systems than the one at hand: an MPI that nobody has met, another Debian, another processor.
dist_check_SCRIPTS += test/systems/mpi.test
EXTRA_DIST += test/systems/debian.sh test/systems/arm64.sh
