# SPDX-License-Identifier: BSD-3-Clause
# Other systems than the one at hand: an MPI that nobody has met, a pristine Debian, another processor.
dist_check_SCRIPTS += test/systems/mpi.test test/systems/quickstart.test test/systems/readme.test test/systems/runtests.test
EXTRA_DIST += test/systems/debian.sh test/systems/minutes.sh test/systems/table.sh test/systems/arm64.sh test/systems/emulated.sh \
	test/systems/root.sh test/systems/packages.sh test/systems/tarball.sh
