# SPDX-License-Identifier: BSD-3-Clause
# What the tests of MPI share: the MPIs that are here, and how programs are built and started.
# Limits: sourced behind lib.sh.

# Several ranks on each processor, as root in a container, with nothing but this machine.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# Open MPI 5 is started by PRRTE, which has the same under another name.
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
# Scripts that run at the same time must not meet in one session directory.
export OMPI_MCA_orte_tmpdir_base=$T
# MPICH's ranks spin while they wait, and here several share a processor.
export MPIR_CVAR_POLLS_BEFORE_YIELD=1
# Without a network Debian's Open MPI 4 finds no way for windows by itself; later ones have no pt2pt.
case $(mpirun.openmpi --version 2>/dev/null) in *" 4."*) export OMPI_MCA_osc=pt2pt,sm ;; esac

# An MPI that is here and was not built for is no reason to skip its tests, but a failure of configure.
for mpi in openmpi mpich; do
	if have mpicc.$mpi && [ -z "$(find "$GT_STAGE" -name "libgputrace-mpi-$mpi.so")" ]; then
		fail "gputrace is built for $mpi, which is here"
	fi
done
[ -n "$(find "$GT_STAGE" -name libgputrace-mpi.so)" ] || skip_all "built without MPI"

MPIS=
for mpi in openmpi mpich; do
	if have mpicc.$mpi && have mpirun.$mpi && [ -n "$(find "$GT_STAGE" -name "libgputrace-mpi-$mpi.so")" ]; then
		MPIS="$MPIS $mpi"
	fi
done
# A sample has one of them, unless GT_MPIS says which.
# shellcheck disable=SC2086 # a list of words
MPIS=${GT_MPIS:-$(set -- $MPIS; sample "${1:-}" "$*" "$*")}
[ -n "$MPIS" ] || skip_all "neither mpicc.openmpi nor mpicc.mpich is here"

# mpi_build MPI OUT SRC [flags...]: a program without anything of gputrace -> $T/OUT.MPI
mpi_build()
{
	local mpi=$1 out=$2 src=$3
	shift 3
	if ! limit 60 "mpicc.$mpi" -O1 -g -w -o "$T/$out.$mpi" "$src" "$@" >"$T/build.log" 2>&1; then
		fail "$out builds with $mpi"
		diag_file "$T/build.log"
		return 1
	fi
}

# archive_comes DIR: a process of Open MPI's may end later than mpirun and the program, and the archive is written
# then; gputrace run says so, and does not wait.
archive_comes()
{
	local i
	for ((i = 0; i < 200 * GT_TIME_FACTOR; i++)); do
		[ ! -s "$1/traces.otf2" ] || [ -d "$1/spool" ] || return 0
		sleep 0.1
	done
	return 1
}

# mpi_trace MPI RANKS NAME COMMAND...: `gputrace run mpirun`, archive in $trace, status in $status.
mpi_trace()
{
	local mpi=$1 ranks=$2 name=$3
	shift 3
	trace_run "$name" -q -- "mpirun.$mpi" -np "$ranks" "$@"
	archive_comes "$trace"
}

# mpi_inside MPI RANKS NAME COMMAND...: `mpirun gputrace run`: the ranks find each other.
mpi_inside()
{
	local mpi=$1 ranks=$2
	trace=$T/$3.trace
	shift 3
	rm -rf "$trace"
	run "mpirun.$mpi" -np "$ranks" gputrace run -q -o "$trace" "$@"
}

# mpi_ranks DIR: the names of the ranks in the archive, in one line.
mpi_ranks() { otf2-print -G "$1/traces.otf2" | sed -n 's/^LOCATION_GROUP  *[0-9]*  Name: "MPI Rank \([0-9]*\)".*/\1/p' | tr '\n' ' '; }

# mpi_count DIR EVENT: how many records of that name otf2-print shows; of collectives those that do more
# than make a communicator. An archive is printed once, and only what concerns MPI is kept.
mpi_count()
{
	local now
	now="$1 $(stat -c '%i %y' "$1/traces.otf2" 2>&1)"
	if [ "$now" != "$(cat "$T/printed.of" 2>/dev/null)" ]; then
		otf2-print "$1/traces.otf2" | grep -E '^(MPI|NON_BLOCKING)_' >"$T/printed"
		echo "$now" >"$T/printed.of"
	fi
	grep "^$2 " "$T/printed" | grep -vc 'Operation: CREATE_HANDLE,'
}
