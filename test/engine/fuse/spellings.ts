/** Python that holds eager forms, with what has to come of it; shared by the unit tests and the runs under PyTorch. */
export interface Spelling {
  readonly name: string;
  /** Id of the fusion that must be found. */
  readonly fusion: string;
  /** A module body after the imports: a class `Case` with `forward`, or a function `case`. */
  readonly python: string;
}

export const HEADER = 'import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n';

const norm = (body: string, weight = 'torch.ones(dim)'): string => `class Case(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(${weight})

${body.split('\n').map((line) => (line === '' ? '' : `    ${line}`)).join('\n')}
`;

export const SPELLINGS: readonly Spelling[] = [
  { name: 'round, then multiply', fusion: 'rms-norm', python: norm('def forward(self, hidden_states):\n    input_dtype = hidden_states.dtype\n    hidden_states = hidden_states.to(torch.float32)\n    variance = hidden_states.pow(2).mean(-1, keepdim=True)\n    hidden_states = hidden_states * torch.rsqrt(variance + self.eps)\n    return self.weight * hidden_states.to(input_dtype)') },
  { name: 'multiply, then round', fusion: 'rms-norm', python: norm('def forward(self, x):\n    input_dtype = x.dtype\n    h = x.to(torch.float32)\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)\n    return (self.weight.float() * h).to(input_dtype)') },
  { name: 'a helper method', fusion: 'rms-norm', python: norm('def _norm(self, x):\n    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)\n\ndef forward(self, x):\n    output = self._norm(x.float()).type_as(x)\n    return output * self.weight') },
  { name: 'square by product, one line', fusion: 'rms-norm', python: norm('def forward(self, x):\n    h = x.float(); h = h * torch.rsqrt((h * h).mean(-1, keepdim=True) + self.eps)  # one line\n    return self.weight * h.type_as(x)') },
  { name: 'root and division', fusion: 'rms-norm', python: norm('def forward(self, x):\n    h = x.float()\n    h = h / torch.sqrt(torch.mean(h ** 2, dim=-1, keepdim=True) + self.eps)\n    return self.weight * h.to(x.dtype)') },
  { name: 'left in fp32', fusion: 'rms-norm', python: norm('def forward(self, x):\n    h = x.float()\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)\n    return self.weight * h') },
  { name: 'no cast', fusion: 'rms-norm', python: norm('def forward(self, x):\n    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight') },
  { name: 'zero-centred', fusion: 'zero-centred-rms-norm', python: norm('def _norm(self, x):\n    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)\n\ndef forward(self, x):\n    output = self._norm(x.float())\n    # Llama rounds before the weight\n    output = output * (1.0 + self.weight.float())\n    return output.type_as(x)', 'torch.zeros(dim)') },
  { name: 'gate after', fusion: 'gated-rms-norm', python: norm('def forward(self, hidden_states, gate):\n    input_dtype = hidden_states.dtype\n    hidden_states = hidden_states.to(torch.float32)\n    variance = hidden_states.pow(2).mean(-1, keepdim=True)\n    # Norm before gate\n    hidden_states = hidden_states * torch.rsqrt(variance + self.eps)\n    hidden_states = self.weight * hidden_states.to(input_dtype)\n    hidden_states = hidden_states * F.silu(gate.to(torch.float32))\n\n    return hidden_states.to(input_dtype)') },
  { name: 'gate after, in fp32', fusion: 'gated-rms-norm', python: norm('def forward(self, x, gate):\n    h = x.float(); h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)\n    return (h * self.weight * F.silu(gate.float())).to(x.dtype)', 'torch.ones(dim, dtype=torch.float32)') },
  { name: 'gate before', fusion: 'gated-rms-norm', python: norm('def forward(self, x, gate):\n    h = x.to(torch.float32)\n    h = h * F.silu(gate.to(torch.float32))\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)\n    return self.weight * h.to(x.dtype)') },
  { name: 'variance by square', fusion: 'layer-norm', python: norm('def forward(self, x, bias):\n    mean = x.mean(-1, keepdim=True)\n    centred = x - mean\n    variance = centred.pow(2).mean(-1, keepdim=True)\n    return centred * torch.rsqrt(variance + self.eps) * self.weight + bias') },
  { name: 'sum of squares', fusion: 'l2-norm', python: 'def case(x):\n    return x * torch.rsqrt((x * x).sum(dim=-1, keepdim=True) + 1e-6)\n' },
  { name: 'tanh', fusion: 'gelu', python: 'def case(x):\n    return 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * torch.pow(x, 3.0))))\n' },
  { name: 'erf', fusion: 'gelu', python: 'def case(x):\n    return x * 0.5 * (1.0 + torch.erf(x / 1.4142135623730951))\n' },
  { name: 'tanh, the constant computed', fusion: 'gelu', python: 'import math\n\n\ndef case(x):\n    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))\n' },
  { name: 'erf, the constant computed', fusion: 'gelu', python: 'from math import sqrt\n\n\ndef case(x):\n    return x * 0.5 * (1.0 + torch.erf(x / sqrt(2.0)))\n' },
  { name: 'tanh, the constant a name of the module', fusion: 'gelu', python: 'import math\n\nROOT = (2 / math.pi) ** 0.5\n\n\ndef case(x):\n    return 0.5 * x * (1 + torch.tanh(ROOT * (x + 0.044715 * x ** 3)))\n' },
  { name: 'fused gate and up', fusion: 'swiglu', python: 'def case(fused):\n    gate, up = fused.chunk(2, dim=-1)\n    return F.silu(gate) * up\n' },
  { name: 'fused gate and up', fusion: 'geglu', python: 'def case(fused):\n    gate, up = fused.chunk(2, dim=-1)\n    return F.gelu(gate) * up\n' },
  { name: 'halves', fusion: 'rope', python: 'def rotate_half(x):\n    x1 = x[..., : x.shape[-1] // 2]\n    x2 = x[..., x.shape[-1] // 2 :]\n    return torch.cat((-x2, x1), dim=-1)\n\n\ndef case(q, cos, sin):\n    return (q * cos) + (rotate_half(q) * sin)\n' },
  { name: 'halves, by chunk', fusion: 'rope', python: 'def rotate_half(x):\n    first, second = x.chunk(2, dim=-1)\n    return torch.cat((-second, first), dim=-1)\n\n\ndef case(q, cos, sin):\n    return q * cos + rotate_half(q) * sin\n' },
  { name: 'halves, by a name', fusion: 'rope', python: 'def case(q, cos, sin):\n    half = q.shape[-1] // 2\n    turned = torch.cat((-q[..., half:], q[..., :half]), dim=-1)\n    return q * cos + turned * sin\n' },
  { name: 'interleaved', fusion: 'rope', python: 'def rotate_half(x):\n    x1 = x[..., ::2]\n    x2 = x[..., 1::2]\n    return torch.stack([-x2, x1], dim=-1).flatten(-2)\n\n\ndef case(q, cos, sin):\n    return (q * cos) + (rotate_half(q) * sin)\n' },
  { name: 'masked', fusion: 'attention', python: 'def case(query, key, value, mask, scaling: float = 0.125):\n    scores = torch.matmul(query, key.transpose(2, 3)) * scaling\n    scores = scores + mask\n    weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)\n    return torch.matmul(weights, value)\n' },
];
