/** `workspace/train.py`: the training script. */
export const TRAIN_SOURCE = `"""Trains the model on random tokens. With --tiny it runs anywhere in seconds; without, a device is expected."""

import argparse
import json
import pathlib

import torch

from q35_npu_old import Q35ForCausalLM, to_mixed_precision

TINY = {
    "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32,
    "linear_num_heads": 2, "linear_head_dim": 32, "vocab_size": 512, "num_hidden_layers": 4, "loss_chunks": 2,
}


def read_config(tiny):
    config = json.loads((pathlib.Path(__file__).parent / "config.json").read_text())
    return {**config, **TINY} if tiny else config


def found_nan(model):
    """A cheap look before the step; all ranks agree on the answer."""
    total = model.norm.weight.abs().sum()
    bad = total != total
    if torch.distributed.is_initialized():
        torch.distributed.all_reduce(bad)
    return (bad != 0).float()


def train_step(model, optimizer, micro_batches):
    found_nan(model)
    loss = 0.0
    for tokens, labels, weights in micro_batches:
        part = model(tokens, labels, weights)
        part.backward()
        loss += part.detach()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    return loss


def random_batch(config, tokens, device):
    ids = torch.randint(config["vocab_size"], (1, tokens + 1), device=device)
    weights = torch.full((1, tokens), 1.0 / tokens, device=device)
    return ids[:, :-1], ids[:, 1:].contiguous(), weights


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="a small model that any CPU can train")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--tokens", type=int)
    arguments = parser.parse_args()
    config = read_config(arguments.tiny)
    device = "cpu" if arguments.tiny or not torch.accelerator.is_available() else torch.accelerator.current_accelerator()
    tokens = arguments.tokens or (16 if arguments.tiny else config["sequence_length"])
    torch.manual_seed(0)
    model = to_mixed_precision(Q35ForCausalLM(config)).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(arguments.steps):
        batches = [random_batch(config, tokens, device) for _ in range(config["micro_batches"])]
        print(f"step {step} loss {float(train_step(model, optimizer, batches)):.4f}")


if __name__ == "__main__":
    main()
`;
