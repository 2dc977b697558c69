"""Notices profilers that the program starts itself: two cannot record at once, and the program's own goes first."""
import functools
import sys
from importlib.util import find_spec

# Module, class, method that begins, method that ends.
_PROFILERS = (
    ('torch.profiler.profiler', '_KinetoProfile', 'start', 'stop'),
    ('torch.profiler.profiler', 'profile', 'start', 'stop'),
    ('torch.autograd.profiler', 'profile', '__enter__', '__exit__'),
    ('torch.autograd.profiler', 'profile', '_prepare_trace', None),
    ('torch.autograd.profiler', 'emit_nvtx', '__enter__', '__exit__'),
    ('torch.autograd.profiler', 'emit_itt', '__enter__', '__exit__'),
    ('torch_npu.profiler.profiler', '_KinetoProfile', 'start', 'stop'),
    ('torch_npu.profiler.profiler', 'profile', 'start', 'stop'),
)


class _Arrivals:
    """A finder that finds nothing itself: it runs `arrived` after modules with profilers have been loaded."""

    def __init__(self, arrived):
        self._arrived = arrived
        self._names = {module for module, _, _, _ in _PROFILERS}

    def find_spec(self, name, path=None, target=None):
        if name not in self._names:
            return None
        self._names.discard(name)
        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            self._arrived()

        spec.loader.exec_module = exec_module
        return spec


class ProfilerGuard:
    """`on_foreign(name)` is called before a profiler of the program starts. Use `with guard.ours():` round calls of our own."""

    def __init__(self, on_foreign):
        self._on_foreign = on_foreign
        self._undo = {}
        self._open = {}
        self._own = 0
        self._arrivals = _Arrivals(self.install)

    def watch(self):
        """From now on, and for profilers that are loaded later."""
        sys.meta_path.insert(0, self._arrivals)
        self.install()

    def install(self):
        for module_name, class_name, begin, end in _PROFILERS:
            one = getattr(sys.modules.get(module_name), class_name, None)
            if one is None:
                continue
            name = '%s.%s' % (module_name.replace('.profiler.profiler', '.profiler'), class_name)
            self._wrap(one, begin, functools.partial(self._begins, name))
            if end is not None:
                self._wrap(one, end, self._ends)

    def remove(self):
        for (one, name), (inner, outer) in self._undo.items():
            if one.__dict__.get(name) is outer:
                setattr(one, name, inner)
        self._undo = {}
        if self._arrivals in sys.meta_path:
            sys.meta_path.remove(self._arrivals)

    def active(self):
        """Name of a profiler of the program that runs now."""
        for name in self._open.values():
            return name
        torch = sys.modules.get('torch')
        enabled = getattr(getattr(torch, 'autograd', None), '_profiler_enabled', None)
        return 'torch.autograd.profiler' if enabled is not None and enabled() else None

    def ours(self):
        return _Ours(self)

    def _wrap(self, one, name, before):
        inner = one.__dict__.get(name)
        if inner is None or (one, name) in self._undo:
            return

        @functools.wraps(inner)
        def outer(profiler, *args, **kwargs):
            if self._own == 0:
                before(profiler)
            return inner(profiler, *args, **kwargs)

        self._undo[(one, name)] = (inner, outer)
        setattr(one, name, outer)

    def _begins(self, name, profiler):
        first = id(profiler) not in self._open
        self._open[id(profiler)] = name
        if first:
            self._on_foreign(name)

    def _ends(self, profiler):
        self._open.pop(id(profiler), None)


class _Ours:
    def __init__(self, guard):
        self._guard = guard

    def __enter__(self):
        self._guard._own += 1

    def __exit__(self, *_):
        self._guard._own -= 1
