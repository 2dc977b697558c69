"""Reference of the torch_npu operators that fused edits call, in plain PyTorch, written from their documentation.

It stands in for the real package on machines without an NPU: fp32 inside, one rounding into the dtype of the first
argument. What a device's kernel rounds differently does not show here.
"""

import torch
import torch.nn.functional as F


def npu_rms_norm(x, gamma, epsilon=1e-6):
    """(y, rstd): y = x * rstd * gamma in x's dtype, rstd in fp32. Gamma has x's dtype, or is fp32 beside a narrower x."""
    if gamma.dtype != x.dtype and gamma.dtype != torch.float32:
        raise TypeError(f"npu_rms_norm takes no gamma of {gamma.dtype} beside {x.dtype}")
    if tuple(x.shape[-gamma.dim():]) != tuple(gamma.shape):
        raise ValueError("gamma must have the trailing dimensions of x")
    wide = x.float()
    rstd = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + epsilon)
    return (wide * rstd * gamma.float()).to(x.dtype), rstd


def npu_swiglu(x, dim=-1):
    """silu(first half) * second half. Documented for contiguous tensors only."""
    if not x.is_contiguous():
        raise ValueError("npu_swiglu takes contiguous tensors only")
    gate, up = x.float().chunk(2, dim=dim)
    return (F.silu(gate) * up).to(x.dtype)


def npu_geglu(x, dim=-1, approximate=1, activate_left=False):
    """(y, gelu): gelu of one half times the other; approximate 1 is tanh; the right half is activated by default."""
    left, right = x.float().chunk(2, dim=dim)
    active, other = (left, right) if activate_left else (right, left)
    activated = F.gelu(active, approximate="tanh" if approximate == 1 else "none")
    return (activated * other).to(x.dtype), activated.to(x.dtype)


def npu_gelu(x, approximate="none"):
    return F.gelu(x.float(), approximate=approximate).to(x.dtype)


def npu_fast_gelu(x):
    wide = x.float()
    return (wide * torch.sigmoid(1.702 * wide)).to(x.dtype)


def npu_rotary_mul(x, r1, r2, rotary_mode="half", rotate=None):
    """x * r1 + rotate(x) * r2, x in three or four dimensions."""
    if rotate is not None or x.dim() not in (3, 4):
        raise ValueError("three or four dimensions, and no rotate: it has no backward")
    wide = x.float()
    if rotary_mode == "interleave":
        turned = torch.stack((-wide[..., 1::2], wide[..., ::2]), dim=-1).flatten(-2)
    else:
        first, second = wide.chunk(2, dim=-1)
        turned = torch.cat((-second, first), dim=-1)
    return (wide * r1.float() + turned * r2.float()).to(x.dtype)
