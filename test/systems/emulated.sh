#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The recording half cross-built for aarch64 and run by qemu-user: stacks, steps, the calls of an instrumented
# program, and samples and call paths of one that is not. The archives are made and judged by the tools of this
# machine, from what was recorded there. Part of ./runtests; needs what the group emulated of build-aux/packages
# has, clang with lld or Debian's cross compiler, and neither root nor a tree of another system (arm64.sh has
# one, and tries the assembling half, MPI and wrappers of libraries, too).
# Limits: of the libraries that gputrace uses only the C library is there. qemu-user shows memory as x86-64 orders
# it, has no perf events, and cannot start the assembly.
# shellcheck disable=SC2015,SC2046,SC2086 # lists of words are meant to be split; conditions before a skip
. "$(dirname "$0")/../lib.sh"
need_stage
triplet=aarch64-linux-gnu
tree=/usr/$triplet
[ "$(uname -m)" = x86_64 ] || skip_all "not an x86-64 machine: nothing is emulated"
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) ||
	skip_all "qemu-aarch64 is not installed (qemu-user; build-aux/install-packages emulated)"
[ -e $tree/lib/libc.so.6 ] && [ -e $tree/include/stdio.h ] ||
	skip_all "there is no C library for $triplet (libc6-dev-arm64-cross; build-aux/install-packages emulated)"
[ -n "$(find /usr/lib/gcc-cross/$triplet -name libstdc++.so 2>/dev/null)" ] ||
	skip_all "there is no libstdc++ for $triplet (libstdc++-12-dev-arm64-cross; build-aux/install-packages emulated)"

# ---- compilers: programs that they link are scripts, which let qemu run what was linked
mkdir bin
# compiler NAME COMMAND...: bin/NAME
compiler()
{
	local name=$1
	shift
	cat >"bin/$name" <<-END
		#!/bin/bash
		links=yes out= before=
		for word; do
			case \$word in -c | -E | -S | -shared | -print-* | --version) links= ;; esac
			[ "\$before" != -o ] || out=\$word
			before=\$word
		done
		$* "\$@" || exit
		[ -n "\$links" ] && [ -n "\$out" ] || exit 0
		mv "\$out" "\$out.$triplet"
		echo '#!/bin/sh' >"\$out"
		echo "exec $qemu -L $tree \$out.$triplet \"\\\$@\"" >>"\$out"
		chmod +x "\$out"
	END
	chmod +x "bin/$name"
}
compilers=
for cc in gcc clang; do
	case $cc in
	gcc) real=$triplet-gcc rest= ;;
	clang) real=clang rest="--target=$triplet -fuse-ld=lld -Wno-unused-command-line-argument" ;;
	esac
	real=$(command -v $real) && real_cxx=$(command -v "$(cxx_of "$real")") || continue
	[ $cc != clang ] || have ld.lld || continue
	compiler $cc "$real" $rest
	compiler "$(cxx_of $cc)" "$real_cxx" $rest
	compilers="$compilers $cc" build_cc="$real $rest" build_cxx="$real_cxx $rest"
done
[ -n "$compilers" ] || skip_all "neither $triplet-gcc and $triplet-g++ nor clang, clang++ and lld are installed"
diag "compilers:$compilers, $($qemu --version | head -n 1)"

# ---- the recording half. configure wants OTF2 and libdw: of OTF2 it is given the headers, which are the same for all
# processors, and one function; what uses either is not built.
mkdir cross cross/headers
ln -s "$(printf '#include <otf2/otf2.h>\n' | cc -M -x c $(otf2-config --cflags) - | tr ' ' '\n' | sed -n 's,/otf2\.h$,,p')" \
	cross/headers/otf2
echo 'void OTF2_Reader_Close(void) { }' | $build_cc -c -x c -o cross/otf2.o -
without=
for part in openmpi mpich criterion wrappers ncurses sqlite protobuf-c cairo zlib microhttpd papi man nanoarrow; do
	without="$without --without-$part"
