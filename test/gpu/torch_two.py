# SPDX-License-Identifier: BSD-3-Clause
"""One of two processes under torchrun: sums over both. torch_two.py [nccl]. With HOSTS NCCL takes each for a host."""
import os
import sys

import torch
import torch.distributed as dist

nccl = "nccl" in sys.argv
rank = int(os.environ["RANK"])
if "HOSTS" in os.environ:
    os.environ["NCCL_HOSTID"] = f"host{rank}"
torch.cuda.set_device(rank % torch.cuda.device_count())
dist.init_process_group("nccl" if nccl else "gloo")
value = torch.full((1 << 16,), float(rank + 1), device="cuda" if nccl else "cpu")
for _ in range(20):
    part = torch.full((1 << 16,), float(rank + 1), device="cuda") * 2
    if nccl:
        dist.all_reduce(part)
        assert part[0].item() == 6.0
    else:
        value = part.cpu()
        dist.all_reduce(value)
        assert value[0].item() == 6.0
torch.cuda.synchronize()
sys.stdout.write(f"{rank} device {torch.cuda.current_device()} 0\n")    # in one piece
sys.stdout.flush()
dist.barrier()
dist.destroy_process_group()
