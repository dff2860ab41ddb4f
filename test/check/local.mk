# SPDX-License-Identifier: BSD-3-Clause
# gputrace check, on traces made for it.
dist_check_SCRIPTS += test/check/check.test test/check/decode.test
EXTRA_DIST += test/check/traces.py test/check/goodtrace.py test/check/lives.py test/check/sampled.py
