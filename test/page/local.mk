# SPDX-License-Identifier: BSD-3-Clause
# gputrace html and gputrace view: what needs no browser.
dist_check_SCRIPTS += test/page/html.test test/page/view.test
EXTRA_DIST += test/page/tiles.py test/page/equal.py test/page/served.py test/page/large.py
