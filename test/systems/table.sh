#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# table.sh LOGS >doc/systems.md: a table of systems and commands, from the logs of the last ./runtests (build/roots/logs).
# Limits: takes what is there; a system whose logs are missing has no column.
set -u
logs=${1:?folder of logs}
cd "$logs" || exit 1

# One line each: SYSTEM WHO FILE.
columns()
{
	local suite who
	for suite in bookworm trixie sid; do
		for who in root user; do
			[ ! -s "$suite/$who.log" ] || echo "$suite $who $suite/$who.log"
		done
	done
}
# fact FILE NAME
fact() { sed -n "s/^# $2: //p" "$1" | head -n 1; }
# row NAME FUNCTION: a cell for each column.
row()
{
	printf '| %s |' "$1"
	while read -r suite who file; do printf ' %s |' "$("$2")"; done < <(columns)
	echo
}
as() { echo "$suite, $who"; }
dashes() { echo "---"; }
day() { date -u -r "$file" +%Y-%m-%d; }
system() { fact "$file" system; }
compiler() { echo "gcc $(fact "$file" compiler)"; }
mpis() { echo "$(fact "$file" openmpi), $(fact "$file" mpich)"; }
otf2() { fact "$file" OTF2; }

# of NAME...: the verdict on a claim, which may have been made for several MPIs.
verdict()
{
	local found
	found=$(grep -F -- "\$ $command" "$file" | grep -E '^(not )?ok [0-9]+ - ')
	case $found in
	'') echo "not run" ;;
	*'not ok '*) echo "fails" ;;
	*'# SKIP'*) echo "skipped: ${found##*# SKIP }" ;;
	*) echo "works" ;;
	esac
}
counts() { grep -sE '^[0-9]+ passed, ' "$1" || echo "not run"; }
quick() { if [ "$who" = root ]; then counts "$suite/quick.log"; else echo; fi; }
sample() { if [ "$who" = root ] && [ -s "$suite/user.log" ]; then echo; else counts "$suite/sample.log"; fi; }
# A line for each release whose packages were made.
packages()
{
	local file suite result

	for suite in bookworm trixie sid; do
		file=packages-$suite/claims
		[ -s "$file" ] || continue
		result="$(grep -c '^ok ' "$file") hold, $(grep -c '^not ok ' "$file") fail"
		echo "| $suite | $(day) | $result |"
	done
}
# One line for each system of tarball.sh: bullseye, where it is built, and those where it is used.
tarball()
{
	local file=tarball/claims suite

	for suite in bullseye bookworm trixie sid; do
		grep -q -- "- $suite, " "$file" || continue
		echo "| $suite | $(day) | $(grep -- "- $suite, " "$file" | awk '/SKIP/ { skipped++; next } /^ok/ { hold++; next } { fail++ }
			END { print hold + 0 " hold, " fail + 0 " fail" (skipped ? ", " skipped " skipped" : "") }') |"
	done
}

cat <<'END'
<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Systems

What README says, command by command, on pristine systems (debootstrap --variant=minbase, with git and
ca-certificates), as root and then as a user without sudo. `./runtests` does this each time
(test/systems/debian.sh), with sid only if GT_THOROUGH=1; test/systems/table.sh has made the table from the
logs that it keeps in build/roots/logs. Only sid may fail. A system or user without a column was not run for
this table.

END
row "" as
row --- dashes
row "day" day
row "system" system
row "compiler" compiler
row "Open MPI, MPICH" mpis
row "OTF2" otf2
file=$(columns | awk '{ print $3; exit }')
while IFS= read -r command; do
	row "\`${command//|/\\|}\`" verdict
done < <(sed -n -E 's/^(not )?ok [0-9]+ - ((openmpi|mpich): )?\$ //p' "$file" | sed 's/ # SKIP.*//' | awk '!seen[$0]++')
row "\`./runtests --quick\`" quick
row "\`./runtests --quick\`, some tests of it" sample
cat <<'END'

## Debian packages

test/systems/packages.sh makes them from the source archive on a pristine system, and on another one installs,
uses, upgrades and purges them.

| release | day | claims |
| --- | --- | --- |
END
packages
[ -s tarball/claims ] || exit 0
cat <<'END'

## Relocatable tarball

test/systems/tarball.sh builds it in a pristine Debian 11, uses it in pristine newer systems where it was
unpacked and after it was moved (the commands with nothing else installed; then the compiler wrappers,
pkg-config, CMake, wrappers of libraries, Python, programs of the system's Open MPI and MPICH), and makes an
image of a container with it (packaging/Containerfile; counted with bookworm).

END
echo "It needs glibc $(cat tarball/glibc), read off its files."
cat <<'END'

| system | day | claims |
| --- | --- | --- |
END
tarball
