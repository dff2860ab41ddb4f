#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# debian SUITE [TEST...]: in a tree of that Debian release, made by debootstrap: ./quickstart, then
# ./runtests --quick, or only these tests. Part of ./runtests with GT_THOROUGH=1.
# GT_SYSTEM_TREE=DIR keeps the tree in DIR and takes it again.
# Limits: needs root, debootstrap, mount namespaces and the network; else status 77, as a skip.
set -u
suite=${1:?suite}
shift
skip() { echo "$1"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "only root can make a tree of another system"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
unshare -m true 2>/dev/null || skip "no mount namespaces here"
source=$(cd "$(dirname "$0")/../.." && pwd)
if [ -n "${GT_SYSTEM_TREE:-}" ]; then
	tree=$GT_SYSTEM_TREE
else
	tree=$(mktemp -d) || exit 1
	trap 'rm -rf --one-file-system "$tree"' EXIT
fi
if [ ! -e "$tree/made" ]; then
	debootstrap --variant=minbase "$suite" "$tree" || skip "debootstrap found no $suite"
	cp /etc/resolv.conf "$tree/etc/"
	touch "$tree/made"
fi
rm -rf "$tree/gputrace"
mkdir "$tree/gputrace"
if git -C "$source" rev-parse --git-dir >/dev/null 2>&1; then
	git -C "$source" archive HEAD | tar -x -C "$tree/gputrace"
else
	tar -c -C "$source" --exclude=./build . | tar -x -C "$tree/gputrace"
fi

# The mounts go with the namespace. tmpfs: some tests make thousands of files.
# shellcheck disable=SC2016 # the inner shell's
unshare -m --propagation private bash -c '
	tree=$1
	mount -t proc proc "$tree/proc" && mount --rbind /dev "$tree/dev" && mount -t sysfs sysfs "$tree/sys" &&
		mount -t tmpfs tmpfs "$tree/dev/shm" && mount -t tmpfs tmpfs "$tree/tmp" || exit 1
	shift
	exec chroot "$tree" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
		GT_TIME_FACTOR="${GT_TIME_FACTOR:-2}" sh -c "cd /gputrace && ./quickstart --prefix=/opt/gputrace &&
			./runtests --quick \"\$@\"" - "$@"' - "$tree" "$@"
