"""The replaced lines alone, as a function of the values they read: for functions whose other inputs nobody can make."""

import ast
import builtins
import re
import types

import torch

from .failure import VerifyFailure
from .values import construct, guess, kind_of, number_for


def definition(text, qualified, file):
    body, found = ast.parse(text).body, None
    for part in qualified.split("."):
        found = next((node for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == part), None)
        if found is None:
            raise VerifyFailure("no-function", file=file, function=qualified)
        body = found.body
    return found


def differing(before, after):
    """The shortest runs of statements in which two blocks differ, the deepest block that holds them all."""
    first, one, other = 0, len(before), len(after)
    while first < min(one, other) and ast.dump(before[first]) == ast.dump(after[first]):
        first += 1
    while one > first and other > first and ast.dump(before[one - 1]) == ast.dump(after[other - 1]):
        one -= 1
        other -= 1
    if one - first == 1 and other - first == 1 and type(before[first]) is type(after[first]):
        blocks = [name for name in ("body", "orelse", "finalbody") if hasattr(before[first], name)]
        header = [{**vars(node), **{name: [] for name in blocks}} for node in (before[first], after[first])]
        same_header = all(same(header[0][name], header[1][name]) for name in before[first]._fields)
        changed = [name for name in blocks if not same(getattr(before[first], name), getattr(after[first], name))]
        if blocks and same_header and len(changed) == 1:
            return differing(getattr(before[first], changed[0]), getattr(after[first], changed[0]))
    return before[first:one], after[first:other]


def same(one, other):
    if isinstance(one, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other))
    return ast.dump(one) == ast.dump(other) if isinstance(one, ast.AST) else one == other


class Names(ast.NodeVisitor):
    """Names read before they are set, names set, and what is read of `self`."""

    def __init__(self):
        self.free, self.stored, self.attributes = [], set(), set()

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)
        self.visit(node.target)

    def visit_AugAssign(self, node):
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.read(node.target.id)
        self.visit(node.target)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.read(node.id)
        else:
            self.stored.add(node.id)

    def visit_Attribute(self, node):
        path, inner = [node.attr], node.value
        while isinstance(inner, ast.Attribute):
            path.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id == "self":
            self.attributes.add(".".join(["self", *reversed(path)]))
        self.generic_visit(node)

    def read(self, name):
        if name not in self.stored and name not in self.free:
            self.free.append(name)


def local_names(function):
    arguments = function.args
    names = {argument.arg for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *filter(None, [arguments.vararg, arguments.kwarg])]}
    return names | {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del))}


class Lines:
    """Both versions of the changed lines as functions of the same arguments."""

    def __init__(self, case):
        file, qualified = case["file"], case["function"]
        self.case, self.functions = case, [definition(text, qualified, file) for text in (case["original"], case["fused"])]
        self.blocks = differing(self.functions[0].body, self.functions[1].body)
        if not self.blocks[0] or not self.blocks[1]:
            raise VerifyFailure("no-lines", file=file, function=qualified)
        seen = []
        for function, block in zip(self.functions, self.blocks):
            names = Names()
            for statement in block:
                names.visit(statement)
            seen.append((names, local_names(function)))
        self.names = sorted({name for names, known in seen for name in names.free if name in known and not hasattr(builtins, name)})
        self.attributes = sorted({path for names, _ in seen for path in names.attributes})
        last = self.blocks[0][-1].end_lineno
        later = {node.id for node in ast.walk(self.functions[0]) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno > last}
        self.results = sorted(seen[0][0].stored & seen[1][0].stored & later)
        if not self.results and not any(isinstance(statement, ast.Return) for statement in self.blocks[0]):
            raise VerifyFailure("no-lines", file=file, function=qualified)

    def compiled(self, which, namespace):
        """The lines as a function of `names`."""
        body = list(self.blocks[which])
        if not isinstance(body[-1], ast.Return):
            body.append(ast.Return(ast.Tuple([ast.Name(name, ast.Load()) for name in self.results], ast.Load())))
        function = ast.FunctionDef(
            name="replaced_lines", body=body, decorator_list=[], type_params=[],
            args=ast.arguments(posonlyargs=[], args=[ast.arg(name) for name in self.names], kwonlyargs=[], kw_defaults=[], defaults=[]),
        )
        module = ast.fix_missing_locations(ast.Module(body=[function], type_ignores=[]))
        scope = dict(namespace)
        exec(compile(module, self.case["file"], "exec", dont_inherit=True), scope)
        return scope["replaced_lines"]

    def planned(self, roles):
        has_table = any(role in ("cos", "sin") for role in roles.values())
        made = []
        for name in self.names:
            role = roles.get(name)
            if name == "self":
                continue
            if role is None and re.search(r"dtype$", name):
                made.append((name, ("dtype", None)))
                continue
            number = number_for(name, role)
            if number is not None:
                made.append((name, ("value", number)))
                continue
            made.append((name, ("tensor", kind_of(name, role, has_table))))
        return made

    def instance(self, owner, namespace, roles, width, dtype, device):
        """`self` as far as the lines read it: the user's class where it can be made, else an object with those values."""
        if "self" not in self.names:
            return None
        try:
            return construct(owner, namespace, device)
        except Exception:
            pass
        bare = owner.__new__(owner)
        if isinstance(bare, torch.nn.Module):
            torch.nn.Module.__init__(bare)
            bare.eval()
        generator = torch.Generator().manual_seed(11)
        for path in self.attributes:
            head, *rest = path.split(".")[1:]
            if hasattr(owner, head) and not hasattr(torch.nn.Module(), head):
                continue
            role = roles.get(f"self.{head}") or roles.get(path)
            if role in ("weight", "bias"):
                value = torch.nn.Parameter((1.0 + 0.2 * torch.randn(width, generator=generator)).to(device=device, dtype=dtype))
                if rest[:1] == ["weight"]:
                    value = types.SimpleNamespace(weight=value)
            elif head == "training":
                continue
            else:
                try:
                    value = guess(head)
                except KeyError as error:
                    raise VerifyFailure("no-input", argument=path) from error
            setattr(bare, head, value)
        return bare
