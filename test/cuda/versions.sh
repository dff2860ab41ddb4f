#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Many versions of CUPTI against the adapter: each version's headers agree with cuda/abi.h (abi.test), and each
# library has the functions that gputrace needs. Fetches NVIDIA's packages for Python with pip.
#
#     test/cuda/versions.sh [FOLDER]      packages that are in FOLDER already are not fetched again
#
# Limits: run by hand, it needs a network and 150 MB. The libraries are looked at, not run: there is no GPU.
set -u
src=$(cd "$(dirname "$0")/../.." && pwd)
to=${1:-$(mktemp -d)}
mkdir -p "$to"
failed=0

# CUPTI's package, and the one with the headers of the runtime that go with it.
while read -r cupti runtime; do
	at=$to/${cupti//==/-}
	if [ ! -d "$at" ]; then
		for package in "$cupti" "$runtime"; do
			python3 -m pip download -q --no-deps --only-binary=:all: -d "$at.wheels" "$package" || exit 1
		done
		for wheel in "$at".wheels/*.whl; do
			python3 -m zipfile -e "$wheel" "$at" || exit 1
		done
		rm -rf "$at.wheels"
	fi
	includes="${includes:-}${includes:+:}$(dirname "$(find "$at" -name cupti.h | head -n 1)")"
	library=$(find "$at" -name 'libcupti.so.*' | head -n 1)
	nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort >"$to/symbols"
	missing=$(sed -n 's/^\tF(\(cupti[A-Za-z0-9_]*\), [a-z_]*, true),/\1/p' "$src/cuda/api.c" | sort |
		comm -23 - "$to/symbols")
	[ -z "$missing" ] && echo "ok $cupti has every function" || { echo "FAIL $cupti lacks $missing"; failed=1; }
done <<-END
	nvidia-cuda-cupti-cu11==11.8.87 nvidia-cuda-runtime-cu11==11.8.89
	nvidia-cuda-cupti-cu12==12.0.146 nvidia-cuda-runtime-cu12==12.0.146
	nvidia-cuda-cupti-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.4.127
	nvidia-cuda-cupti-cu12==12.6.80 nvidia-cuda-runtime-cu12==12.6.77
	nvidia-cuda-cupti-cu12==12.9.79 nvidia-cuda-runtime-cu12==12.9.79
	nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96
	nvidia-cuda-cupti==13.5.25 nvidia-cuda-runtime
END
GT_CUPTI_INCLUDES=$includes GT_SRC=$src bash "$src/test/cuda/abi.test" || failed=1
exit $failed
