"""Inputs for a function nobody tells us how to call: by role, by name, by annotation; several layouts are tried in turn."""

import inspect
import re
import types

import torch

from .failure import VerifyFailure

BATCH, HEADS, TOKENS, WIDTH, HEAD = 2, 4, 24, 128, 32

#: What small models are made of; a name that ends so gets this number.
SIZES = {
    "hidden_size": WIDTH, "hidden_dim": WIDTH, "d_model": WIDTH, "n_embd": WIDTH, "embed_dim": WIDTH, "dim": WIDTH, "width": WIDTH, "normalized_shape": WIDTH, "features": WIDTH,
    "in_features": WIDTH, "out_features": WIDTH, "channels": WIDTH, "size": WIDTH, "ndim": WIDTH, "embedding_size": WIDTH, "d": WIDTH, "normalized_size": WIDTH, "embed_dims": WIDTH,
    "intermediate_size": 2 * WIDTH, "ffn_dim": 2 * WIDTH, "d_ff": 2 * WIDTH, "n_inner": 2 * WIDTH, "inner_dim": 2 * WIDTH, "ffn_hidden_size": 2 * WIDTH, "moe_intermediate_size": WIDTH, "mlp_dim": 2 * WIDTH,
    "num_attention_heads": HEADS, "num_heads": HEADS, "n_heads": HEADS, "n_head": HEADS, "heads": HEADS, "num_key_value_heads": HEADS, "n_kv_heads": HEADS, "num_kv_heads": HEADS,
    "linear_num_heads": HEADS, "linear_num_key_heads": HEADS, "linear_num_value_heads": HEADS,
    "head_dim": HEAD, "d_kv": HEAD, "kv_channels": HEAD, "attention_head_size": HEAD, "linear_head_dim": HEAD, "linear_key_head_dim": HEAD, "linear_value_head_dim": HEAD, "rotary_dim": HEAD,
    "num_hidden_layers": 2, "num_layers": 2, "n_layer": 2, "n_layers": 2, "vocab_size": 256, "max_position_embeddings": 128, "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4,
    "num_experts_per_tok": 2, "top_k": 2, "n_groups": 1, "group_size": WIDTH, "linear_conv_kernel_dim": 4, "conv_kernel": 4, "full_attention_interval": 4, "num_key_value_groups": 1,
    "layer_idx": 0, "layer_index": 0, "layer_number": 0, "layer_id": 0,
}
NUMBERS = (
    (r"eps|epsilon$", 1e-6), (r"theta$|^base$|rope_base$", 10000.0), (r"dropout|drop_prob|attn_pdrop|resid_pdrop|embd_pdrop|_p$", 0.0), (r"scaling|scale|softmax_scale|norm_factor$", 0.125),
    (r"partial_rotary_factor$", 0.5), (r"limit$", 7.0), (r"alpha$", 1.702), (r"initializer_range$", 0.02), (r"unsqueeze_dim$", 1), (r"^number$", 0.125), (r"^dim$|axis$", -1),
)
WORDS = ((r"(hidden_act|activation|activation_function|hidden_activation|act_fn|act)$", "silu"), (r"_attn_implementation$", "eager"))
FLAGS = (r"bias$|^training$|^inplace$|^use_|^is_|_only$|^add_|^with_|elementwise_affine$", {"bias": True, "elementwise_affine": True})


