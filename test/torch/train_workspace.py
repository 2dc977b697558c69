"""Trains the sample's model in the workspace of argv[1] for a few steps and prints its losses as JSON.

argv[2], if given, is a folder whose modules stand in for packages that are not installed (torch_npu).
"""

import json
import sys

sys.dont_write_bytecode = True

import torch  # noqa: E402

sys.path.insert(0, sys.argv[1])
sys.path.extend(sys.argv[2:3])
import q35_npu_old as model_code  # noqa: E402
import train  # noqa: E402


def main():
    # Tiny tensors: threads would wait for each other.
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = train.read_config(tiny=True)
    model = model_code.to_mixed_precision(model_code.Q35ForCausalLM(config)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batches = [train.random_batch(config, 12, "cpu") for _ in range(2)]
    losses = [float(train.train_step(model, optimizer, batches)) for _ in range(4)]
    finite = all(bool(parameter.isfinite().all()) for parameter in model.parameters())
    print(json.dumps({"losses": losses, "finite": finite, "references": sorted(name for name in ("torch_npu",) if name in sys.modules)}))


main()
