#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# readers.sh FOLDER: fetches from PyPI the programs that read what `gputrace export` writes, for the tests in this
# folder, which look for them in the folder `readers` of the build tree.
#
# Exit status: 77 if they cannot be fetched.
#
# Limits: needs pip and a network, 150 MB. They are for the Python that has python3-otf2 (OTF2_PYTHON).
"${OTF2_PYTHON:-/usr/bin/python3}" -m pip install --quiet --root-user-action=ignore --disable-pip-version-check \
	--only-binary :all: --upgrade --target "${1:?a folder}" pyarrow duckdb polars pandas || {
	echo "pip cannot fetch pyarrow, duckdb, polars and pandas"
	exit 77
}