OF_WIDTH = {name: value // WIDTH for name, value in SIZES.items() if value in (WIDTH, 2 * WIDTH) and name not in ("max_position_embeddings", "vocab_size")}


def use_width(width):
    """From now on models are this wide."""
    SIZES.update({name: factor * width for name, factor in OF_WIDTH.items()})


def guess(name, annotation=inspect.Parameter.empty):
    """A plain value for a constructor's argument or a configuration's field; raises where nothing is known."""
    lowered = name.lower()
    if lowered in SIZES:
        return SIZES[lowered]
    for pattern, value in WORDS:
        if re.search(pattern, lowered):
            return value
    for pattern, value in NUMBERS:
        if re.search(pattern, lowered):
            return value
    if lowered in ("dtype", "device", "process_group"):
        return None
    if re.search(FLAGS[0], lowered) or annotation is bool:
        return FLAGS[1].get(lowered, False)
    for size, value in SIZES.items():
        if len(size) > 3 and lowered.endswith(size):
            return value
    if annotation is int:
        return SIZES["hidden_size"]
    if annotation is float:
        return 1e-6
    raise KeyError(name)


#: Roles of forms that are numbers.
NUMBER_ROLES = ("number", "eps", "scale", "scaling")


def number_for(name, role, annotation=inspect.Parameter.empty):
    """What stands for a name that is no tensor; None where it may be one."""
    for known in (name, role) if role in NUMBER_ROLES else (name,) if role is None else ():
        try:
            return guess(known, annotation)
        except KeyError:
            continue
    return None


class Config(dict):
    """Answers to whatever a model asks of its configuration, as attribute or key."""

    def __missing__(self, name):
        return guess(name)

    def get(self, name, default=None):
        try:
            return guess(name)
        except KeyError:
            return default

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return guess(name)
        except KeyError as error:
            raise AttributeError(name) from error


def annotated(parameter, namespace):
    """The annotation as an object; text, as under `from __future__ import annotations`, is looked up in the module."""
    annotation = parameter.annotation
    if isinstance(annotation, str):
        try:
            return eval(annotation, dict(namespace))
        except Exception:
            return inspect.Parameter.empty
    return annotation


def configuration(annotation):
    """The model's own configuration class, made small, else a stand-in."""
    if inspect.isclass(annotation) and annotation not in (dict, object) and not issubclass(annotation, (int, float, str, bool)):
        try:
            known = inspect.signature(annotation.__init__).parameters
            fields = set(known) | set(getattr(annotation, "__dataclass_fields__", {})) | set(getattr(annotation, "__annotations__", {}))
            return annotation(**{name: value for name, value in SIZES.items() if name in fields and not name.startswith("layer_") and len(name) > 3})
        except Exception:
            pass
    return Config()


def construct(owner, namespace, device):
    """An instance of the user's class, its arguments guessed, its parameters filled with numbers that tell errors apart."""
    if owner is None:
        return None
    arguments = {}
    for name, parameter in list(inspect.signature(owner.__init__).parameters.items())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or parameter.default is not parameter.empty:
            continue
        annotation = annotated(parameter, namespace)
        try:
            arguments[name] = configuration(annotation) if re.search(r"config|cfg|args$", name.lower()) else guess(name, annotation)
        except KeyError as error:
            raise VerifyFailure("no-instance", type=owner.__name__, argument=name) from error
    made = owner(**arguments)
    if isinstance(made, torch.nn.Module):
        made.to(device)
        made.eval()
        fill(made)
    return made


def fill(module):
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for parameter in module.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() > 1:
                noise = noise / parameter.shape[-1] ** 0.5
            else:
                base = parameter.detach().float().cpu()
                noise = 0.2 * noise + (base if base.isfinite().all() and base.abs().max() < 10 else 1.0)
            parameter.copy_(noise)


class Layout:
    """Sizes for each kind of input; `source` says whether the profile gave them."""

    def __init__(self, source, width, act, heads, table):
        self.source, self.width, self.act, self.heads, self.table = source, width, tuple(act), tuple(heads), tuple(table)

    def shape(self, kind):
        if kind == "wide":
            return (*self.act[:-1], 2 * self.act[-1])
        if kind == "vector":
            return (self.act[-1],)
        if kind == "mask":
            return (self.heads[0], 1, self.heads[-2], self.heads[-2])
        return {"act": self.act, "heads": self.heads, "table": self.table}[kind]


def layouts(shapes, width, limit):
    """Those of the profile first, then the ones models use; the first that the original accepts is taken."""
    made = []
    profile = shapes.get("x") or shapes.get("query")
    if profile is not None:
        profile = cut(profile, limit)
        wanted = [*profile[:-1], width] if width is not None and width != profile[-1] else profile
        tokens, last = profile[0], profile[-1]
        tables = [cut(shapes[role], limit) for role in ("cos",) if role in shapes]
        for act in (wanted, [1, *wanted]):
            for table in (*tables, (tokens, *[1] * (len(profile) - 2), last), (tokens, last), (1, tokens, last)):
                made.append(Layout("profile", width, act, act, table))
    last = width or (profile[-1] if profile else WIDTH)
    head = profile[-1] if profile else HEAD
    acts = ((BATCH, TOKENS, last), (BATCH * TOKENS, last), (BATCH, HEADS, TOKENS, last), (BATCH, TOKENS, HEADS, last))
    tables = {
        (BATCH, HEADS, TOKENS, head): ((BATCH, TOKENS, head), (BATCH, 1, TOKENS, head), (1, 1, TOKENS, head), (TOKENS, head), (BATCH, TOKENS, head // 2), (TOKENS, head // 2)),
        (BATCH, TOKENS, HEADS, head): ((TOKENS, 1, head), (BATCH, TOKENS, 1, head), (BATCH, TOKENS, head), (TOKENS, head), (TOKENS, head // 2), (TOKENS, 1, head // 2), (BATCH, TOKENS, head // 2)),
        (TOKENS, HEADS, head): ((TOKENS, 1, head), (TOKENS, head), (TOKENS, head // 2)),
    }
    for act in acts:
        for heads, choices in tables.items():
            for table in choices:
                made.append(Layout("roles", width, act, heads, table))
    return made


def cut(shape, limit):
    """Fewer tokens where a tensor would be too large to run here several times over."""
    shape, size = list(shape), 1
    for length in shape:
        size *= length
    at = 0
    while size > limit and at < len(shape) - 1:
        shorter = max(1, int(shape[at] * limit / size))
        size = size // shape[at] * shorter
        shape[at] = shorter
        at += 1
    return shape


def kind_of(name, role, has_table):
    """What sort of tensor a parameter takes."""
    lowered = name.lower()
    if role in ("cos", "sin") or re.fullmatch(r"(rotary_pos_|freqs_)?(cos|sin)(_?(q|k|cached))?", lowered):
        return "table"
    if role in ("whole", "fused") or lowered == "fused":
        return "wide"
    if role == "mask" or re.search(r"mask$", lowered):
        return "mask"
    if role in ("query", "key", "value") or lowered in ("q", "k", "v", "query", "key", "value", "xq", "xk") or re.search(r"(query|key|value)(_states?|_layer)?$", lowered) or (has_table and role == "x"):
        return "heads"
    if role in ("weight", "bias") or lowered in ("weight", "bias", "gamma", "beta"):
        return "vector"
    return "heads" if has_table else "act"


def plan_arguments(function, roles, bound, namespace):
    """(name, kind or plain value) for each argument that has to be given; raises where one cannot be made."""
    parameters = list(inspect.signature(function).parameters.values())[1 if bound else 0 :]
    has_table = any(re.search(r"(^|_)(cos|sin)$", parameter.name.lower()) for parameter in parameters)
    planned = []
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        name, role = parameter.name, roles.get(parameter.name)
        if role is None and parameter.default is not parameter.empty:
            continue
        annotation = annotated(parameter, namespace)
        if annotation in (int, float, bool, str) or role in NUMBER_ROLES:
            number = number_for(name, role, annotation)
            if number is None:
                raise VerifyFailure("no-input", argument=name)
            planned.append((name, ("value", number)))
            continue
        if re.search(r"position_embeddings", name) or re.search(r"config|cfg$|cache|past_key|layer_past", name):
            raise VerifyFailure("no-input", argument=name)
        if name in ("module", "attn") and role is None:
            planned.append((name, ("value", types.SimpleNamespace(num_key_value_groups=1, training=False, is_causal=True))))
        elif re.search(r"(eps|epsilon|scaling|softmax_scale|dropout|unsqueeze_dim|^dim)$", name) and role is None:
            planned.append((name, ("value", guess(name))))
        elif re.search(r"(ids|index|indices|labels?|targets?|positions)$", name):
            raise VerifyFailure("no-input", argument=name)
        else:
            planned.append((name, ("tensor", kind_of(name, role, has_table))))
    return planned


def tensors(planned, layout, dtype, device):
    """Argument name → value, contiguous; the same numbers whatever the dtype, rounded to it."""
    generator = torch.Generator().manual_seed(7)
    made = {}
    for name, (sort, what) in planned:
        if sort == "value":
            made[name] = what
            continue
        shape = layout.shape(what)
        if what == "mask":
            whole = torch.zeros(shape).masked_fill(torch.ones(shape[-2], shape[-1], dtype=torch.bool).triu(1), torch.finfo(dtype).min)
        elif what == "table":
            angles = torch.rand(shape, generator=torch.Generator().manual_seed(13)) * 6.28
            whole = angles.sin() if "sin" in name.lower() else angles.cos()
        else:
            whole = torch.randn(shape, generator=generator)
        made[name] = whole.to(device=device, dtype=dtype)
    return made


def strided(tensor, how):
    """The same numbers in another layout: a slice of something wider (half of a projection), or transposed."""
    if how == "contiguous" or tensor.dim() < 2:
        return tensor
    if how == "sliced":
        whole = torch.zeros(*tensor.shape[:-1], 2 * tensor.shape[-1], dtype=tensor.dtype, device=tensor.device)
        part = whole[..., : tensor.shape[-1]]
    else:
        first, second = (-3, -2) if tensor.dim() > 2 else (-2, -1)
        part = torch.empty_like(tensor.transpose(first, second).contiguous()).transpose(first, second)
    return part.copy_(tensor)
