# SPDX-License-Identifier: BSD-3-Clause
dist_check_SCRIPTS += test/filter/tool.test
