# SPDX-License-Identifier: BSD-3-Clause
# gputrace html and gputrace view, without a browser and with one.
dist_check_SCRIPTS += test/page/html.test test/page/view.test test/page/browser.test test/page/colours.test
EXTRA_DIST += test/page/tiles.py test/page/equal.py test/page/served.py test/page/large.py test/page/browser.py test/page/cluster.py test/page/colours.py test/page/looks.py \
	test/page/listed.py test/page/page.py test/page/sight.py test/page/windows.py
