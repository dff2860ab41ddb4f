# SPDX-License-Identifier: BSD-3-Clause
# gputrace report, on archives made for it and on real ones.
dist_check_SCRIPTS += test/report/report.test test/report/findings.test test/report/text.test
EXTRA_DIST += test/report/summary.py test/report/made.py test/report/archives.py test/report/expected.py test/report/threads.c \
	test/report/ranks.c test/report/planted.py test/report/terminal.py
dist_check_SCRIPTS += test/report/blocked.test test/report/samples.test test/report/brief.test test/report/waits.test test/report/planted.test test/report/worked.test test/report/spins.test test/report/planted_files.test
EXTRA_DIST += test/report/blocked.c test/report/stacks.py test/report/scene.py test/report/waits.py test/report/devices.py test/report/processes.py test/report/windows.py test/report/pipes.py test/report/waits.sh test/report/whole.py test/report/planted_mpi.c \
	test/report/entered.c test/report/planted_threads.c test/report/planted_openmp.c test/report/planted_gpu.c test/report/planted_late.c test/report/planted_ranks.c \
	test/report/planted_turns.c test/report/planted_calls.c test/report/planted_spins.c test/report/spinning.c test/report/planted_files.c test/report/planted_turn.c test/report/planting.py test/report/planted_files.py
