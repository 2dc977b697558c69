"""Adds up the ranks of every process, by gloo; rank 1 fails when told so."""
import os
import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(total)
# In one write: ranks share a pipe, and print may write the end of the line apart.
os.write(1, f"rank {dist.get_rank()} of {dist.get_world_size()}: {total.item():.0f} {sys.argv[1]}\n".encode())
if len(sys.argv) > 2 and dist.get_rank() == 1:
    os._exit(int(sys.argv[2]))
dist.barrier()
dist.destroy_process_group()