done
cross()
{
	cd "$T/cross" &&
		CONFIG_SHELL=/bin/sh sh "$GT_SRC/configure" --host=$triplet --disable-dependency-tracking $without \
			CC="$build_cc" CXX="$build_cxx" CFLAGS="-g1 -O2 -Werror" \
			OTF2_CFLAGS="-I$T/cross/headers" OTF2_LIBS="$T/cross/otf2.o" DW_CFLAGS=-g1 DW_LIBS=-lc &&
		make -j "$(nproc)" lib/libgputrace.la pthread/libgputrace-pthread.la sampling/libgputrace-sampling.la
}
(cross) >cross.log 2>&1
ok $? "the recording half is built for aarch64" || {
	diag "$(tail -n 15 cross.log)"
	done_testing
}
diag "built after $SECONDS s"

# ---- the unwinder alone: the same scripts as on this machine
echo 'echo aarch64' >bin/uname
chmod +x bin/uname
for name in stacks steps; do
	PATH=$T/bin:$PATH GT_BUILD=$T/cross GT_CROSS_COMPILERS=${compilers# } GT_EMULATED=1 \
		bash "$GT_SRC/test/sampling/$name.test" >"$name.log" 2>&1
	rc=$?
	grep -q '^1\.\.[1-9]' "$name.log" && ! grep -q '# SKIP' "$name.log" && [ $rc -eq 0 ]
	ok $? "test/sampling/$name.test, $(grep -c '^ok' "$name.log") claims" || diag "$(grep -v '^ok' "$name.log" | tail -n 40)"
	diag "$name: after $SECONDS s"
done

# ---- what is recorded there is read here
# emulated NAME VARIABLE=VALUE... -- PROGRAM ARGUMENT...: runs it with the libraries preloaded; archive in $trace.
emulated()
{
	local libraries="$T/cross/pthread/.libs/libgputrace-pthread.so:$T/cross/sampling/.libs/libgputrace-sampling.so:$T/cross/lib/.libs/libgputrace.so"
	local set="-E VT_PFORM_GDIR=$T -E VT_FILE_PREFIX=$1.trace -E LD_PRELOAD=$libraries"

	trace=$T/$1.trace
	shift
	while [ "$1" != -- ]; do
		set="$set -E $1"
		shift
	done
	shift
	rm -rf "$trace"
	run "$qemu" -L $tree $set "$@"
	limit 60 gputrace recover "$trace" >"$T/recover.log" 2>&1
}
PATH=$T/bin:$PATH
cc=${compilers##* }
plain "$cc" -O2 events "$GT_SRC/test/trouble/events.c" -finstrument-functions -L"$T/cross/lib/.libs" -lgputrace \
	-Wl,-rpath-link,"$T/cross/lib/.libs"
ok $? "a program with hooks is built" || diag_file "$T/build.log"
emulated events -- "./events.$triplet" 100000 3
is "$status" 0 "it runs" || diag_file "$T/stderr"
check_trace "$trace" "its archive is well formed" || diag_file "$T/recover.log"
trace_expect "$trace" "$T/stdout" "all of its calls are in the archive, by name"
is "$(lost_events "$trace")" 0 "none is lost"

"$OTF2_PYTHON" -c 'import otf2' 2>/dev/null || {
	skip "call paths" "no python3-otf2"
	done_testing
}
source=$GT_SRC/test/sampling/callers.c
line() { grep -n "/\* $1 \*/" "$source" | cut -d: -f 1; }
for cc in $compilers; do
	plain "$cc" -O2 callers "$source" -fomit-frame-pointer
	ok $? "$cc: a program that waits is built" || diag_file "$T/build.log"
	emulated callers VT_SAMPLING=1000 -- "./callers.$triplet"
	is "$status" 0 "$cc: it runs, with 1,000 samples a second" || diag_file "$T/stderr"
	check_trace "$trace" "$cc: its archive is well formed" || diag_file "$T/recover.log"
	is "$("$OTF2_PYTHON" "$GT_SRC/test/sampling/callers.py" "$trace/traces.otf2" 50 \
		waiter frequent_caller rare_caller take main 2>&1 | grep -E ' took |pthread_mutex_lock|join' | LC_ALL=C sort -k 2)" \
		"$(LC_ALL=C sort -k 2 <<-END
			2 pthread_mutex_lock: waiter > rare_caller > take $(line TAKE)
			8 pthread_mutex_lock: waiter > frequent_caller > take $(line TAKE)
			1 pthread_join: main $(line JOIN)
		END
		)" "$cc: each wait has its path, and each path is right"
	in_range "$(fast_counts "$trace" | awk -F '\t' '$1 == "sample:work" { print $2 }')" 1 100000 "$cc: where it works there are samples"
done
done_testing
