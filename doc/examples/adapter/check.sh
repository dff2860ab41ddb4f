#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Traces the program with the adapter, and compares the archive with what the program says that it did.
# Limits: needs otf2-print, which comes with OTF2.
set -eu

rm -rf trace
mkdir trace
# No gputrace command is needed to record: the adapter brings the library, which makes the archive at the end.
VT_PFORM_GDIR=$PWD/trace VT_FILE_PREFIX=parcel VT_ASSEMBLERS=$PWD/assemble LD_PRELOAD=$PWD/recording.so \
	./program >trace/said 2>trace/messages
gputrace check trace/parcel
otf2-print trace/parcel/traces.otf2 >trace/events
otf2-print -G trace/parcel/traces.otf2 >trace/definitions

said() { sed -n "s/^$1 //p" trace/said; }
bad=0
# compare WHAT FOUND EXPECTED
compare()
{
	if [ "$2" = "$3" ]; then
		echo "ok: $1: $2"
	else
		echo "WRONG: $1: $2 in the archive, the program says $3"
		bad=1
	fi
}
sent=$(said sent)
received=$(said received)
compare "regions parcel_send" "$(grep -c '^ENTER.*"parcel_send"' trace/events)" "$sent"
compare "regions parcel_receive" "$(grep -c '^ENTER.*"parcel_receive"' trace/events)" "$received"
compare "messages sent" "$(grep -c '^MPI_SEND' trace/events)" "$sent"
compare "messages received" "$(grep -c '^MPI_RECV' trace/events)" "$received"
compare "bytes received" "$(sed -n '/^MPI_RECV/s/.*Length: *\([0-9]*\).*/\1/p' trace/events | awk '{ n += $1 } END { print n }')" "$(said bytes)"
compare "values of the metric" "$(grep -c '^METRIC.*"parcels waiting"' trace/events)" $((sent + received))
compare "location of its own" "$(grep -c '^LOCATION .*"post office"' trace/definitions)" 1
compare "records of its own kind" "$(grep -c '^ENTER.*"urgent"' trace/events)" "$(said urgent)"
compare "... with their attributes" "$(grep -A1 '^ENTER.*"urgent"' trace/events | grep -c '"URGENCY"')" "$(said urgent)"
compare "calls without an end" "$(grep -c 'did not return' trace/messages)" 0
exit $bad
