# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Pristine roots of Debian releases (debootstrap's minbase, with git and ca-certificates) for debian.sh and
# packages.sh, and their TAP. To be sourced with $suite set; $may_fail: what fails is skipped, with its reason.
#
# Below build/roots (GT_ROOTS) are kept: a tar of each pristine root (two weeks), its packages, and logs. Where there
# is no root, debootstrap, mount namespace or network, all is one skip.
#
# Safe: mounts are made in a mount namespace, which ends with its last process, and those are ended here; the root has
# a /dev of its own, and an empty environment. Limits: the kernel, the network and the ports are this machine's; one
# script at a time for each release, since they share its packages.
source=$(cd "$(dirname "$0")/../.." && pwd)
roots=${GT_ROOTS:-$source/build/roots}
may_fail=${may_fail:-}
count=0 failed=0
tree='' logs=''

# verdict WORD NAME [REASON]: a line of TAP; what may fail does not.
verdict()
{
	local word=$1 name="$suite, $2" reason=${3:-}
	count=$((count + 1))
	if [ "$word" = "not ok" ] && [ -n "$may_fail" ]; then
		word=ok reason="$suite is allowed to fail${reason:+: $reason}"
	fi
	if [ "$word" = ok ]; then
		echo "ok $count - $name${reason:+ # SKIP $reason}"
	else
		echo "not ok $count - $name${reason:+: $reason}"
	fi | tee -a "$logs/claims"
	[ "$word" = ok ] || failed=1
}

# claim STATUS NAME [LOG]: holds if STATUS is 0; else what the log ends with is shown.
claim()
{
	if [ "$1" -eq 0 ]; then
		verdict ok "$2"
	else
		verdict "not ok" "$2" "${3:+$(tail -n 1 "$3" | cut -c 1-150)}"
		[ -z "${3:-}" ] || tail -n 40 "$3" | sed 's/^/# /'
	fi
	return "$1"
}

end() { echo "1..$count"; exit $failed; }
skip_all() { echo "ok 1 - $suite # SKIP $1"; echo "1..1"; exit 0; }

# Whatever still runs in the tree keeps its mounts.
end_all()
{
	local pid
	for pid in /proc/[0-9]*; do
		case $(readlink "$pid/root" 2>/dev/null) in "$tree" | "$tree"/*) kill -KILL "${pid#/proc/}" 2>/dev/null ;; esac
	done
}

finish()
{
	[ -n "$tree" ] || return
	end_all
	rm -rf --one-file-system "$tree" "$tree.new"
}
trap finish EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

[ "$(id -u)" -eq 0 ] || skip_all "only root can make a root of another system"
command -v debootstrap >/dev/null || skip_all "debootstrap is not installed"
unshare -m true 2>/dev/null || skip_all "no mount namespaces here"

# log_in NAME: the logs' folder and the tree have this name.
log_in()
{
	logs=$roots/logs/$1
	tree=$roots/$1.tree
	rm -rf "$logs"
	mkdir -p "$logs" "$roots/packages/$suite" || exit 1
}

# inside USER SECONDS COMMAND...: in the tree, with nothing of this machine but its kernel and its network.
# The root's proxies are the machine's, too, because it has its network.
inside()
{
	local user=$1 limit=$2 home=/home/$1
	shift 2
	[ "$user" != root ] || home=/root
	# In the background, so that a signal that ends this script need not wait for it.
	# shellcheck disable=SC2016 # the inner shell's
	timeout -k 5 "$limit" unshare -m --propagation private bash -c '
		tree=$1 packages=$2 user=$3 home=$4
		mount -t proc proc "$tree/proc" && mount -t sysfs sysfs "$tree/sys" && mount -t tmpfs tmpfs "$tree/tmp" &&
			mkdir -p "$tree/var/cache/apt/archives" && mount --bind "$packages" "$tree/var/cache/apt/archives" &&
			mount -t tmpfs -o mode=755 tmpfs "$tree/dev" && mkdir "$tree/dev/pts" "$tree/dev/shm" &&
			mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$tree/dev/pts" &&
			mount -t tmpfs tmpfs "$tree/dev/shm" || exit 1
		for name in null zero full random urandom tty fuse; do
			[ ! -e "/dev/$name" ] || { : >"$tree/dev/$name" && mount --bind "/dev/$name" "$tree/dev/$name"; }
		done
		ln -s pts/ptmx "$tree/dev/ptmx"
		ln -s /proc/self/fd "$tree/dev/fd"
		for n in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${n%:*}" "$tree/dev/${n#*:}"; done
		shift 4
		exec chroot --userspec="$user:$user" --groups= "$tree" env -i HOME="$home" USER="$user" LOGNAME="$user" \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb \
			${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
			GT_TIME_FACTOR="${GT_TIME_FACTOR:-2}" GT_USER_HAS="${user_has:-}" bash -c "cd && $*"' - \
		"$tree" "$roots/packages/$suite" "$user" "$home" "$@" </dev/null &
	wait $!
}

# The tar of a pristine root; as old as two weeks it is made again.
pristine()
{
	[ -z "$(find "$roots/$suite.tar" -mtime -14 2>/dev/null)" ] || return 0
	unshare -m --propagation private debootstrap --variant=minbase --include=git,ca-certificates \
		--cache-dir="$roots/packages/$suite" "$suite" "$tree.new" >"$logs/debootstrap.log" 2>&1 || return
	rm -f "$tree.new/etc/resolv.conf"
	tar -C "$tree.new" --one-file-system --numeric-owner -cf "$roots/$suite.tar.new" . &&
		mv "$roots/$suite.tar.new" "$roots/$suite.tar"
}

# The tree is a pristine system. The mirror may be a copy of some weeks ago, which is not what is tested.
fresh()
{
	finish
	pristine || skip_all "debootstrap cannot make it: $(grep -a '^E:' "$logs/debootstrap.log" | tail -n 1)"
	mkdir "$tree" && tar -C "$tree" --numeric-owner -xf "$roots/$suite.tar" && cp -L /etc/resolv.conf "$tree/etc/" || exit 1
	rm -rf --one-file-system "$tree.new"
	echo 'Acquire::Check-Valid-Until "false";' >"$tree/etc/apt/apt.conf.d/90old-mirror"
}

# online FOLDER: its lists of packages, in this folder of the root; or a skip.
online()
{
	inside root 600 "apt-get -q -o APT::Update::Error-Mode=any -o Acquire::Retries=0 -o Acquire::http::Timeout=20 \
		-o Dir::State::Lists=$1 update" >"$logs/network.log" 2>&1 || skip_all "its packages cannot be reached: $(tail -n 1 "$logs/network.log")"
}
