# SPDX-License-Identifier: BSD-3-Clause
# Programs with known answers: what gputrace concludes of them.
dist_check_SCRIPTS += test/truth/answers.test test/truth/exits.test test/truth/lives.test
EXTRA_DIST += test/truth/answers.c test/truth/answers.py \
	test/truth/exits.c test/truth/gpus.py test/truth/changed.py test/truth/lives.c test/truth/lives.py
dist_check_SCRIPTS += test/truth/channels.test
EXTRA_DIST += test/truth/channels.c test/truth/channels.py
dist_check_SCRIPTS += test/truth/children.test
EXTRA_DIST += test/truth/children.c test/truth/runs.c
dist_check_SCRIPTS += test/truth/whatif.test
EXTRA_DIST += test/truth/whatif.c test/truth/whatif.py
