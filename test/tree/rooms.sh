# SPDX-License-Identifier: BSD-3-Clause
# To be sourced at the top of the tree: its folders, as Makefile.am has them.
# core: those that are not an adapter's; adapters: the others; rooms: all that have sources of ours.
#
# Limits: a folder that Makefile.am includes and that is not in the core's list is taken for an adapter.
core="lib live report accel launchers instrument tools"
adapters=$(sed -n 's|^include \([a-z0-9_]*\)/local\.mk$|\1|p' Makefile.am |
	grep -vxE "$(echo "$core" | tr ' ' '|')|test|bench|doc" | tr '\n' ' ')
rooms="include $core $adapters"
