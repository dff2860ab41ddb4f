#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# tarball.sh [--built TARBALL] [SUITE...]: the relocatable tarball, built by packaging/tarball/make in a pristine
# Debian 11, and tried in pristine roots of it and of newer ones: first with nothing else installed, then
# with the compilers and MPIs of each; where it was unpacked, and after the folder was moved. At last buildah makes
# an image as packaging/Containerfile says, with the pristine Debian 12 as its base.
#
# Speaks TAP. $NANOARROW: the source of nanoarrow, if pip cannot fetch it in the root. root.sh says where all is one
# skip, and what is kept below build/roots; there is also the tarball.
# Limits: the kernel is this machine's. sid may fail. In containers only root, network and processes of this machine
# are visible (buildah's isolation by chroot).
set -u
suite=bullseye
. "$(dirname "$0")/root.sh"
tarball=
[ "${1:-}" != --built ] || { tarball=$(realpath "$2"); shift 2; }
[ $# -gt 0 ] || set -- bullseye bookworm trixie sid
log_in tarball

build()
{
	fresh
	online /var/lib/apt/lists
	rm -f "$GT_BUILD"/gputrace-*.tar.xz "$roots"/gputrace-*.tar.xz
	make -C "$GT_BUILD" dist >"$logs/dist.log" 2>&1
	claim $? "make dist" "$logs/dist.log" || end
	cp "$GT_BUILD"/gputrace-*.tar.xz "$source/packaging/tarball/make" ${NANOARROW:+"$NANOARROW"} "$tree/srv/"
	inside root 5400 "cd /srv && ${NANOARROW:+NANOARROW=/srv/${NANOARROW##*/}} sh make gputrace-*.tar.xz /srv" >"$logs/make.log" 2>&1
	claim $? "packaging/tarball/make" "$logs/make.log" || end
	cp "$tree"/srv/gputrace-*-"$(uname -m)".tar.xz "$roots/"
	tarball=$(echo "$roots"/gputrace-*-"$(uname -m)".tar.xz)
}

# The latest glibc whose symbols the tarball needs is the one that it names, and that doc/install.md names.
glibc()
{
	local needed
	rm -rf "$tree.files"
	mkdir "$tree.files" && tar -C "$tree.files" --no-same-owner --strip-components=1 -xf "$tarball"
	needed=$(find "$tree.files" -type f -exec objdump -T {} + 2>/dev/null | grep -o 'GLIBC_[0-9][0-9.]*' | sort -Vu | tail -n 1)
	needed=${needed#GLIBC_}
	echo "$needed" >"$logs/glibc"
	[ -n "$needed" ] && [ "$(cat "$tree.files/share/doc/gputrace/bundled/GLIBC")" = "$needed" ]
	claim $? "the glibc that it says is the latest that its files need"
	grep -qF "relocatable tarball (glibc $needed or later" "$source/doc/install.md"
	claim $? "doc/install.md says so, too"
	rm -rf "$tree.files"
}

# For the root: what is done in any folder, with the gputrace in PATH.
scripts()
{
	mkdir -p "$tree/srv/try"
	cp "$source/packaging/smoke" "$tree/srv/try/"
	cat >"$tree/srv/try/bare" <<'END'
set -eux
cd $(mktemp -d)
gputrace --version
gputrace info
gputrace run -o t sh -c 'for i in 1 2 3; do /bin/true; done'
gputrace check t
gputrace report t >text
grep -E '^ *3 .* wait' text
gputrace report --json t >json
gputrace html -o page.html t
gputrace export --sqlite -o t.db t
gputrace export --perfetto -o t.pftrace t
gputrace info | grep 'export --arrow:' || gputrace export --arrow -o arrow t
gputrace timeline t
VT_IOTRACE=yes gputrace run -o io sh -c 'echo a >file'
gputrace report --csv -s files io | grep ',2,.*/file$'
! gputrace top no-such-folder
END
	cat >"$tree/srv/try/tools" <<'END'
set -eux
top=$(dirname "$(dirname "$(command -v gputrace)")")
cd $(mktemp -d)
[ "$(man -w gputrace-report)" = "$top/share/man/man1/gputrace-report.1" ]
cat >class.cpp <<'EOF'
struct Worker { int work(int i) { return 2 * i; } };
int main() { Worker w; return w.work(4) != 8; }
EOF
gputrace-c++ --gputrace-all -O0 class.cpp -o class
gputrace run -o c ./class
gputrace report --csv -s regions c | grep -F 'Worker::work(int)'
echo 'double triple(double x);' >triple.h
echo 'double triple(double x) { return 3 * x; }' >triple.c
echo '#include "triple.h"
int main(void) { return triple(triple(1)) != 9; }' >user.c
gcc -shared -fPIC triple.c -o libtriple.so
gcc user.c -L. -ltriple -Wl,-rpath,$PWD -o user
gputrace libwrapgen -g TRIPLE --header triple.h -l ./libtriple.so -o wrap
gputrace libwrapgen --build wrap
gputrace run -o w --wrap=./wrap ./user
gputrace check w
gputrace report --csv -s regions w | grep triple
cat >replace.c <<'EOF'
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
	(void)argc;
	syscall(SYS_execveat, AT_FDCWD, argv[1], argv + 1, environ, 0);
	return 1;
}
EOF
gcc replace.c -o replace
gputrace run -o e ./replace "$PWD/class" 2>log || { cat log; exit 1; }
cat log
gputrace report --csv -s regions e | grep -F 'Worker::work(int)'
printf 'def once():\n    return 1\n\nonce()\n' >script.py
VT_PYTHON=yes gputrace run -o p python3 script.py
gputrace report --csv -s regions p | grep once
cat >fortran.f90 <<'EOF'
subroutine work
end subroutine
program main
  call work
end program
EOF
gputrace-fc -O0 fortran.f90 -o fortran
gputrace run -o f ./fortran
gputrace report --csv -s regions f | grep -i 'work'
gputrace view c >served &
server=$!
for i in $(seq 100); do [ -s served ] || sleep 0.1; done
python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' \
	"$(grep -o 'http://[^ ]*' served)" | grep -i '<html'
kill "$server"
PATH=/usr/bin:/bin
. /usr/share/modules/init/sh
module use "$top/share/gputrace/modulefiles"
module load gputrace
[ "$(command -v gputrace)" = "$top/bin/gputrace" ]
END
	cat >"$tree/srv/try/ring.c" <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
	int rank, size, sum, from = -1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 10; i++)
		MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &from, 1, MPI_INT, (rank + size - 1) % size, 0,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Allreduce(&from, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return sum != size * (size - 1) / 2;
}
END
	cat >"$tree/srv/try/mpi" <<'EOT'
set -eu
mpi=$1
cd $(mktemp -d)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1
export PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# calls TRACE NAME CALLS
calls()
{
	gputrace check "$1"
	found=$(gputrace report --csv -s regions "$1" | awk -F, -v name="$2" '{ gsub(/"[^"]*"/, "quoted") }
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		$(column["name"]) == name { n += $(column["count"]) }
		END { print n + 0 }')
	[ "$found" = "$3" ] || { echo "$1: $found calls of $2, not $3"; exit 1; }
}
mpicc.$mpi -O0 /srv/try/ring.c -o ring
mpirun.$mpi -np 3 gputrace run -o t ./ring
calls t MPI_Sendrecv 30
calls t MPI_Allreduce 3
VT_MPICC=mpicc.$mpi gputrace-mpicc -O0 /srv/try/ring.c -o linked
mpirun.$mpi -np 3 gputrace run -o u ./linked
calls u MPI_Sendrecv 30
calls u main 3
EOT
}

# with FOLDER COMMAND
with() { inside root 900 "export PATH=$1/bin:\$PATH PKG_CONFIG_PATH=$1/lib/pkgconfig; $2"; }

# uses FOLDER WHERE: with compilers and MPIs.
uses()
{
	local mpi
	with "$1" "sh /srv/try/smoke" >"$logs/$suite-$2-smoke.log" 2>&1 && grep -q '^smoke: 5 uses work' "$logs/$suite-$2-smoke.log"
	claim $? "$2: run, gputrace-cc, pkg-config, CMake and wrappers work" "$logs/$suite-$2-smoke.log"
	with "$1" "sh /srv/try/tools" >"$logs/$suite-$2-tools.log" 2>&1
	claim $? "$2: man, gputrace-c++, gputrace-fc, libwrapgen, Python programs, view and the modulefile work" "$logs/$suite-$2-tools.log"
	for mpi in openmpi mpich; do
		with "$1" "sh /srv/try/mpi $mpi" >"$logs/$suite-$2-$mpi.log" 2>&1
		claim $? "$2: a program of the host's $mpi" "$logs/$suite-$2-$mpi.log"
	done
}

try()
{
	local first=/opt/gputrace second=/home/somebody/else/has/it may_fail=
	[ "$suite" != sid ] || may_fail=yes
	mkdir -p "$roots/packages/$suite"
	fresh
	# As an installed system has it: MPICH 3.4 of Debian 11 looks it up.
	echo "127.0.1.1 $(uname -n)" >>"$tree/etc/hosts"
	scripts
	mkdir -p "$tree$first" "$tree${second%/*}"
	tar -C "$tree$first" --strip-components=1 --no-same-owner -xf "$tarball"
	with $first "sh /srv/try/bare" >"$logs/$suite-bare.log" 2>&1
	claim $? "the commands work where nothing else is installed" "$logs/$suite-bare.log"
	inside root 1800 "export DEBIAN_FRONTEND=noninteractive; apt-get -q update && apt-get -q -y install --no-install-recommends \
		gcc g++ gfortran libc6-dev cmake make pkg-config man-db environment-modules python3 castxml libopenmpi-dev openmpi-bin libmpich-dev mpich" \
		>"$logs/$suite-install.log" 2>&1
	claim $? "compilers and MPIs can be installed" "$logs/$suite-install.log" || return
	uses $first unpacked
	mv "$tree$first" "$tree$second"
	with $second "sh /srv/try/bare" >"$logs/$suite-moved-bare.log" 2>&1
	claim $? "moved: the commands work" "$logs/$suite-moved-bare.log"
	uses $second moved
}

# images ARGUMENT...: buildah, which keeps everything in a folder of the tree.
images() { timeout -k 5 1200 buildah --root "$tree/storage" --runroot "$tree/storage.run" --storage-driver vfs "$@"; }

# in_image COMMAND...
in_image()
{
	local from
	from=$(images from --pull-never localhost/gputrace) && images run --isolation chroot "$from" -- "$@"
}

container()
{
	local context=$tree/context
	command -v buildah >/dev/null || { verdict ok "packaging/Containerfile" "buildah is not installed"; return; }
	fresh
	mkdir -p "$context"
	cp "$tarball" "$context/"
	{
		images from --name base scratch && images add -q base "$roots/bookworm.tar" / &&
			images commit -q base docker.io/library/debian:12 && images rm base
	} >"$logs/image-base.log" 2>&1
	claim $? "image: the pristine Debian 12 becomes the base" "$logs/image-base.log" || return
	images bud --isolation chroot --pull-never --build-arg PACKAGES="gcc libc6-dev" -t localhost/gputrace \
		-f "$source/packaging/Containerfile" "$context" >"$logs/image.log" 2>&1
	claim $? "image: buildah makes it as packaging/Containerfile says" "$logs/image.log" || return
	in_image sh -euxc 'cd /tmp && cp /opt/gputrace/share/doc/gputrace/examples/demo.c . &&
		gputrace-cc -O2 -o demo demo.c -lpthread && gputrace run -o t ./demo && gputrace check t &&
		gputrace report t | grep -w threads' >"$logs/image-demo.log" 2>&1
	claim $? "image: the demonstration is compiled, run and reported in it" "$logs/image-demo.log"
}

[ -n "$tarball" ] || build
[ -s "$tarball" ]
claim $? "there is a tarball: $(basename "$tarball")" || end
glibc
for suite; do
	try
done
suite=bookworm
container
end
