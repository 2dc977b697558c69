"""A small decoder, written out as models are before anybody fuses them."""
import torch
import torch.nn.functional as F
from torch import nn


class PlainNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * h.to(x.dtype)


class GatedNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x, gate):
        h = x.to(torch.float32)
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        h = self.weight * h.to(x.dtype)
        h = h * F.silu(gate.to(torch.float32))
        return h.to(x.dtype)


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


def rotate(q, k, cos, sin):
    q_turned = (q * cos) + (rotate_half(q) * sin)
    k_turned = (k * cos) + (rotate_half(k) * sin)
    return q_turned, k_turned


class Mixer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, width, bias=False)
        self.norm = GatedNorm(width)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x, cos, sin):
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q = self.query(x).view(shape).transpose(1, 2)
        k = self.key(x).view(shape).transpose(1, 2)
        v = self.value(x).view(shape).transpose(1, 2)
        q, k = rotate(q, k, cos, sin)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = y.transpose(1, 2).reshape(batch, length, width)
        return self.out(self.norm(y, self.gate(x)))


class FeedForward(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.before = PlainNorm(width)
        self.mixer = Mixer(width, heads)
        self.between = PlainNorm(width)
        self.feed = FeedForward(width, inner)

    def forward(self, x, cos, sin):
        x = x + self.mixer(self.before(x), cos, sin)
        return x + self.feed(self.between(x))


class Decoder(nn.Module):
    def __init__(self, words=128, width=64, heads=4, inner=160, layers=4, length=32):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.layers = nn.ModuleList([Layer(width, heads, inner) for _ in range(layers)])
        self.last = PlainNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        size = width // heads
        turns = torch.outer(torch.arange(length).float(), 1.0 / 10000 ** (torch.arange(0, size, 2).float() / size))
        table = torch.cat((turns, turns), dim=-1)
        self.register_buffer("cos", table.cos(), persistent=False)
        self.register_buffer("sin", table.sin(), persistent=False)

    def forward(self, ids, labels):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        logits = self.head(self.last(x))
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())
