#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# minutes.sh [--lines]: README's first five minutes, line by line as README has them, where this clone is: quickstart,
# then everything in a folder of its own. Each line that is a command is a claim, named "$ LINE".
# --lines: only shows where each line would be run; one that nothing here knows is shown as "unknown".
#
# Safe: writes below $HOME, which test/systems/debian.sh gives it, and a temporary folder.
# Limits: pigz, cmake and the commands of an MPI (openmpi-bin, mpich) are what the user has; without them their
# lines are skipped. The lines for CUDA are skipped: test/gpu/ runs programs on GPUs.
. "$(dirname "$0")/../lib.sh"

# The indented lines of the section, without comments; a line "--" before each block.
lines()
{
	awk '/^## / { inside = /Five minutes/ }
		!inside { next }
		/^    / { if (!block) print "--"; block = 1; print substr($0, 5); next }
		{ block = 0 }' "$GT_SRC/README" | sed 's/  *# .*//'
}

# place LINE: the folder of $T where it is run, with a program that suits it; else what it is.
place()
{
	case $1 in
	--) echo block ;;
	'./quickstart '*) echo source ;;
	'export PATH='* | '. $HOME/'*) echo shell ;;
	*' pigz '* | 'gputrace report T1' | 'gputrace html T1') echo files ;;
	*' ./cuda_app' | *NVCC=*) echo cuda ;;
	'make CC=gputrace-cc CXX='* | ./program | *' make check') echo program ;;
	'cmake '*) echo cmake ;;
	'./configure '*) echo configure ;;
	'mpirun '* | *mpicc*) echo mpi ;;
	'#include <vt_user.h>' | 'VT_USER_'* | ...) echo regions ;;
	'# name -- '* | *' -- '[0-9]*) echo filter ;;
	*) echo unknown ;;
	esac
}

if [ "${1:-}" = --lines ]; then
	lines | while IFS= read -r line; do echo "$(place "$line"): $line"; done
	_finished=1
	exit 0
fi

# What a fresh system tells of itself, for doc/systems.md.
facts()
{
	local mpi
	diag "system: $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release) $(cat /etc/debian_version)"
	diag "compiler: $(gcc -dumpfullversion 2>&1)"
	for mpi in openmpi mpich; do
		have mpirun.$mpi && diag "$mpi: $(mpirun.$mpi --version 2>&1 | grep -om 1 '[0-9][0-9]*\.[0-9.]*[a-z0-9]*')"
	done
	diag "OTF2: $(pkg-config --modversion otf2 2>/dev/null || otf2-config --version 2>&1)"
}

# The program of each folder: the demonstration, its makefiles, and ranks that meet.
folders()
{
	mkdir files program cmake configure mpi regions filter
	head -c 20000000 /dev/urandom >files/big.tar
	cp "$GT_SRC/doc/examples/demo.c" program/program.c
	cp program/program.c cmake/
	cp program/program.c configure/
	printf 'CFLAGS = -O2 -g\nprogram: program.c\n\t$(CC) $(CFLAGS) -o $@ program.c -lpthread\ncheck: program\n\t./program\n' >program/Makefile
	# demo.c includes vt_user.h, which the compiler wrappers find.
	cat >cmake/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(program C CXX)
find_package(Threads REQUIRED)
add_executable(program program.c)
target_link_libraries(program Threads::Threads)
END
	printf 'AC_INIT([program], [1])\nAC_PROG_CC\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n' >configure/configure.ac
	sed '1i CC = @CC@' program/Makefile >configure/Makefile.in
	cat >mpi/app.c <<'END'
#include <mpi.h>
static int add(int rank)
{
	int sum;
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}
int main(int argc, char **argv)
{
	int rank, size, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	sum = add(rank);
	MPI_Finalize();
	return sum != size * (size - 1) / 2;
}
END
	printf 'CC = mpicc\napp: app.c\n\t$(CC) -O0 -g -o $@ app.c\n' >mpi/Makefile
}

# try LINE: as typed into the shell, in this folder.
try()
{
	local rc
	case $1 in
	'export '* | '. '*) eval "$1" >"$T/log" 2>&1 </dev/null ;;
	./quickstart*) limit 1500 bash -c "$1" >"$T/log" 2>&1 </dev/null ;;
	*) limit 120 bash -c "$1" >"$T/log" 2>&1 </dev/null ;;
	esac
	rc=$?
	ok $rc "${for_whom:+$for_whom: }\$ $1" || tail -n 40 "$T/log" | sed 's/^/#   /'
	return $rc
}

# archives PATTERN N NAME: so many have been written, and are well formed; the last is in $trace.
archives()
{
	local n=0 bad=
	for trace in $1; do
		[ -e "$trace/traces.otf2" ] || continue
		n=$((n + 1))
		gputrace check "$trace" >"$T/check.log" 2>&1 || { bad=$trace; break; }
	done
	is "$n$bad" "$2" "$3" || diag_file "$T/check.log"
}

# has TRACE WORD NAME: its report names it.
has() { like "$(gputrace report "$1" 2>&1)" "$2" "$3"; }

in_program()
{
	cd "$T/program" || return
	try "$1" || return
	case $1 in
	./program)
		archives 'gputrace-program-*' 1 "... wrote its archive by itself"
		has "$trace" compute_row "... with its functions"
		;;
	*check) archives 'gputrace-program-*' 1 "... wrote no other archive" ;;
	esac
}

# README's dots stand for the folder and what else cmake is told.
in_cmake()
{
	have cmake || { skip "\$ $1" "no cmake"; return; }
	cd "$T/cmake" || return
	try "${1%...}." || return
	make >"$T/log" 2>&1 && ./program >>"$T/log" 2>&1
	ok $? "... what it builds runs" || diag_file "$T/log"
	archives 'gputrace-program-*' 1 "... and writes its archive"
	has "$trace" compute_row "... with its functions"
}

