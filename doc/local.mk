# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += doc/FORMAT.md doc/PROMISES.md doc/LIMITS.md doc/adr/0001-own-window-and-spool.md \
	doc/adr/0002-reserve-with-xadd.md doc/adr/0003-pack-when-spooling.md \
	doc/adr/0004-dlopen-is-not-wrapped.md
