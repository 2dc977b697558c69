"""Runs the sample's Python workspace (argv[1]) on a CPU and prints, as JSON, what it did.

Operators are recorded at dispatch, views left out, for one layer of each kind, the rotary table and one loss chunk. The delta
rule is replaced by a stand-in without operators, because on a device it is a chain of compiled kernels.
"""

import json
import math
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

sys.path.insert(0, sys.argv[1])
import q35_npu_old as model_code  # noqa: E402
import train  # noqa: E402
from chunk_loss import ChunkedLoss  # noqa: E402

VIEWS = {
    "view", "_unsafe_view", "t", "transpose", "unsqueeze", "slice", "split", "split_with_sizes", "expand", "detach", "alias",
    "permute", "select", "unbind", "squeeze", "unflatten", "as_strided",
    # allocations: of the stand-in below
    "empty", "empty_like", "new_empty_strided", "ones",
}


class Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.operators = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name.split("::")[1]
        if name not in VIEWS:
            self.operators.append(f"{name}.{func._overloadname}")
        return func(*args, **(kwargs or {}))


def recorded(run):
    with Recorder() as recorder:
        result = run()
    return recorder.operators, result


class SilentRule(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, ba, a_log, dt_bias):
        ctx.like = [(t.shape, t.dtype) for t in (q, k, v, ba, a_log, dt_bias)]
        return torch.ones(v.shape, dtype=v.dtype)

    @staticmethod
    def backward(ctx, grad):
        return tuple(torch.empty(shape, dtype=dtype) for shape, dtype in ctx.like)


def gated_norm_error():
    """Largest difference from the formula in double precision, relative to bf16's half step."""
    norm = model_code.GatedRMSNorm(32)
    x, gate = torch.randn(2, 5, 3, 32).bfloat16(), torch.randn(2, 5, 3, 32).bfloat16()
    wide = x.double()
    wanted = wide / (wide.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * norm.weight.double() * torch.nn.functional.silu(gate.double())
    return float(((norm(x, gate).double() - wanted).abs() / (wanted.abs() + 1e-3)).max())


def main():
    torch.manual_seed(0)
    config = train.read_config(tiny=True)
    model = model_code.to_mixed_precision(model_code.Q35ForCausalLM(config)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batches = [train.random_batch(config, 12, "cpu") for _ in range(2)]
    losses = [float(train.train_step(model, optimizer, batches)) for _ in range(4)]
    finite = all(math.isfinite(loss) for loss in losses) and all(bool(p.isfinite().all()) for p in model.parameters())

    model_code.chunk_gated_delta_rule = SilentRule.apply
    x = torch.randn(1, 16, config["hidden_size"], dtype=torch.bfloat16, requires_grad=True)
    cos, sin = model_code.rotary_table(16, model.inv_freq, torch.bfloat16)
    layers = {}
    for kind, index in (("linear", 0), ("full", 3)):
        forward, out = recorded(lambda layer=model.layers[index]: layer(x, cos, sin))
        seed = torch.ones_like(out)
        backward, _ = recorded(lambda result=out, grad=seed: result.backward(grad))
        layers[kind] = {"forward": forward, "backward": backward}
    rotary, _ = recorded(lambda: model_code.rotary_table(16, model.inv_freq, torch.bfloat16))
    hidden = torch.randn(16, config["hidden_size"], dtype=torch.bfloat16, requires_grad=True)
    labels, weights = torch.randint(config["vocab_size"], (16,)), torch.ones(16)
    loss, _ = recorded(lambda: ChunkedLoss.apply(hidden, model.lm_head, labels, weights, 1))
    print(json.dumps({
        "torch": torch.__version__, "losses": losses, "finite": finite, "gatedNormError": gated_norm_error(),
        "layers": layers, "rotary": rotary, "loss": loss,
    }))


if __name__ == "__main__":
    main()
