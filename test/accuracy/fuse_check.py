"""Holds what `fuse.ts` wrote against the originals, for docs/accuracy.md; outside CI.

    python test/accuracy/fuse_check.py text OUT...            parse, and nothing changed outside the edits
    python test/accuracy/fuse_check.py run OUT [--package transformers.models] [--every]

`text` needs Python alone. `run` needs torch and the package that OUT was made of: each edited file is imported beside the
original as a module of the same package, and every edited function runs next to its original on random inputs: value and
gradients, bf16 and fp32, dense and strided. torch_npu's operators come from their reference, which is no device.
"""

import argparse
import ast
import collections
import importlib
import importlib.util
import inspect
import json
import pathlib
import re
import sys

REFERENCE = pathlib.Path(__file__).parent.parent.parent / "media" / "python" / "verify" / "reference"
# "Equal within bf16 rounding" over a whole tensor: two units in the last place; in fp32 the order of sums.
PROMISED = {"bfloat16": 2 ** -7, "float32": 2e-5}


def functions(tree):
    """Functions of a module and methods of its classes, by qualified name, with their line spans."""
    found = {}
    for node in tree.body:
        for child in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *[d.lineno for d in child.decorator_list]])
                name = f"{node.name}.{child.name}" if isinstance(node, ast.ClassDef) else child.name
                found.setdefault(name, []).append((first, child.end_lineno))
    return found


def outside(lines, spans, added):
    """The lines that belong to none of the spans, byte for byte, without the import that was added."""
    inside = {line for first, last in spans for line in range(first, last + 1)}
    return [line for number, line in enumerate(lines, 1) if number not in inside and number not in added]


def added_import(tree, before):
    """Line numbers of `import torch_npu`, with its guard, where only the edited file has it."""
    if any("torch_npu" in ast.dump(node) for node in before.body if isinstance(node, (ast.Import, ast.Try))):
        return set()
    return {line for node in tree.body if isinstance(node, (ast.Import, ast.Try)) and "torch_npu" in ast.dump(node) for line in range(node.lineno, node.end_lineno + 1)}


def check_text(folder):
    """Counts of files that parse, and names of those where something outside the edited functions differs."""
    counts = collections.Counter()
    wrong = []
    for after in sorted((folder / "after").rglob("*.py")):
        before = folder / "before" / after.relative_to(folder / "after")
        texts = [path.read_bytes().decode("utf-8") for path in (before, after)]
        try:
            trees = [ast.parse(text) for text in texts]
        except SyntaxError as error:
            wrong.append((str(after), f"does not parse: {error}"))
            continue
        counts["parsed"] += 1
        lines = [text.splitlines(keepends=True) for text in texts]
        named = [functions(tree) for tree in trees]
        same_order = list(named[0]) == list(named[1])
        changed = [name for name in named[0] if name in named[1] and any("".join(lines[0][a - 1:b]) != "".join(lines[1][c - 1:d]) for (a, b), (c, d) in zip(named[0][name], named[1][name]))]
        counts["functions"] += len(changed)
        added = added_import(trees[1], trees[0])
        spans = [[span for name in changed for span in found[name]] for found in named]
        old = outside(lines[0], spans[0], set())
        new = outside(lines[1], spans[1], added)
        # A guarded import brings one empty line with it.
        if added and old != new and len(new) == len(old) + 1:
            new = without_one_blank(old, new)
        if not same_order or old != new:
            wrong.append((str(after), "differs outside the edited functions"))
    return counts, wrong


def without_one_blank(old, new):
    for i, line in enumerate(new):
        if line.strip() == "" and new[:i] + new[i + 1:] == old:
            return old
    return new


# --- running -----------------------------------------------------------------------------------------------------------

DIM = 64
TOKENS = 12
EPS = re.compile(r"eps|epsilon")


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def attributes_of(function):
    """Names read from `self` in a function's source."""
    source = inspect.getsource(function)
    return set(re.findall(r"\bself\.(\w+)", source))


