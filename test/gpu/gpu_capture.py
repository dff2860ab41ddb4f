# SPDX-License-Identifier: BSD-3-Clause
"""Reads what VT_CUPTI_CAPTURE kept (cuda/capture.h): the kernels as CUPTI gave them out.

Limits: kernels only; fields that lie where they do since CUPTI 11.8.
"""
import struct
from pathlib import Path

CALL, BUFFER, STRING, NAME, SIZE = range(1, 6)
KERNELS = (3, 10)  # kinds


def kernels(directory):
    """{correlation id: nanoseconds from start to end} of the one process that was captured."""
    data = next(Path(directory).glob("cupti-*.cap")).read_bytes()
    sizes, found, at = {}, {}, 16
    while at + 8 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        piece = data[at + 8:at + 8 + length]
        at += 8 + length
        if kind == SIZE:
            sizes.update([struct.unpack("<II", piece)])
        elif kind == BUFFER:
            place = 8
            while place < len(piece):
                record, = struct.unpack_from("<I", piece, place)
                if record in KERNELS:
                    start, end = struct.unpack_from("<QQ", piece, place + 16)
                    correlation, = struct.unpack_from("<I", piece, place + 92)
                    found[correlation] = end - start
                place += sizes[record]
    return found
