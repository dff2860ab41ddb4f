# SPDX-License-Identifier: BSD-3-Clause
"""Training steps of a small model, timed. torch_step.py STEPS [profiler]"""
import sys
import time

import torch
from torch import nn

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(),
                      nn.Linear(1024, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
data = torch.randn(64, 512).pin_memory()
target = torch.randint(0, 10, (64,)).pin_memory()


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(model(data.cuda(non_blocking=True)),
                                       target.cuda(non_blocking=True))
    loss.backward()
    optimizer.step()


def measure():
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    print(f"TIME ns={(time.perf_counter() - begin) / steps * 1e9:.3f}", flush=True)


for _ in range(5):
    step()
if "profiler" in sys.argv:
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        measure()
else:
    measure()
