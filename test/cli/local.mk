# SPDX-License-Identifier: BSD-3-Clause
# The gputrace command itself and `gputrace run`, `gputrace info`.
dist_check_SCRIPTS += test/cli/main.test test/cli/run.test test/cli/hardening.test

# Takes minutes and the network: run by ./runtests, not by make check.
EXTRA_DIST += test/real/programs.test test/real/confined.test test/real/servers.test test/real/cpython.test test/real/languages.test
