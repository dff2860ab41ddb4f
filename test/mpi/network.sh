# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Hosts that are namespaces of this machine: each has its own network, name, processes, mounts, shared
# memory, boot id and monotonic clock, and /private, which no other host has under that name. A switch
# joins them; Open MPI's launcher runs beside it, on no host, and starts its daemons by an agent.
# Limits: sourced behind mpi.sh. Needs unshare, nsenter, ip and the right to use them; Open MPI.

network=10.77.5
network_pids=

network_down()
{
	[ -n "$network_pids" ] || return 0
	# shellcheck disable=SC2086 # several
	kill -9 $network_pids 2>/dev/null
	network_pids=
}

# What one host is from inside; then it stays until it is killed.
# shellcheck disable=SC2016 # expanded there
network_host='
hostname "$1" && mount -t tmpfs none /dev/shm && mount -t tmpfs none "$2/private" || exit
printf "%08x-0000-4000-8000-000000000000\n" "$3" >"$2/private/boot_id"
mount --bind "$2/private/boot_id" /proc/sys/kernel/random/boot_id || exit
ip link set lo up
echo "$1" >"$2/up.$1"
while sleep 1; do :; done'

# network_up N: hosts h0 ... h<N-1>, seconds apart by their monotonic clocks. 1: not permitted.
network_up()
{
	local i pid up
	have unshare && have nsenter && have ip || return 1
	mkdir -p "$T/private" "$T/shared"
	unshare -n sleep 3600 2>/dev/null &
	network_pids=$!
	network_switch=$!
	disown $network_switch
	for i in {1..600}; do
		[ "$(readlink /proc/$network_switch/ns/net)" != "$(readlink /proc/self/ns/net)" ] && break
		sleep 0.05
	done
	[ "$i" -lt 600 ] || return 1
	nsenter -t $network_switch -n sh -c "ip link set lo up && ip link add switch type bridge && ip link set switch up &&
		ip addr add $network.254/24 dev switch" 2>/dev/null || return 1
	for ((i = 0; i < $1; i++)); do
		unshare -n -u -p -i -m -T --monotonic=$((i * 5000)) --boottime=$((i * 5000)) --fork --kill-child --mount-proc \
			sh -c "$network_host" sh "h$i" "$T" $((i + 1)) 2>"$T/host.$i" &
		pid=$!
		disown $pid
		network_pids="$network_pids $pid"
		for up in {1..600}; do
			[ -s "$T/up.h$i" ] && break
			sleep 0.05
		done
		[ "$up" -lt 600 ] || return 1
		pgrep -P $pid >"$T/pid.h$i"
		nsenter -t $network_switch -n sh -c "ip link add p$i type veth peer name eth0 netns $(cat "$T/pid.h$i") &&
			ip link set p$i master switch up" 2>/dev/null || return 1
		on_host "h$i" sh -c "ip addr add $network.$((i + 1))/24 dev eth0 && ip link set eth0 up" || return 1
	done
	cat >"$T/agent" <<-AGENT
		#!/bin/sh
		unset LD_PRELOAD VT_RUN_DIR # as ssh has them not
		host=\$1
		shift
		exec nsenter -t "\$(cat "$T/pid.\$host")" -n -u -p -i -m -T env -i PATH="\$PATH" HOME="\$HOME" sh -c "\$*"
	AGENT
	chmod +x "$T/agent"
}

# on_host HOST COMMAND...
on_host()
{
	local host=$1
	shift
	nsenter -t "$(cat "$T/pid.$host")" -n -u -p -i -m -T "$@"
}

# network_mpirun RANKS_PER_HOST HOSTS OPTIONS... COMMAND...: on h0 ... h<HOSTS-1>
network_mpirun()
{
	local per=$1 hosts=$2 list='' i
	shift 2
	for ((i = 0; i < hosts; i++)); do
		list="$list${list:+,}h$i:$per"
	done
	OMPI_MCA_orte_tmpdir_base=$T/private OMPI_MCA_btl=self,vader,tcp run nsenter -t "$network_switch" -n \
		${network_before:-} mpirun.openmpi --mca plm_rsh_agent "$T/agent" --mca plm_rsh_no_tree_spawn 1 -host "$list" \
		-np $((per * hosts)) ${network_options:-} "$@"
}
