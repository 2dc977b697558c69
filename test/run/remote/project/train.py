"""Trains the decoder on made-up text: torchrun --nproc-per-node 2 train.py"""
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from decoder import Decoder

STEPS = 6


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(7)
    model = DistributedDataParallel(Decoder())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    data = torch.Generator().manual_seed(100 + rank)
    for step in range(1, STEPS + 1):
        start = torch.randint(0, 128, (4, 1), generator=data)
        ids = (start + 3 * torch.arange(33)) % 128
        loss = model(ids[:, :-1], ids[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if rank == 0:
            print(f"step: {step} loss: {loss.item():.6f}", flush=True)
    print(f"rank {os.environ['RANK']} done", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
