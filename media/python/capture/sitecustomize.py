"""Python loads this at start, because its folder stands first in PYTHONPATH, and nothing happens before the program imports torch.optim.

Valid in Python 2 as well: a training script may call any other Python, and that one must not notice.
"""
import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))
# Now: the program may clear its environment before it imports torch.
_OUTPUT = os.environ.get('FUSELENS_CAPTURE')
# What the program imports must not be found here.
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _FOLDER]


def _load_helper(optimizer_module):
    """Loads the package beside this file without a path entry for it; a fault of ours never stops the program."""
    try:
        from importlib.util import module_from_spec, spec_from_file_location
        package = os.path.join(_FOLDER, 'fuselens_capture')
        spec = spec_from_file_location('fuselens_capture', os.path.join(package, '__init__.py'), submodule_search_locations=[package])
        module = module_from_spec(spec)
        sys.modules['fuselens_capture'] = module
        spec.loader.exec_module(module)
        module.begin(optimizer_module, _FOLDER, _OUTPUT)
    except Exception as error:  # noqa: BLE001
        sys.stderr.write('[fuselens] nothing will be recorded: %r\n' % (error,))


class _AfterOptimizerImport(object):
    """A finder that finds nothing itself: it runs the helper once `torch.optim.optimizer` has been loaded."""

    def find_spec(self, name, path=None, target=None):
        if name != 'torch.optim.optimizer':
            return None
        from importlib.util import find_spec
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            _load_helper(module)

        spec.loader.exec_module = exec_module
        return spec


if sys.version_info >= (3, 8) and _OUTPUT:
    sys.meta_path.insert(0, _AfterOptimizerImport())


def _run_shadowed():
    """Runs the `sitecustomize` of the system, of conda or of the user that this one stands in front of."""
    ours = sys.modules.pop('sitecustomize', None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        # Not found: there is none. Anything else is theirs, and Python tells of it as it would without us.
        if getattr(error, 'name', 'sitecustomize') != 'sitecustomize' or 'sitecustomize' not in str(error):
            raise
        if ours is not None:
            sys.modules['sitecustomize'] = ours


_run_shadowed()
