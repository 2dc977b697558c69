/** `workspace/q35_npu_old.py`: the model. Lines 29 and 30 hold the gated RMSNorm; a test pins them. */
export const MODEL_SOURCE = `"""A Qwen3.5-like decoder in plain PyTorch, before any fused kernel (synthetic sample of FuseLens)."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from chunk_loss import ChunkedLoss
from gdn_ops import chunk_gated_delta_rule


class GatedRMSNorm(nn.Module):
    """RMSNorm of the linear-attention output, gated by SiLU."""

    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        # Stays in fp32 under mixed precision, so a profile shows no cast of the weight.
        self.weight = nn.Parameter(torch.ones(dim, dtype=torch.float32))

    def forward(self, x, gate):
        """x, gate: [batch, tokens, heads, dim]; the gate is a strided view of the input projection.

        Everything in fp32, one rounding at the end.
        Eager PyTorch launches eleven kernels for the two lines:
        cast, pow, mean, add, rsqrt, mul for the first; mul, cast, silu, mul, cast for the second.
        """

        h = x.float(); h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        return (h * self.weight * F.silu(gate.float())).to(x.dtype)


class ZeroCentredRMSNorm(nn.Module):
    """RMSNorm whose weight is stored around zero: the scale is 1 + weight."""

    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        return (h * (1.0 + self.weight.float())).type_as(x)


def causal_conv(x, weight):
    """Depthwise causal convolution over tokens by shifted products, then SiLU. x: [batch, tokens, channels], weight: [taps, channels]."""
    taps = weight.shape[0]
    out = x * weight[taps - 1]
    for shift in range(1, taps):
        out = out + F.pad(x, (0, 0, shift, -shift)) * weight[taps - 1 - shift]
    return F.silu(out)


class GatedDeltaNet(nn.Module):
    """Linear attention: gated delta rule over short-convolved q, k, v."""

    def __init__(self, config):
        super().__init__()
        self.heads = config["linear_num_heads"]
        self.head_dim = config["linear_head_dim"]
        hidden, width = config["hidden_size"], self.heads * self.head_dim
        self.width = width
        self.in_proj_qkvz = nn.Linear(hidden, 4 * width, bias=False)
        self.in_proj_ba = nn.Linear(hidden, 2 * self.heads, bias=False)
        self.conv_weight = nn.Parameter(torch.randn(config["linear_conv_kernel_dim"], 3 * width) * 0.1)
        self.A_log = nn.Parameter(torch.zeros(self.heads, dtype=torch.float32))
        self.dt_bias = nn.Parameter(torch.ones(self.heads, dtype=torch.float32))
        self.norm = GatedRMSNorm(self.head_dim, config["rms_norm_eps"])
        self.out_proj = nn.Linear(width, hidden, bias=False)

    def forward(self, x, cos, sin):
        qkvz = self.in_proj_qkvz(x)
        ba = self.in_proj_ba(x)
        qkv, z = qkvz.split([3 * self.width, self.width], dim=-1)
        mixed = causal_conv(qkv, self.conv_weight)
        q, k, v = (part.unflatten(-1, (self.heads, self.head_dim)) for part in mixed.split(self.width, dim=-1))
        out = chunk_gated_delta_rule(q, k, v, ba, self.A_log, self.dt_bias)
        out = self.norm(out, z.unflatten(-1, (self.heads, self.head_dim)))
        return self.out_proj(out.flatten(-2))


def rotary_table(tokens, inv_freq, dtype):
    """cos and sin for the rotated part of a head: [1, tokens, 1, 2 * len(inv_freq)]."""
    angles = torch.arange(tokens, dtype=torch.float32, device=inv_freq.device)[:, None] * inv_freq
    angles = torch.cat((angles, angles), dim=-1)[None, :, None, :]
    return angles.cos().to(dtype), angles.sin().to(dtype)


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def apply_rotary(x, cos, sin):
    """Rotates the first part of each head and leaves the rest."""
    dim = cos.shape[-1]
    rotated, rest = x[..., :dim], x[..., dim:]
    rotated = rotated * cos + rotate_half(rotated) * sin
    return torch.cat((rotated, rest), dim=-1)


class GatedAttention(nn.Module):
    """Full attention with grouped keys; the query projection also makes the output gate."""

    def __init__(self, config):
        super().__init__()
        self.heads = config["num_attention_heads"]
        self.kv_heads = config["num_key_value_heads"]
        self.head_dim = config["head_dim"]
        hidden = config["hidden_size"]
        self.q_proj = nn.Linear(hidden, 2 * self.heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(hidden, self.kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(hidden, self.kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.head_dim, hidden, bias=False)
        self.q_norm = ZeroCentredRMSNorm(self.head_dim, config["rms_norm_eps"])
        self.k_norm = ZeroCentredRMSNorm(self.head_dim, config["rms_norm_eps"])

    def forward(self, x, cos, sin):
        q_and_gate = self.q_proj(x).unflatten(-1, (self.heads, 2 * self.head_dim))
        k = self.k_proj(x).unflatten(-1, (self.kv_heads, self.head_dim))
        v = self.v_proj(x).unflatten(-1, (self.kv_heads, self.head_dim))
        q, gate = q_and_gate.chunk(2, dim=-1)
        q = self.q_norm(q)
        k = self.k_norm(k)
        q = apply_rotary(q, cos, sin)
        k = apply_rotary(k, cos, sin)
        out = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True, enable_gqa=True
        )
        out = out.transpose(1, 2).flatten(-2)
        return self.o_proj(out * torch.sigmoid(gate.flatten(-2)))


class SwiGLU(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden, inner = config["hidden_size"], config["intermediate_size"]
        self.gate_proj = nn.Linear(hidden, inner, bias=False)
        self.up_proj = nn.Linear(hidden, inner, bias=False)
        self.down_proj = nn.Linear(inner, hidden, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class DecoderLayer(nn.Module):
    def __init__(self, config, full_attention):
        super().__init__()
        self.input_layernorm = ZeroCentredRMSNorm(config["hidden_size"], config["rms_norm_eps"])
        self.mixer = GatedAttention(config) if full_attention else GatedDeltaNet(config)
        self.post_attention_layernorm = ZeroCentredRMSNorm(config["hidden_size"], config["rms_norm_eps"])
        self.mlp = SwiGLU(config)

    def forward(self, x, cos, sin):
        x = x + self.mixer(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Q35ForCausalLM(nn.Module):
    """Every fourth layer attends fully, the others are gated delta nets. Returns the summed loss over the labelled tokens."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        every = config["full_attention_interval"]
        rotary_dim = int(config["head_dim"] * config["partial_rotary_factor"])
        inv_freq = config["rope_theta"] ** (-torch.arange(0, rotary_dim, 2, dtype=torch.float32) / rotary_dim)
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        self.embed_tokens = nn.Embedding(config["vocab_size"], config["hidden_size"])
        self.layers = nn.ModuleList(
            DecoderLayer(config, (index + 1) % every == 0) for index in range(config["num_hidden_layers"])
        )
        self.norm = ZeroCentredRMSNorm(config["hidden_size"], config["rms_norm_eps"])
        self.lm_head = nn.Parameter(torch.randn(config["hidden_size"], config["vocab_size"]) * 0.02)

    def forward(self, tokens, labels, token_weights):
        x = self.embed_tokens(tokens)
        cos, sin = rotary_table(tokens.shape[1], self.inv_freq, x.dtype)
        for layer in self.layers:
            x = checkpoint(layer, x, cos, sin, use_reentrant=False) if self.training else layer(x, cos, sin)
        x = self.norm(x)
        return ChunkedLoss.apply(x.flatten(0, 1), self.lm_head, labels.flatten(), token_weights.flatten(), self.config["loss_chunks"])


def to_mixed_precision(model, dtype=torch.bfloat16):
    """Casts the model, except the few parameters that stay in fp32."""
    kept = {id(p) for module in model.modules() if isinstance(module, GatedRMSNorm) for p in module.parameters()}
    kept |= {id(p) for module in model.modules() if isinstance(module, GatedDeltaNet) for p in (module.A_log, module.dt_bias)}
    for parameter in model.parameters():
        if id(parameter) not in kept:
            parameter.data = parameter.data.to(dtype)
    return model
`;