in_configure()
{
	cd "$T/configure" && autoconf || { skip "\$ $1" "no autoconf"; return; }
	try "$1" || return
	archives 'gputrace-*' 0 "... and nothing that configure tries is recorded"
	make >"$T/log" 2>&1 && ./program >>"$T/log" 2>&1
	ok $? "... what it builds runs" || diag_file "$T/log"
	archives 'gputrace-program-*' 1 "... and writes its archive"
}

in_files()
{
	have pigz || { skip "\$ $1" "no pigz"; return; }
	cd "$T/files" || return
	try "$1" || return
	case $1 in
	*report*) ;;
	*html*) like "$(head -c 100 T1.html)" '<!DOCTYPE html>' "... is T1.html" ;;
	*)
		like "$(cat "$T/log")" '^\[gputrace\] pigz: .* exit status 0' "... and a summary"
		archives T1 1 "... in the folder that was said"
		;;
	esac
}

# What stands in README for Open MPI stands there in brackets for MPICH.
in_mpi()
{
	local line=$1
	cd "$T/mpi" || return
	[ "$mpi" = openmpi ] || line=${line/OMPI_CC=/MPICH_CC=}
	case $line in
	*make*) rm -f app ;;
	*) rm -rf gputrace-app-* ;;
	esac
	try "$line" || return
	case $line in *make*) return ;; esac
	archives 'gputrace-app-*' 1 "$for_whom: ... one archive for all ranks"
	has "$trace" MPI_Allreduce "$for_whom: ... with MPI's calls"
	has "$trace" '^ *MPI ranks  *4$' "$for_whom: ... and four ranks"
}

# The block for MPI with each MPI of this system, by the names without a suffix, as users have it.
ranks()
{
	local mpi for_whom path=$PATH
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
	export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
	for mpi in openmpi mpich; do
		for_whom=$mpi
		have mpicc.$mpi && have mpirun.$mpi || { skip "$mpi" "not installed"; continue; }
		mkdir -p "$T/bin.$mpi"
		for name in mpicc mpirun; do # MPICH's mpirun looks for its parts where it lies itself: no links
			printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v $name.$mpi)" >"$T/bin.$mpi/$name"
			chmod +x "$T/bin.$mpi/$name"
		done
		PATH=$T/bin.$mpi:$path
		(cd "$T/mpi" && rm -rf app gputrace-app-* && mpicc -g -o app app.c) >"$T/log" 2>&1
		ok $? "$mpi: a program without gputrace builds" || diag_file "$T/log"
		while IFS= read -r line; do in_mpi "$line"; done <"$T/mpi.lines"
		# What README has in a remark.
		cd "$T/mpi" && rm -rf app gputrace-app-*
		{ gputrace-mpicc -O0 -g -o app app.c && mpirun -np 4 ./app; } >"$T/log" 2>&1
		ok $? "$mpi: ... or just: mpirun -np 4 ./app" || diag_file "$T/log"
		archives 'gputrace-app-*' 1 "$mpi: ... one archive"
		has "$trace" add "$mpi: ... with functions"
	done
	PATH=$path
}

regions()
{
	cd "$T/regions" || return
	{
		grep '^#include' "$T/regions.lines"
		printf 'int main(void)\n{\n'
		grep -v '^#include' "$T/regions.lines" | sed 's/^\.\.\.$/for (volatile int i = 0; i < 1000000; i++)\n;/'
		printf 'return 0;\n}\n'
	} >solve.c
	run_ok "README's own regions compile with -DVTRACE" gputrace-cc -DVTRACE -o solve solve.c
	run_ok "... and run" ./solve
	archives 'gputrace-solve-*' 1 "... and write an archive"
	has "$trace" 'Application  solve$' "... that has the region"
	run_ok "... without -DVTRACE they are nothing" gputrace-cc -Werror -o nothing solve.c
}

filter()
{
	cd "$T/filter" || return
	cp "$T/filter.lines" filter.spec
	run_ok "README's filter file is one" gputrace filter filter.spec
	VT_FILTER_SPEC=$T/filter/filter.spec run_ok "... and a program obeys it" \
		gputrace run -o F "$T/program/program"
	# The limit is 1000, demo.c has 400 rows.
	has F compute_row "... as far as it has to"
}

folders
touch mpi.lines regions.lines filter.lines
lines >all.lines
[ "$(wc -l <all.lines)" -gt 20 ]
ok $? "README's first five minutes are found"
while IFS= read -r line <&3; do
	where=$(place "$line")
	case $where in
	block) cd "$T" || exit 99 ;;
	source)
		cd "$GT_SRC" && try "$line" || { diag "nothing more can be tried"; done_testing; }
		# What the user has beside gputrace comes behind quickstart, so that this meets a pristine system.
		[ -z "${GT_USER_HAS:-}" ] || run_limit=1200 run bash -c "$GT_USER_HAS"
		facts
		;;
	shell) try "$line" ;;
	files) in_files "$line" ;;
	program | cmake | configure) in_$where "$line" ;;
	cuda) skip "\$ $line" "no GPU" ;;
	mpi | regions | filter) printf '%s\n' "$line" >>"$T/$where.lines" ;;
	unknown) fail "test/systems/minutes.sh does not know this line of README: $line" ;;
	esac
done 3<all.lines
ranks
regions
filter
cd "$T" || exit 99
gputrace info >"$T/log" 2>&1
ok $? "\$ gputrace info"
sed 's/^/#   /' "$T/log"
done_testing
