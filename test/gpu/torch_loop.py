# SPDX-License-Identifier: BSD-3-Clause
"""A loop that does nothing but launch, timed. torch_loop.py LAUNCHES [profiler]"""
import sys
import time

import torch

launches = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
a = torch.zeros(32, device="cuda")


def measure():
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(launches):
        a.add_(1)
    torch.cuda.synchronize()
    print(f"TIME ns={(time.perf_counter() - begin) / launches * 1e9:.3f}", flush=True)


for _ in range(1000):
    a.add_(1)
if "profiler" in sys.argv:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        measure()
else:
    measure()
