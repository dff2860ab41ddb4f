# SPDX-License-Identifier: BSD-3-Clause
# gputrace timeline.
dist_check_SCRIPTS += test/timeline/timeline.test
EXTRA_DIST += test/timeline/cells.py test/timeline/screen.py test/timeline/shares.py
