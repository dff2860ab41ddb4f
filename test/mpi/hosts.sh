#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a rank of an MPI program as if its host were one of HOSTS: rank r is on node<r % HOSTS>, whose
# clocks are off by SKEW<number> (":NS" or ":NS:PPM") and whose local folder is LOCAL/<number>.
# MOUNTS: it is there with MOUNTS/<number> mounted on MOUNTS/all.
# Limits: Open MPI's and MPICH's launchers.
host=$((${OMPI_COMM_WORLD_RANK:-$PMI_RANK} % ${HOSTS:-2}))
eval "skew=\${SKEW$host:-}"
export VT_TEST_HOST="node$host$skew"
if [ -n "${LOCAL:-}" ]; then
	export VT_PFORM_LDIR="$LOCAL/$host"
	mkdir -p "$VT_PFORM_LDIR"
fi
[ -z "${MOUNTS:-}" ] || exec unshare -m --propagation private sh -c \
	'mount --bind "$1" "$2" && shift 2 && exec "$@"' - "$MOUNTS/$host" "$MOUNTS/all" "$@"
exec "$@"
