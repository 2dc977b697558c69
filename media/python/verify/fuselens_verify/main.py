"""Reads a request from a file (JSON), verifies its cases one by one, prints the answer (JSON).

Own code needs the standard library only until torch is imported. The user's module may print what it likes: that goes to
standard error. FuseLens says what the figures mean; here they are measured.
"""

import contextlib
import gc
import inspect
import json
import os
import sys
import time
import traceback

from .failure import VerifyFailure, words
from .user_code import REFERENCES

DTYPES = ("bfloat16", "float16", "float32")
STRIDES = ("contiguous", "sliced", "transposed")
#: Elements of the largest input: each is held and computed with a dozen times over.
ON_CPU, ON_DEVICE = 1 << 19, 1 << 24
MOST_RECURSION = 20_000


def main(path):
    with open(path, encoding="utf-8") as file:
        request = json.load(file)
    own, dumps = os.getpid(), json.dumps
    out = out_of_reach(1)
    os.dup2(2, 1)
    limit_recursion()
    answer = {"python": ".".join(map(str, sys.version_info[:3])), "torch": None, "device": None, "cases": []}
    try:
        torch = import_torch()
    except VerifyFailure as failure:
        answer["cases"] = [failed(case, failure) for case in request["cases"]]
    else:
        # Whatever the user's code deletes, closes or replaces: the helper has what it needs by then.
        from . import lines, measure, user_code, values  # noqa: F401

        answer["torch"] = torch.__version__
        answer["device"] = choose_device(torch, request.get("device", "auto"))
        for case in request["cases"]:
            answer["cases"].append(guarded(case, request, answer["device"]))
    if os.getpid() != own:
        # A process that the user's module forked came back from the import as well.
        os._exit(0)
    data = f"{dumps(answer)}\n".encode()
    while data:
        data = data[os.write(out, data):]
    # Threads and exit handlers of the user's code do not hold the answer up.
    os._exit(0)


def out_of_reach(descriptor):
    """A copy that code which closes or writes to the first descriptors does not meet, and that no program it starts inherits."""
    try:
        import fcntl

        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 500)
    except (ImportError, OSError):
        return os.dup(descriptor)


def limit_recursion():
    """Recursion without an end takes all memory of the machine before a limit of a billion is reached."""
    real = sys.setrecursionlimit
    sys.setrecursionlimit = lambda limit: real(min(limit, MOST_RECURSION))


def import_torch():
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name == "torch":
            raise VerifyFailure("no-torch", python=sys.executable) from error
        raise VerifyFailure("torch-fails", python=sys.executable, reason=words(error)) from error
    except Exception as error:
        raise VerifyFailure("torch-fails", python=sys.executable, reason=words(error)) from error
    torch.set_num_threads(max(1, min(8, os.cpu_count() or 1)))
    return torch


def out_of_memory():
    """What running out of memory is called, in this and in older versions."""
    import torch

    return (MemoryError, getattr(torch, "OutOfMemoryError", torch.cuda.OutOfMemoryError))


def choose_device(torch, wanted):
    if wanted != "auto":
        return wanted
    if torch.cuda.is_available():
        return "cuda"
    try:
        import torch_npu  # noqa: F401

        return "npu" if torch.npu.is_available() else "cpu"
    except Exception:
        return "cpu"


def failed(case, failure, **more):
    return {"name": case["name"], "status": "failed", "code": failure.code, "args": {"file": case["file"], "function": case["function"], **failure.args_}, **more}


def guarded(case, request, device):
    import torch

    started = time.monotonic()
    before, seen = set(sys.modules), list(sys.path)
    try:
        answer = verify(case, request, device)
    except VerifyFailure as failure:
        answer = failed(case, failure)
    except out_of_memory():
        answer = failed(case, VerifyFailure("out-of-memory"))
    except BaseException as error:
        # PyTorch has no type of its own for memory of the host.
        if isinstance(error, RuntimeError) and "can't allocate memory" in str(error):
            answer = failed(case, VerifyFailure("out-of-memory"))
        else:
            traceback.print_exc()
            answer = failed(case, VerifyFailure("python-stopped", python=sys.executable, reason=words(error)))
    finally:
        torch.set_default_dtype(torch.float32)
        # The next case may have a module, or a stand-in, of the same name.
        for name in set(sys.modules) - before:
            if name == case["module"] or str(getattr(sys.modules[name], "__file__", None) or "").startswith(REFERENCES):
                del sys.modules[name]
        sys.path[:] = seen
        gc.collect()
    answer["seconds"] = round(time.monotonic() - started, 3)
    return answer


