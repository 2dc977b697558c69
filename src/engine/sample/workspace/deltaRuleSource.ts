/** `workspace/gdn_ops.py`: the gated delta rule: a call into compiled kernels on a device, a plain loop elsewhere. */
export const DELTA_RULE_SOURCE = `"""The gated delta rule. On an accelerator one call runs a chain of compiled chunk kernels; elsewhere a plain loop does the same."""

import torch
import torch.nn.functional as F

try:
    from gdn_triton import chunk_gated_delta_rule_kernels  # not part of the sample
except ImportError:
    chunk_gated_delta_rule_kernels = None


def chunk_gated_delta_rule(q, k, v, ba, a_log, dt_bias):
    """q, k, v: [batch, tokens, heads, dim]; ba: [batch, tokens, 2 * heads], write strength and decay; returns the shape of v.

    The compiled form launches, forward: gate, local cumsum, scaled k k^T, two triangular solves, w and u, states, output.
    """
    if chunk_gated_delta_rule_kernels is not None and q.device.type != "cpu":
        return chunk_gated_delta_rule_kernels(q, k, v, ba, a_log, dt_bias)
    return delta_rule_by_token(q, k, v, ba, a_log, dt_bias)


def delta_rule_by_token(q, k, v, ba, a_log, dt_bias):
    """Reference: state = decay * state; state += k (beta * (v - k state)); out = q state."""
    b, a = ba.float().chunk(2, dim=-1)
    beta = torch.sigmoid(b)
    decay = torch.exp(-a_log.exp() * F.softplus(a + dt_bias))
    q = F.normalize(q.float(), dim=-1) * q.shape[-1] ** -0.5
    k = F.normalize(k.float(), dim=-1)
    values = v.float()
    batch, tokens, heads, dim = q.shape
    state = q.new_zeros(batch, heads, dim, values.shape[-1])
    outputs = []
    for t in range(tokens):
        state = state * decay[:, t, :, None, None]
        seen = torch.einsum("bhd,bhde->bhe", k[:, t], state)
        update = beta[:, t, :, None] * (values[:, t] - seen)
        state = state + k[:, t, :, :, None] * update[:, :, None, :]
        outputs.append(torch.einsum("bhd,bhde->bhe", q[:, t], state))
    return torch.stack(outputs, dim=1).to(v.dtype)
`;
