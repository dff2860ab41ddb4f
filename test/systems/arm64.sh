#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# arm64 [SUITE [TEST...]]: gputrace cross-built for aarch64, and tried by qemu-user in a tree of that Debian
# release (default: as here): the unit tests, and these scripts (as user/user). Part of
# ./runtests with GT_THOROUGH=1. GT_ARM64_TREE=DIR keeps the tree in DIR and takes it again.
# Limits: needs root, debootstrap, qemu-user-static, g++-aarch64-linux-gnu, mount namespaces, binfmt_misc and
# the network; else status 77, as a skip. qemu-user shows memory as x86-64 orders it, has pages of 4 KiB, and
# knows no seccomp, no clone() without a signal at the end (trace_linked in lib.sh) and no stat(/proc/self/exe).
set -u
suite=${1:-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- filter/record libwrapgen/dlsym kill/rate mpi/random \
	sampling/stacks sampling/steps sampling/callers
triplet=aarch64-linux-gnu
skip() { echo "$1"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "only root can make a tree of another system"
for command in debootstrap qemu-aarch64-static $triplet-g++; do
	command -v "$command" >/dev/null || skip "$command is not installed (build-aux/install-packages arm64)"
done
unshare -m true 2>/dev/null || skip "no mount namespaces here"
source=$(cd "$(dirname "$0")/../.." && pwd)
if [ -n "${GT_ARM64_TREE:-}" ]; then
	tree=$GT_ARM64_TREE
	mkdir -p "$tree"
else
	tree=$(mktemp -d) || exit 1
fi
binfmt=/proc/sys/fs/binfmt_misc
registered=

finish()
{
	[ -z "$registered" ] || echo -1 >$binfmt/gputrace-aarch64
	[ -n "${GT_ARM64_TREE:-}" ] || rm -rf --one-file-system "$tree"
}
trap finish EXIT

# The kernel starts aarch64's programs with qemu, which it keeps open (F), so that it is found in the tree.
[ -e $binfmt/register ] || mount -t binfmt_misc binfmt_misc $binfmt || skip "no binfmt_misc here"
if ! grep -qs '^magic .*0200b7' $binfmt/*aarch64*; then
	printf '%s' ":gputrace-aarch64:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:$(command -v qemu-aarch64-static):F" >$binfmt/register || skip "binfmt_misc takes no entry"
	registered=yes
fi

# inside COMMAND: in the tree, where the source has the path that it has here.
inside()
{
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m --propagation private bash -c '
		tree=$1
		mount -t proc proc "$tree/proc" && mount --rbind /dev "$tree/dev" &&
			mount -t tmpfs tmpfs "$tree/dev/shm" && mount -t tmpfs tmpfs "$tree/tmp" &&
			mkdir -p "$tree$tree/gputrace" && mount --bind "$tree/gputrace" "$tree$tree/gputrace" || exit 1
		exec chroot "$tree" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive GT_SRC="$tree/gputrace" GT_BUILD="$tree/gputrace/build" \
			GT_BUILD_CC=gcc GT_EMULATED=1 GT_MPI_SEEDS="1 4" GT_TIME_FACTOR="${GT_TIME_FACTOR:-4}" OMPI_ALLOW_RUN_AS_ROOT=1 \
			OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 bash -c "cd \"\$GT_SRC\" && $2"' - "$tree" "$1"
}

rm -rf --one-file-system "$tree/gputrace"
mkdir "$tree/gputrace"
if [ ! -e "$tree/made" ]; then
	debootstrap --arch=arm64 --foreign --variant=minbase "$suite" "$tree" ||
		skip "debootstrap found no $suite for arm64"
	chroot "$tree" env DEBIAN_FRONTEND=noninteractive /debootstrap/debootstrap --second-stage || exit 1
	cp /etc/resolv.conf "$tree/etc/"
	inside "apt-get -q update && apt-get -y -q install --no-install-recommends gcc g++ libc6-dev castxml \
		libotf2-trace-dev libdw-dev zlib1g-dev libcriterion-dev libopenmpi-dev openmpi-bin libmpich-dev mpich \
		python3 python3-otf2 python3-six otf2-tools xz-utils file procps" || exit 1
	touch "$tree/made"
fi
if git -C "$source" rev-parse --git-dir >/dev/null 2>&1; then
	git -C "$source" archive HEAD | tar -x -C "$tree/gputrace"
else
	tar -c -C "$source" --exclude=./build . | tar -x -C "$tree/gputrace"
fi

# ---- built here, by the cross compiler
lib=$tree/usr/lib/$triplet
cd "$tree/gputrace" || exit 1
[ -x configure ] || autoreconf -fi >autoreconf.log 2>&1 || { tail autoreconf.log; exit 1; }
mkdir build && cd build || exit 1
../configure --host=$triplet --with-openmpi --with-mpich --without-man CFLAGS="-g -O2 -Werror" \
	CC="$triplet-gcc --sysroot=$tree" CXX="$triplet-g++ --sysroot=$tree" \
	PKG_CONFIG="$(command -v pkg-config)" PKG_CONFIG_LIBDIR="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$tree" \
	OPENMPI_CFLAGS="-I$lib/openmpi/include -I$lib/openmpi/include/openmpi" OPENMPI_LIBS="-L$lib/openmpi/lib" \
	MPICH_CFLAGS="-I$tree/usr/include/$triplet/mpich" MPICH_LIBS="-L$lib" >configure.log 2>&1 ||
	{ tail -n 30 configure.log; exit 1; }
if ! make -j "$(nproc)" >make.log 2>&1 || ! make -j "$(nproc)" check TESTS= >>make.log 2>&1; then
	tail -n 40 make.log
	exit 1
fi
grep -i 'warning:' configure.log make.log

# ---- run there
failed=0
# verdict NAME STATUS: of what has written "log".
verdict()
{
	local bad
	bad=$(grep -c '^not ok' log)
	[ "$2" -eq 0 ] && [ "$bad" -eq 0 ] && { echo "PASS: $1 ($(grep -c '^ok' log))"; return; }
	echo "FAIL: $1 (status $2, $bad claims)"
	grep -A8 '^not ok\|^Bail' log || tail -n 20 log
	failed=$((failed + 1))
}

read -r -d '' -a units < <(sed -n 's/^CRITERION_TESTS += //p' ../test/*/local.mk)
for unit in "${units[@]}"; do
	inside "cd build && CRITERION_OUTPUTS=tap:/dev/stdout timeout 300 $unit" >log 2>&1 </dev/null
	verdict "$unit" $?
done
for name; do
	inside "timeout -k 5 1200 bash test/$name.test" >log 2>&1 </dev/null
	verdict "test/$name.test" $?
done
[ $failed -eq 0 ]
