#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# embed.sh NAME FILE... : a C source with the array NAME of all bytes of the files, and NAME_size.
#
# Limits: needs od and sed only.
set -eu
name=$1
shift
printf '/* Made by build-aux/embed.sh. */\n#include "report/page/page.h"\n\n'
printf 'const unsigned char %s[] = {\n' "$name"
cat "$@" | od -An -v -tx1 | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
printf '0 };\nconst size_t %s_size = sizeof(%s) - 1;\n' "$name" "$name"
