# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += test/proc/proc.test test/proc/end.test
EXTRA_DIST += test/proc/waits.c test/proc/ends.c test/proc/terminal.py
