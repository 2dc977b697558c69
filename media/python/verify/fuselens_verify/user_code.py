"""The user's module, imported under its own name from text that need not be on disk, and its fused version.

Nothing is written: bytecode is off, the loader hands out the given text, and whatever else the module imports comes from where
it lies. The fused version is not a second import, which would register things twice: the top-level statements that the edit
changed run again, in a copy of the original's namespace.
"""

import ast
import copy
import importlib
import importlib.abc
import importlib.machinery
import linecache
import os
import sys
import types

from .failure import VerifyFailure, words

REFERENCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reference")


class TextFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules whose text is given, before the disk is asked."""

    def __init__(self, texts):
        self.texts = texts

    def find_spec(self, name, path=None, target=None):
        if name not in self.texts:
            return None
        file, _ = self.texts[name]
        is_package = os.path.basename(file) == "__init__.py"
        spec = importlib.machinery.ModuleSpec(name, self, origin=file, is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(file)]
        return spec

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        file, text = self.texts[module.__name__]
        module.__file__ = file
        exec(compile_text(text, file), module.__dict__)

    def get_source(self, name):
        return self.texts[name][1]


def compile_text(text, file):
    # `inspect` and tracebacks read the text from here, since the disk may hold another.
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return compile(text, file, "exec", dont_inherit=True)


def use_references():
    """From now on stand-ins answer for packages that are not installed; an installed one goes first."""
    if REFERENCES not in sys.path:
        sys.path.append(REFERENCES)
        importlib.invalidate_caches()


def references_in_use():
    names = {name.split(".")[0] for name, module in list(sys.modules.items()) if str(getattr(module, "__file__", None) or "").startswith(REFERENCES)}
    return sorted(names)


def has_reference(name):
    return any(os.path.exists(os.path.join(REFERENCES, name.split(".")[0] + end)) for end in (".py", "/__init__.py"))


def import_original(case, references):
    """The module as the user has it. Its parents are imported as usual; where one fails, a bare package takes its place."""
    for root in reversed(case["roots"]):
        if root not in sys.path:
            sys.path.insert(0, root)
    name, file = case["module"], case["file"]
    texts = {other: (entry["file"], entry["text"]) for other, entry in case.get("overlay", {}).items()}
    texts[name] = (file, case["original"])
    finder = TextFinder(texts)
    sys.meta_path.insert(0, finder)
    present = dict(sys.modules)
    present.pop(name, None)
    try:
        for attempt in range(3):
            sys.modules.pop(name, None)
            try:
                return importlib.import_module(name)
            except ModuleNotFoundError as error:
                missing = error.name or ""
                if has_reference(missing) and REFERENCES not in sys.path and references:
                    use_references()
                elif attempt == 0 and "." in name:
                    bare_parents(name, case["package_folder"])
                else:
                    raise VerifyFailure("import-missing", file=file, module=missing) from error
            except SyntaxError as error:
                raise VerifyFailure("not-python", file=error.filename or file, line=error.lineno or 0, reason=error.msg) from error
            # A module that ends Python, or interrupts it, is one that cannot be imported.
            except BaseException as error:
                if isinstance(error, MemoryError):
                    raise
                if attempt > 0 or "." not in name:
                    raise VerifyFailure("import-failed", file=file, reason=words(error)) from error
                bare_parents(name, case["package_folder"])
        raise VerifyFailure("import-failed", file=file, reason="")
    finally:
        for other, module in present.items():
            sys.modules.setdefault(other, module)
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


def bare_parents(name, folder):
    """Packages without their `__init__`: relative imports between neighbours work, what the package sets up does not."""
    parts = name.split(".")[:-1]
    for depth in range(len(parts), 0, -1):
        parent = ".".join(parts[:depth])
        package = types.ModuleType(parent)
        package.__path__ = [folder]
        sys.modules[parent] = package
        folder = os.path.dirname(folder)


class OnDevice(ast.NodeTransformer):
    """`x.device.type == "npu"` holds: the branch for the device is what shall be looked at, whatever runs it here."""

    def __init__(self):
        self.changed = 0

    def visit_Compare(self, node):
        self.generic_visit(node)
        left, right = node.left, node.comparators[0]
        is_type = isinstance(left, ast.Attribute) and left.attr == "type" and isinstance(left.value, ast.Attribute) and left.value.attr == "device"
        if is_type and isinstance(node.ops[0], ast.Eq) and isinstance(right, ast.Constant) and right.value in ("npu", "cuda"):
            self.changed += 1
            return ast.copy_location(ast.Constant(True), node)
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr in ("is_npu", "is_cuda") and isinstance(node.ctx, ast.Load):
            self.changed += 1
            return ast.copy_location(ast.Constant(True), node)
        return node


def changed_statements(original, fused):
    """Top-level statements of the fused text that the original does not have, with the `__future__` that governs them."""
    before = {ast.dump(node) for node in ast.parse(original).body}
    body = ast.parse(fused).body
    future = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    return future + [node for node in body if ast.dump(node) not in before and node not in future]


def fused_namespaces(module, case, references, device):
    """Name → namespace: `fused`, and `portable` where the edit keeps another branch for other devices."""
    file = case["file"]
    try:
        changed = changed_statements(case["original"], case["fused"])
    except SyntaxError as error:
        raise VerifyFailure("fused-not-python", file=file, reason=error.msg) from error
    if not [node for node in changed if not isinstance(node, ast.ImportFrom) or node.module != "__future__"]:
        raise VerifyFailure("nothing-changed", file=file)
    forced = copy.deepcopy(changed)
    on_device = OnDevice()
    forced = [on_device.visit(node) for node in forced]
    there = device in ("npu", "cuda") and not references_in_use()
    variants = {"fused": changed if there or on_device.changed == 0 else forced}
    if on_device.changed > 0 and not there:
        variants["portable"] = changed
    return {name: run_statements(module, statements, case, references) for name, statements in variants.items()}


def run_statements(module, statements, case, references):
    file = case["file"]
    code = compile(ast.fix_missing_locations(ast.Module(body=list(statements), type_ignores=[])), file, "exec", dont_inherit=True)
    for attempt in range(3):
        namespace = dict(vars(module))
        try:
            exec(code, namespace)
            return namespace
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if not has_reference(missing) or REFERENCES in sys.path:
                raise VerifyFailure("absent-unknown", file=file, module=missing) from error
            if not references:
                raise VerifyFailure("absent", file=file, module=missing) from error
            use_references()
        except Exception as error:
            # A class that is entered in a registry by its decorator is there already: it is enough to have it.
            bare = [without_decorators(node) for node in statements]
            if attempt > 0 or bare == statements:
                raise VerifyFailure("fused-fails", file=file, reason=words(error)) from error
            code = compile(ast.fix_missing_locations(ast.Module(body=bare, type_ignores=[])), file, "exec", dont_inherit=True)
    raise VerifyFailure("fused-fails", file=file, reason="")


def without_decorators(node):
    if isinstance(node, ast.ClassDef) and node.decorator_list:
        bare = copy.copy(node)
        bare.decorator_list = []
        return bare
    return node


def guarded_imports(fused):
    """Packages the fused text imports inside a `try`, so that their absence makes no error."""
    names = set()
    for node in ast.parse(fused).body:
        if isinstance(node, ast.Try):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Import):
                    names.update(alias.name.split(".")[0] for alias in inner.names)
                elif isinstance(inner, ast.ImportFrom) and inner.module and inner.level == 0:
                    names.add(inner.module.split(".")[0])
    return names


def resolve(namespace, qualified, file):
    """(owner class or None, function) for `Class.method` or `function`."""
    owner, found = None, None
    for part in qualified.split("."):
        owner, found = found, (namespace.get(part) if found is None else vars(found).get(part, getattr(found, part, None)))
        if found is None:
            raise VerifyFailure("no-function", file=file, function=qualified)
    return owner, found
