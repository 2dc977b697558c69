"""Runs a function forward and backward, and says how far two runs lie apart."""

import dataclasses

import torch
from torch.overrides import TorchFunctionMode

NARROW = (torch.float32, torch.float16, torch.bfloat16)


class Wide(TorchFunctionMode):
    """Every conversion to a narrower float goes to fp64: the original's formula without its rounding."""

    def __torch_function__(self, function, kinds, args=(), kwargs=None):
        if function in (torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16):
            return args[0].double()
        widened = {name: self.wide(value) for name, value in (kwargs or {}).items()}
        return function(*[self.wide(value) for value in args], **widened)

    @staticmethod
    def wide(value):
        return torch.float64 if isinstance(value, torch.dtype) and value in NARROW else value


class SameLayout(torch.autograd.Function):
    """A copy with the strides of its source, so that a function may change its input in place."""

    @staticmethod
    def forward(ctx, tensor):
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device).copy_(tensor)

    @staticmethod
    def backward(ctx, grad):
        return grad


def flatten(result):
    """Tensors of a result, whatever holds them."""
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, dict):
        return [tensor for value in result.values() for tensor in flatten(value)]
    if isinstance(result, (list, tuple)):
        return [tensor for value in result for tensor in flatten(value)]
    if dataclasses.is_dataclass(result):
        return [tensor for field in dataclasses.fields(result) for tensor in flatten(getattr(result, field.name))]
    return []


def run(function, arguments, parameters, constant=()):
    """[(name, tensor)]: the results, then the gradients of inputs and of parameters under a fixed cotangent."""
    torch.manual_seed(5)
    leaves = {name: value.detach().requires_grad_() for name, value in arguments.items() if isinstance(value, torch.Tensor) and value.is_floating_point() and name not in constant}
    given = {name: SameLayout.apply(leaves[name]) if name in leaves else value for name, value in arguments.items()}
    outputs = flatten(function(given))
    named = [("output" if len(outputs) == 1 else f"output {index + 1}", tensor) for index, tensor in enumerate(outputs)]
    grown = [tensor for tensor in outputs if tensor.requires_grad]
    wanted = {**{name: leaf for name, leaf in leaves.items()}, **parameters}
    if grown and wanted:
        total = 0
        for tensor in grown:
            weights = torch.randn(tensor.shape, generator=torch.Generator().manual_seed(3)).to(tensor.device)
            total = total + (tensor.to(torch.float64 if tensor.dtype == torch.float64 else torch.float32) * weights).sum()
        grads = torch.autograd.grad(total, list(wanted.values()), allow_unused=True)
        named += [(f"gradient of {name}", grad) for name, grad in zip(wanted, grads) if grad is not None]
    # Compared in fp64, which not every device has.
    return [(name, tensor.detach().cpu()) for name, tensor in named]


def difference(before, after, truth):
    """Figures of one result; `truth` is the same in fp64, or None."""
    a, b = before.double(), after.double()
    if a.shape != b.shape:
        return {"sameShape": False}
    gone = (~a.isfinite()) & ((a == b) | (a.isnan() & b.isnan()))
    a, b = a.masked_fill(gone, 0), b.masked_fill(gone, 0)
    apart = (a - b).abs()
    size = a.square().mean().sqrt()
    made = {
        "sameShape": True, "finite": bool(b.isfinite().all()), "maxAbs": number(apart.max()), "maxRel": number((apart / a.abs().maximum(size).clamp_min(1e-30)).max()),
        "normRel": number(apart.norm() / a.norm().clamp_min(1e-30)), "differing": number((apart > 0).double().mean()),
    }
    if truth is not None and truth.shape == a.shape:
        exact = truth.double().masked_fill(gone | ~truth.isfinite(), 0)
        of_before, of_after = (a - exact).abs(), (b - exact).abs()
        made["errorBefore"] = {"max": number(of_before.max()), "norm": number(of_before.norm())}
        made["errorAfter"] = {"max": number(of_after.max()), "norm": number(of_after.norm())}
        made["truthMax"] = number(exact.abs().max())
        made["truthNorm"] = number(exact.norm())
    return made


def number(tensor):
    value = float(tensor)
    return value if value == value and abs(value) != float("inf") else None