def instance(torch, cls, function, dtype, seed):
    """An instance without its constructor: weights, a bias and eps, as far as the method and its helpers read them."""
    made = cls.__new__(cls)
    torch.nn.Module.__init__(made)
    generator = torch.Generator().manual_seed(seed)
    pending = [function]
    seen = set()
    while pending:
        for name in attributes_of(pending.pop()) - seen:
            seen.add(name)
            member = inspect.getattr_static(cls, name, None)
            if inspect.isfunction(member) or isinstance(member, staticmethod):
                pending.append(getattr(cls, name))
            elif EPS.search(name):
                setattr(made, name, 1e-6)
            elif name in ("weight", "scale", "gamma", "bias", "g"):
                base = torch.randn(DIM, generator=generator) * 0.2 + (0.0 if name == "bias" else 1.0)
                setattr(made, name, torch.nn.Parameter(base.to(dtype)))
            elif hasattr(made, name):
                continue
            else:
                raise NotImplementedError(f"self.{name}")
    return made


def filled(torch, made, dtype, seed):
    """Parameters of a plausible size: constructors may leave memory as it was."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            one = parameter.dim() == 1 and not name.endswith("bias")
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * (0.2 if parameter.dim() == 1 else parameter.shape[-1] ** -0.5) + (1.0 if one else 0.0))
    return made.to(dtype).eval()


def built(torch, module, cls, dtype, seed):
    """An instance by its constructor, from a small configuration of the same module."""
    torch.manual_seed(seed)
    required = [p for p in list(inspect.signature(cls.__init__).parameters.values())[1:] if p.default is p.empty and p.kind == p.POSITIONAL_OR_KEYWORD]
    if len(required) <= 2:
        try:
            return filled(torch, cls(*[DIM, 2 * DIM][: max(1, len(required))]), dtype, seed)
        except Exception:  # it wants a configuration
            pass
    for name, config in sorted(vars(module).items()):
        if inspect.isclass(config) and name.endswith("Config") and name != "PreTrainedConfig":
            small = config()
            for key, value in (("hidden_size", DIM), ("intermediate_size", 2 * DIM), ("d_model", DIM), ("d_ff", 2 * DIM), ("hidden_dim", DIM)):
                if hasattr(small, key):
                    setattr(small, key, value)
            try:
                return filled(torch, cls(small), dtype, seed)
            except Exception:  # another configuration may fit
                continue
    raise NotImplementedError("no configuration fits the constructor")


def tensor(torch, shape, dtype, strided, generator):
    whole = torch.randn(*shape[:-2], shape[-2] * 2, shape[-1], generator=generator).to(dtype) if len(shape) > 1 else torch.randn(*shape, generator=generator).to(dtype)
    if len(shape) < 2:
        return whole
    return whole[..., ::2, :] if strided else whole[..., : shape[-2], :].contiguous()


ROTARY = [
    {"x": (2, 4, TOKENS, DIM), "table": (2, TOKENS, DIM)}, {"x": (2, 4, TOKENS, DIM), "table": (2, 1, TOKENS, DIM)}, {"x": (2, TOKENS, 4, DIM), "table": (1, TOKENS, 1, DIM)}, {"x": (2, TOKENS, 4, DIM), "table": (2, TOKENS, DIM // 2)},
    {"x": (TOKENS, 4, DIM), "table": (TOKENS, DIM)}, {"x": (2, 4, TOKENS, DIM), "table": (TOKENS, DIM)}, {"x": (2, 4, TOKENS, DIM), "table": (2, TOKENS, DIM // 2)}, {"x": (2, 4, TOKENS, DIM), "table": (2, TOKENS, DIM // 4)},
    {"x": (2, TOKENS, DIM), "table": (2, TOKENS, DIM)}, {"x": (2, 4, TOKENS, DIM), "table": (3, 2, TOKENS, DIM)},
]
TABLES = re.compile(r"^(cos|sin)")


def arguments(torch, function, choice, dtype, strided, seed):
    """Random values for the parameters without a default, by their names."""
    generator = torch.Generator().manual_seed(seed)
    made = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "self" or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty and name not in ("gate",):
            continue
        if name == "position_ids":
            made.append(torch.arange(TOKENS)[None].expand(2, -1))
        elif name == "mrope_section":
            made.append([DIM // 8, DIM // 8 * 1, DIM // 4])
        elif TABLES.match(name):
            angle = torch.rand(choice["table"], generator=generator) * 6
            made.append((angle.cos() if name.startswith("cos") else angle.sin()).to(dtype))
        elif name.startswith("freqs") or name == "sincos" or name.endswith("mask") or parameter.annotation in (int, float, bool, str):
            raise NotImplementedError(f"parameter {name}")
        else:
            made.append(tensor(torch, choice["x"], dtype, strided, generator))
    return made


def flat(torch, result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [one for part in result for one in flat(torch, part)]
    return []


def evaluate(torch, call, made, parameters):
    """Values, then gradients of every floating input that takes part, then of the parameters."""
    leaves = [value.detach().clone().requires_grad_() if isinstance(value, torch.Tensor) and value.is_floating_point() else value for value in made]
    outputs = flat(torch, call(*leaves))
    # Random, as a loss would give: one that hardly changes along a row is what a subtracted mean takes away, and leaves rounding alone to compare.
    generator = torch.Generator().manual_seed(3)
    total = sum((output.float() * torch.randn(output.shape, generator=generator)).sum() for output in outputs)
    wanted = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad] + parameters
    grads = torch.autograd.grad(total, wanted, allow_unused=True) if total.requires_grad else []
    return outputs + [grad for grad in grads if grad is not None]


def compare(torch, before, after, exact):
    rows = []
    for a, b, c in zip(before, after, exact if exact is not None else [None] * len(before)):
        a64, b64 = a.double(), b.double()
        scale = a64.norm().clamp_min(1e-30)
        difference = ((a64 - b64).norm() / scale).item()
        closer = c is not None and (b64 - c).norm().item() <= (a64 - c).norm().item() * 1.001
        rows.append({"difference": difference, "absolute": (a64 - b64).abs().max().item(), "dtype": a.dtype == b.dtype, "closer": closer, "finite": bool(b64.isfinite().all()), "shape": a.shape == b.shape})
    return rows


def run_function(torch, modules, name, dtype, strided, seed=7):
    """One edited function beside its original, on the first shapes that the original takes."""
    owner, _, own = name.rpartition(".")
    last = None
    for choice in ROTARY if owner == "" or "rotary" in own or "rope" in own else [{"x": (2, 3 * TOKENS, DIM), "table": (2, TOKENS, DIM)}]:
        sides = []
        try:
            for module in modules:
                if owner == "":
                    function = getattr(module, own)
                    call, parameters = function, []
                else:
                    cls = getattr(module, owner)
                    function = getattr(cls, own)
                    if "self" not in inspect.signature(function).parameters:
                        made, call, parameters = None, function, []
                    else:
                        try:
                            made = instance(torch, cls, getattr(modules[0].__dict__[owner], own), dtype, seed)
                        except NotImplementedError:
                            made = built(torch, module, cls, dtype, seed)
                        call, parameters = getattr(made, own), list(made.parameters())
                sides.append((call, parameters, function))
            made = arguments(torch, sides[0][2], choice, dtype, strided, seed)
            before = evaluate(torch, sides[0][0], made, sides[0][1])
        except NotImplementedError:
            raise
        except Exception as error:  # these shapes do not fit the original
            last = error
            continue
        if any(part.numel() == 0 for part in before):
            continue
        after = evaluate(torch, sides[1][0], made, sides[1][1])
        exact = None
        if dtype == torch.bfloat16 and owner != "":
            try:
                wide = instance(torch, getattr(modules[0], owner), getattr(getattr(modules[0], owner), own), dtype, seed).double()
                exact = evaluate(torch, getattr(wide, own), [value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value for value in made], list(wide.parameters()))
            except Exception:
                exact = None
        return compare(torch, before, after, exact)
    raise NotImplementedError(f"no shapes fit: {last}")


def check_run(folder, package):
    import torch

    sys.path.insert(0, str(REFERENCE))
    torch.manual_seed(0)
    root = importlib.import_module(package)
    base = pathlib.Path(root.__file__).parent
    plans = collections.defaultdict(set)
    for line in (folder / "plans.jsonl").read_text().splitlines():
        plan = json.loads(line)
        if plan["status"] == "fixable":
            plans[plan["file"]].add((plan["function"], plan["fusion"]))
    report = {"imported": 0, "not imported": [], "runs": [], "not run": []}
    for file in sorted(plans):
        dotted = file[:-3].replace("/", ".")
        family = file.split("/")[0]
        try:
            original = importlib.import_module(f"{package}.{dotted}")
            edited = load(folder / "after" / file, f"{package}.{dotted}__fused")
            report["imported"] += 1
        except Exception as error:
            try:
                importlib.import_module(f"{package}.{dotted}")
                report["not imported"].append((file, repr(error)[:200]))
            except Exception:
                report["not imported"].append((file, "nor does the original: " + repr(error)[:160]))
            continue
        for function in sorted({name for name, _ in plans[file]}):
            fusions = sorted({fusion for name, fusion in plans[file] if name == function})
            for dtype in (torch.bfloat16, torch.float32):
                for strided in (False, True):
                    try:
                        rows = run_function(torch, (original, edited), function, dtype, strided)
                    except NotImplementedError as error:
                        report["not run"].append((file, function, fusions, str(error)[:120]))
                        continue
                    except Exception as error:
                        report["runs"].append({"family": family, "file": file, "function": function, "fusions": fusions, "dtype": str(dtype)[6:], "strided": strided, "error": repr(error)[:200]})
                        continue
                    report["runs"].append({"family": family, "file": file, "function": function, "fusions": fusions, "dtype": str(dtype)[6:], "strided": strided, "rows": rows})
    (folder / "runs.json").write_text(json.dumps(report))
    tell(report)


def tell(report):
    runs = report["runs"]
    print(f"imported {report['imported']}, not {len(report['not imported'])}; {len(runs)} runs of {len({(r['file'], r['function']) for r in runs})} functions in {len({r['family'] for r in runs})} families")
    for file, why in report["not imported"]:
        print("  not imported", file, why)
    left = collections.Counter((file, function, tuple(fusions), why) for file, function, fusions, why in report["not run"])
    for (file, function, fusions, why), _ in left.items():
        print("  not run", file, function, ",".join(fusions), why)
    table = collections.defaultdict(lambda: [0, 0.0, 0, set()])
    for run in runs:
        if "error" in run:
            print("  FAILED", run["file"], run["function"], run["dtype"], run["error"])
            continue
        limit = PROMISED[run["dtype"]]
        for row in run["rows"]:
            key = (",".join(run["fusions"]), run["dtype"])
            entry = table[key]
            entry[0] += 1
            entry[3].add(run["family"])
            inside = row["difference"] <= limit or row["closer"]
            if inside:
                entry[1] = max(entry[1], row["difference"])
            if not inside or not row["dtype"] or not row["finite"] or not row["shape"]:
                entry[2] += 1
                print("  OUTSIDE", run["file"], run["function"], run["dtype"], "strided" if run["strided"] else "dense", json.dumps(row))
    for (fusions, dtype), (count, largest, wrong, families) in sorted(table.items()):
        print(f"{fusions}\t{dtype}\tfamilies {len(families)}\tcomparisons {count}\tlargest {largest:.3g}\toutside {wrong}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["text", "run", "tell"])
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("--package", default="transformers.models")
    options = parser.parse_args()
    failed = False
    for folder in options.folders:
        if options.what == "text":
            counts, wrong = check_text(folder)
            print(f"{folder}: {counts['parsed']} files parse, {counts['functions']} functions changed, {len(wrong)} wrong")
            for file, why in wrong:
                print("  ", file, why)
            failed = failed or len(wrong) > 0
        elif options.what == "run":
            check_run(folder, options.package)
        else:
            tell(json.loads((folder / "runs.json").read_text()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
