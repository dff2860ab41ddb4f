# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += test/proc/proc.test test/proc/end.test test/proc/names.test test/proc/short.test test/proc/states.test test/proc/quota.test
EXTRA_DIST += test/proc/waits.c test/proc/states.c test/proc/ends.c test/proc/terminal.py test/proc/stops.py test/proc/names.c test/proc/late.c test/proc/first.c
