#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# debian.sh [--may-fail] SUITE PART...: what a newcomer does on a pristine Debian, in a root of debootstrap's
# (minbase, with git and ca-certificates). Parts, in this order:
#
#   root     as root: clone, the first five minutes of README line by line (minutes.sh), gputrace info
#   user     the same as a user without sudo, when the packages are there; with fewer wrappers
#   quick    ./runtests --quick, as root
#   sample   some of its tests, as the user, with --no-install; root has installed the packages
#   broken   quickstart again, with a rule that once broke it: the walk must notice
#
# Speaks TAP. --may-fail: what fails is skipped, with its reason. root.sh says where all is one skip, and what is kept
# below build/roots; of logs/SUITE/ table.sh makes doc/systems.md.
# Limits: those of root.sh.
set -u
may_fail=
[ "${1:-}" != --may-fail ] || { may_fail=yes; shift; }
suite=${1:?suite}
shift
parts=" ${*:?part} "
. "$(dirname "$0")/root.sh"
# What the commands of README are tried with: installed behind quickstart, which meets a pristine system.
export user_has="apt-get -q update && apt-get -q -y install --no-install-recommends pigz cmake openmpi-bin mpich"
# What is cheap; on the next release also what its newer MPIs may break.
sample="test/cli/main.test test/cli/run.test test/user/user.test test/unit/filter test/unit/archive test/mpi/records.test"
[ -z "$may_fail" ] || sample="$sample test/mpi/programs.test"

# What is to be cloned: the files that git knows here, as they are now.
repository()
{
	local copy=$tree/srv/copy
	mkdir -p "$copy"
	if git -C "$source" -c safe.directory='*' rev-parse --git-dir >/dev/null 2>&1; then
		(cd "$source" && git -c safe.directory='*' ls-files -z | tar --null --ignore-failed-read -cf - -T -) 2>/dev/null
	else
		tar -C "$source" --exclude=./build -cf - .
	fi | tar -C "$copy" --no-same-owner -xf - || return
	inside root 120 "cd /srv/copy && git init -q . && git add -Af . && git -c user.name=nobody -c user.email=nobody \
		commit -qm copy && git clone -q --bare . /srv/gputrace.git && rm -rf /srv/copy" >"$logs/clone.log" 2>&1
}

# A command that goes into the clone, and makes it at first. Git takes nothing from a repository of another user's.
in_clone='{ [ -d gputrace ] || { cp -r /srv/gputrace.git origin.git && git clone -q file://$PWD/origin.git gputrace; }; } &&
	cd gputrace'

# Once: a user without sudo.
joe()
{
	[ -d "$tree/home/joe" ] || inside root 60 "useradd -m joe" || { verdict "not ok" "a user can be made"; return 1; }
}

# with_reasons FILE: its claims; behind each that fails, and a tab, the last line that it has said.
with_reasons()
{
	awk 'function put() { if (claim) print claim (claim ~ /^not/ ? "\t" substr(last, 1, 150) : "") }
		/^(not )?ok [0-9]/ { put(); claim = $0; last = ""; next }
		/^#/ { sub(/^#[ \t]*/, ""); last = $0 }
		/^1\.\./ { put(); claim = "" }
		END { put() }' "$1"
}

# Root makes all, as README says. Who comes after that tries what a user may do and where things lie, and makes only
# the wrappers that need no library.
briefly="MAKEFLAGS='SHIPPED=io\\ memory'"

# walk WHO NAME: minutes.sh as this user, its claims as ours.
walk()
{
	local who=$1 name=$2 log=$logs/$2.log line reason how
	[ "$who" = root ] && how= || how=$briefly
	inside "$who" 3600 "$in_clone && $how bash test/systems/minutes.sh" >"$log" 2>&1
	if ! grep -q '^1\.\.' "$log"; then
		verdict "not ok" "$name: the first five minutes come to their end" "$(tail -n 1 "$log" | cut -c 1-100)"
	fi
	while IFS=$'\t' read -r line reason; do
		case $line in *' # SKIP '*) reason=${line##* # SKIP } line=${line% # SKIP *} ;; esac
		verdict "${line%% [0-9]*}" "$name: ${line#* - }" "$reason"
	done < <(with_reasons "$log")
	[ -n "$may_fail" ] || grep -A 45 '^not ok ' "$log"
}

# tests WHO NAME SECONDS OPTION...: ./runtests --quick there; what it has counted is ours.
tests()
{
	local who=$1 name=$2 seconds=$3 log=$logs/$2.log last
	shift 3
	inside "$who" "$seconds" "$in_clone && GT_MPIS='openmpi mpich' ./runtests --quick $*" >"$log" 2>&1
	last=$(tail -n 1 "$log")
	case $last in
	[1-9]*' 0 failed'*) verdict ok "$name: ./runtests --quick $*: $last" ;;
	*) verdict "not ok" "$name: ./runtests --quick $*: $last"
		grep -v '^SKIP' "$log" | tail -n 60 | sed 's/^/# /' ;;
	esac
}

# ---- the parts

# As make's rule for wrappers once was: it touched a stamp in a folder that only some of them had made.
broken()
{
	local rule='s,[$](MKDIR_P) wrappers$,touch wrappers/$*.made,'
	inside joe 3600 "$in_clone && rm -rf build/quickstart/wrappers && sed -i '$rule' libwrapgen/local.mk &&
		! git diff --quiet && $briefly bash test/systems/minutes.sh" >"$logs/broken.log" 2>&1
	if grep -q '^not ok .*[$] ./quickstart ' "$logs/broken.log" && grep -q 'nothing more can be tried' "$logs/broken.log" &&
		grep -q 'cannot touch .*wrappers/' "$logs/broken.log"; then
		verdict ok "a quickstart that is broken is noticed"
	else
		verdict "not ok" "a quickstart that is broken is noticed" ""
		tail -n 40 "$logs/broken.log" | sed 's/^/# /'
	fi
}

log_in "$suite"
fresh
online /tmp # what is there at first are no lists
repository || { claim 1 "the copy that is to be cloned is made"; end; }

for part in root user quick sample broken; do
	case $parts in *" $part "*) ;; *) continue ;; esac
	case $part in
	root) walk root "root" ;;
	user) joe && user_has=true walk joe "user" ;;
	quick) tests root "quick" 3600 ;;
	sample)
		inside root 1800 "$in_clone && sh build-aux/install-packages core +parts +mpi test" >"$logs/packages.log" 2>&1
		joe && tests joe "sample" 3600 --no-install "$sample"
		;;
	broken) joe && broken ;;
	esac
	end_all
done
end