def verify(case, request, device):
    from .user_code import fused_namespaces, guarded_imports, has_reference, import_original, references_in_use, use_references

    allowed = request.get("reference", True)
    module = import_original(case, allowed)
    namespaces = {"original": vars(module)}
    for name in guarded_imports(case["fused"]):
        if has_reference(name) and allowed:
            use_references()
    namespaces.update(fused_namespaces(module, case, allowed, device))
    reasons = []
    for whole in (True, False):
        try:
            subject = Whole(case, namespaces, device) if whole else Part(case, namespaces, device)
            layout = subject.choose(request.get("limit") or (ON_CPU if device == "cpu" else ON_DEVICE))
        except VerifyFailure as failure:
            reasons.append(failure)
            continue
        results, skipped = measured(subject, layout, namespaces, device, case.get("dtype"))
        return {
            "name": case["name"], "status": "ran", "whole": whole, "inputsFrom": layout.source, "references": references_in_use(),
            "inputs": [{"name": name, "shape": list(layout.shape(what))} for name, (sort, what) in subject.planned if sort == "tensor"],
            "results": results, "skipped": skipped,
        }
    raise reasons[-1] if reasons[0].code == "no-instance" and reasons[-1].code == "does-not-run" else reasons[0]


class Whole:
    """The function itself, on an instance of its class where it is a method."""

    def __init__(self, case, namespaces, device):
        from .user_code import resolve
        from .values import WIDTH, construct, plan_arguments, use_width

        self.case, self.namespaces, self.device = case, namespaces, device
        self.owner, found = resolve(namespaces["original"], case["function"], case["file"])
        self.static = isinstance(found, (staticmethod, classmethod))
        function = found.__func__ if self.static else found
        self.roles = {text: role for role, text in case.get("roles", {}).items()}
        bound = self.owner is not None and not isinstance(found, staticmethod)
        self.planned = plan_arguments(function, self.roles, bound, namespaces["original"])
        # A norm gets its width from its constructor: then the constructor has to get it from the profile.
        x = (case.get("shapes") or {}).get("x")
        use_width(x[-1] if x and case.get("roles", {}).get("weight", "").startswith("self.") else WIDTH)
        try:
            instance = None if self.owner is None or self.static else construct(self.owner, namespaces["original"], device)
        except VerifyFailure:
            raise
        except Exception as error:
            raise VerifyFailure("no-instance", type=self.owner.__name__, argument=words(error)) from error
        self.width = width_of(instance, case.get("roles", {}).get("weight"))

    def bind(self, variant, dtype, device=None):
        """(call, parameters by name)."""
        import torch
        from .user_code import resolve
        from .values import construct

        namespace = self.namespaces[variant]
        owner, found = resolve(namespace, self.case["function"], self.case["file"])
        if owner is None:
            return (lambda arguments: found(**arguments)), {}
        name = self.case["function"].split(".")[-1]
        if self.static:
            return (lambda arguments: getattr(owner, name)(**arguments)), {}
        with default_dtype(dtype):
            instance = construct(owner, namespace, device or self.device)
        method = getattr(instance, name)
        parameters = dict(instance.named_parameters()) if isinstance(instance, torch.nn.Module) else {}
        return (lambda arguments: method(**arguments)), parameters

    def choose(self, limit):
        return first_that_runs(self, limit)


class Part:
    """The replaced lines alone."""

    def __init__(self, case, namespaces, device):
        from .lines import Lines
        from .user_code import resolve

        self.case, self.namespaces, self.device = case, namespaces, device
        self.lines = Lines(case)
        self.roles = {text: role for role, text in case.get("roles", {}).items()}
        self.owner, _ = resolve(namespaces["original"], case["function"], case["file"])
        self.planned = self.lines.planned(self.roles)
        self.width = None

    def bind(self, variant, dtype, device=None):
        import torch
        from .user_code import resolve

        namespace = self.namespaces[variant]
        function = self.lines.compiled(0 if variant == "original" else 1, namespace)
        owner, _ = resolve(namespace, self.case["function"], self.case["file"])
        with default_dtype(dtype):
            instance = self.lines.instance(owner, namespace, self.roles, self.width, dtype, device or self.device)
        given = {} if instance is None else {"self": instance}
        parameters = {}
        if isinstance(instance, torch.nn.Module):
            parameters = {name: value for name, value in instance.named_parameters() if any(path.startswith(f"self.{name.split('.')[0]}") for path in self.lines.attributes)}
        return (lambda arguments: function(**given, **arguments)), parameters

    def choose(self, limit):
        return first_that_runs(self, limit)


