# SPDX-License-Identifier: BSD-3-Clause
# The compiler wrappers: command lines, real compilers, build systems.
dist_check_SCRIPTS += test/cc/args.test test/cc/build.test test/cc/systems.test
