# SPDX-License-Identifier: BSD-3-Clause
"""Some work with CuPy: its own kernels, compiled at run time, and copies."""
import cupy
import numpy

a = cupy.asarray(numpy.arange(100000, dtype=numpy.float32))
for _ in range(50):
    a = a * 1.5 + 2
    a = cupy.sqrt(a)
print(float(cupy.sum(a)), len(cupy.asnumpy(a)))