def width_of(instance, text):
    """The length of the weight that the form multiplies by: the last dimension has to fit it."""
    import torch

    if instance is None or text is None or not text.startswith("self."):
        return None
    value = instance
    for part in text.split(".")[1:]:
        value = getattr(value, part, None)
    return value.shape[-1] if isinstance(value, torch.Tensor) and value.dim() == 1 else None


@contextlib.contextmanager
def default_dtype(dtype):
    """Parameters without a dtype of their own are made in this one; those made in fp32 on purpose stay."""
    import torch

    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def first_that_runs(subject, limit):
    """The first layout of inputs that the original accepts in fp32."""
    import torch
    from .measure import flatten
    from .values import WIDTH, layouts

    reason = None
    own_width = subject.width
    for layout in layouts(subject.case.get("shapes") or {}, own_width, limit):
        subject.width = own_width or layout.act[-1] or WIDTH
        try:
            call, _ = subject.bind("original", torch.float32)
            with torch.no_grad():
                outputs = flatten(call(arguments_of(subject, layout, torch.float32)))
            if any(tensor.is_floating_point() and tensor.numel() > 0 for tensor in outputs):
                return layout
            reason = reason or "no result with numbers"
        except out_of_memory():
            raise
        except VerifyFailure:
            raise
        except Exception as error:
            reason = reason or words(error)
    raise VerifyFailure("does-not-run", reason=reason or "")


def arguments_of(subject, layout, dtype):
    from .values import tensors

    plain = [(name, ("value", dtype) if sort == "dtype" else (sort, what)) for name, (sort, what) in subject.planned]
    return tensors(plain, layout, dtype, subject.device)


def measured(subject, layout, namespaces, device, first):
    """Figures per dtype, stride and variant; what the original itself cannot run is skipped, and said."""
    import torch
    from .measure import difference, run
    from .values import strided

    constant = {name for name, (sort, what) in subject.planned if sort == "tensor" and what in ("mask", "table")}
    results, skipped = [], []
    for dtype_name in sorted(DTYPES, key=lambda name: (name != first, DTYPES.index(name))):
        dtype = getattr(torch, dtype_name)
        arguments = arguments_of(subject, layout, dtype)
        truth = exact(subject, arguments, dtype, constant)
        for how in STRIDES:
            given = {name: strided(value, how) if isinstance(value, torch.Tensor) and name not in constant else value for name, value in arguments.items()}
            if how != "contiguous" and not any(isinstance(value, torch.Tensor) and not value.is_contiguous() for value in given.values()):
                continue
            try:
                call, parameters = subject.bind("original", dtype)
                before = dict(run(call, given, parameters, constant))
            except out_of_memory():
                raise
            except Exception as error:
                skipped.append({"dtype": dtype_name, "layout": how, "reason": words(error)})
                continue
            for variant in [name for name in namespaces if name != "original"]:
                entry = {"dtype": dtype_name, "layout": how, "variant": variant, "error": None, "tensors": []}
                try:
                    call, parameters = subject.bind(variant, dtype)
                    after = dict(run(call, given, parameters, constant))
                except out_of_memory():
                    raise
                except Exception as error:
                    entry["error"] = words(error)
                    results.append(entry)
                    continue
                for name, tensor in before.items():
                    other = after.get(name)
                    if other is None:
                        entry["tensors"].append({"name": name, "missing": True})
                    else:
                        figures = difference(tensor, other, truth.get(name))
                        entry["tensors"].append({"name": name, "missing": False, "before": str(tensor.dtype).split(".")[-1], "after": str(other.dtype).split(".")[-1], **figures})
                results.append(entry)
    return results, skipped


def exact(subject, arguments, dtype, constant):
    """Results and gradients of the original in fp64, on the same rounded inputs; nothing where it cannot run so."""
    import torch
    from .measure import Wide, run

    try:
        # On the CPU: it has fp64, and the eager form runs anywhere.
        call, parameters = subject.bind("original", dtype, "cpu")
        owners = {}
        if parameters:
            closure = inspect.getclosurevars(call).nonlocals
            instance = getattr(closure.get("method"), "__self__", None) or (closure.get("given") or {}).get("self")
            instance.double()
            owners = {name: value for name, value in instance.named_parameters() if name in parameters}
        wide = {name: value.cpu().double() if isinstance(value, torch.Tensor) and value.is_floating_point() else torch.float64 if isinstance(value, torch.dtype) else value for name, value in arguments.items()}
        with Wide():
            return dict(run(call, wide, owners, constant))
    except Exception:
        return {}

