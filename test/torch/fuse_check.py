"""Runs original and fused code side by side: forward, gradients, dtypes. Prints one JSON object per case and dtype.

Usage: fuse_check.py FOLDER, which holds NAME.original.py and NAME.fused.py, each with a class Case or a function case.
"""

import importlib.util
import inspect
import json
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent / "reference"))
DIM = 64


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem.replace(".", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def value(name, dtype, strided):
    """Activations of a plausible size; the strided ones are every second row of a larger tensor."""
    tokens = 12
    if name == "bias":
        return torch.randn(DIM).to(dtype)
    if name == "mask":
        return torch.zeros(2, 1, tokens, tokens, dtype=dtype).masked_fill(torch.ones(tokens, tokens, dtype=torch.bool).triu(1), torch.finfo(dtype).min)
    heads = name in ("query", "key", "value", "q", "cos", "sin")
    width = 2 * DIM if name == "fused" else DIM
    shape = (2, 4, tokens, width) if heads else (2, 3 * tokens, width)
    shape = (2, 1, tokens, width) if name in ("cos", "sin") else shape
    whole = torch.randn(*shape[:-2], shape[-2] * 2, shape[-1]).to(dtype)
    return whole[..., ::2, :] if strided else whole[..., : shape[-2], :].contiguous()


def run(module, inputs, dtype, state):
    case = getattr(module, "case", None)
    leaves = [tensor.detach().clone().requires_grad_() if name not in ("mask", "cos", "sin") else tensor for name, tensor in inputs.items()]
    parameters = []
    if case is None:
        case = module.Case(DIM)
        kept = case.weight.dtype
        case.load_state_dict(state)
        case.to(dtype)
        if inspect.getsource(module).count("dtype=torch.float32)"):
            case.weight.data = case.weight.data.to(kept)
        parameters = list(case.parameters())
    result = case(*leaves)
    weights = torch.linspace(0.5, 1.5, result.numel()).reshape(result.shape)
    grads = torch.autograd.grad((result.float() * weights).sum(), [leaf for leaf in leaves if leaf.requires_grad] + parameters)
    return [result, *grads]


def exact(module, inputs, state):
    """The original in fp64 on the same rounded inputs; its own `.float()` still rounds, far below bf16."""
    return run(module, {name: tensor.double() for name, tensor in inputs.items()}, torch.float64, state)


def difference(a, b):
    """Largest difference relative to the size of the tensor, and how far off single elements are."""
    a, b = a.double(), b.double()
    return {"absolute": (a - b).abs().max().item(), "relative": ((a - b).norm() / a.norm().clamp_min(1e-30)).item()}


def main(folder):
    for original in sorted(pathlib.Path(folder).glob("*.original.py")):
        modules = [load(original), load(original.with_name(original.name.replace(".original.", ".fused.")))]
        function = getattr(modules[0], "case", None) or modules[0].Case(DIM).forward
        names = [name for name, parameter in inspect.signature(function).parameters.items() if parameter.default is inspect.Parameter.empty]
        for dtype in (torch.float32, torch.bfloat16):
            for strided in (False, True):
                torch.manual_seed(7)
                inputs = {name: value(name, dtype, strided) for name in names}
                state = {"weight": torch.randn(DIM) * 0.2 + 1.0}
                before, after = (run(module, inputs, dtype, state) for module in modules)
                print(json.dumps({
                    "case": original.name.replace(".original.py", ""), "dtype": str(dtype), "strided": strided,
                    "sameDtype": [a.dtype == b.dtype for a, b in zip(before, after)],
                    "differences": [difference(a, b) for a, b in zip(before, after)],
                    "closer": [difference(c, b)["relative"] <= difference(c, a)["relative"] for a, b, c in zip(before, after, exact(modules[0], inputs, state))],
                    "finite": all(tensor.isfinite().all().item() for tensor in after),
                }))


main(sys.argv[1])
