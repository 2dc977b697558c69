"""Tells when an optimizer step of the program has ended."""
import _thread
import functools
import sys
import threading
import weakref


class StepWatch:
    """Calls `on_made(optimizer)` when the program makes its first optimizer, and `on_step()` after each training step.

    A training step is a step of the first optimizer that steps: others of the same program run beside it. Steps inside steps (a
    subclass that calls `super().step()`), the parameter groups that some wrappers step one by one, and the empty step by which
    checkpoints make room for optimizer states are not counted.
    """

    def __init__(self, module, on_made, on_step):
        self._module = module
        self._on_made = on_made
        self._on_step = on_step
        self._owner = None
        self._key = None
        self._others = set()
        self._undo = []
        self._depth = 0
        self._removed = False
        self._in_hooks = False
        self._pending = []

    def install(self):
        self._watch_init()
        register = getattr(self._module, 'register_optimizer_step_post_hook', None)
        if register is None:
            return

        def after_step(optimizer, args, kwargs):
            if self._pending:
                # Somebody kept the arguments of the step before.
                self._now(self._pending.pop())
            if self._removed or _nested_or_empty(optimizer):
                return
            hooks = handle.hooks_dict_ref()
            if hooks is None or next(reversed(hooks)) != handle.id or sys._getframe(1).f_code.co_name != 'wrapper':
                self._now(lambda: self._stepped(optimizer))
            else:
                # Nobody reads these arguments after us. They go when `step` returns, so that what follows, a profiler starting
                # or ending, lies outside the range by which PyTorch records the step.
                self._pending = [lambda: self._stepped(optimizer)]
                kwargs['_fuselens'] = _OnReturn(self._pending)

        # torch.compile must leave it alone: it is no part of the model.
        after_step._torchdynamo_disable = True
        handle = register(after_step)

        def undo():
            # Taken out while PyTorch walks through its hooks, it would make that walk fail; where it must stay, it does nothing.
            if not self._in_hooks:
                handle.remove()

        self._undo.append(undo)

    def _now(self, action):
        self._in_hooks = True
        try:
            action()
        finally:
            self._in_hooks = False

    def remove(self):
        """Leaves the classes as they were."""
        self._removed = True
        for undo in reversed(self._undo):
            undo()
        self._undo = []

    def _watch_init(self):
        optimizer_class = self._module.Optimizer
        init = optimizer_class.__init__
        hooks_steps = hasattr(self._module, 'register_optimizer_step_post_hook')

        @functools.wraps(init)
        def __init__(optimizer, *args, **kwargs):
            init(optimizer, *args, **kwargs)
            if not hooks_steps:
                for one in type(optimizer).__mro__:
                    self._wrap_step(one)
            elif optimizer_class.__init__ is __init__:
                optimizer_class.__init__ = init
            self._on_made()

        optimizer_class.__init__ = __init__

        def undo():
            if optimizer_class.__init__ is __init__:
                optimizer_class.__init__ = init

        self._undo.append(undo)

    def _wrap_step(self, one):
        """Before PyTorch 2 there are no hooks, and every class has a `step` of its own."""
        inner = one.__dict__.get('step')
        if inner is None or hasattr(inner, '_fuselens'):
            return

        @functools.wraps(inner)
        def step(optimizer, *args, **kwargs):
            self._depth += 1
            try:
                result = inner(optimizer, *args, **kwargs)
            finally:
                self._depth -= 1
            if self._depth == 0:
                self._stepped(optimizer)
            return result

        step._fuselens = True
        one.step = step

        def undo():
            if one.__dict__.get('step') is step:
                one.step = inner

        self._undo.append(undo)

    def _stepped(self, optimizer):
        owner = None if self._owner is None else self._owner()
        if owner is None:
            self._owner = weakref.ref(optimizer)
            self._key = _first_parameter(optimizer)
            self._others = set()
        elif owner is not optimizer:
            return
        if self._is_same_round(_first_parameter(optimizer)):
            return
        self._on_step()

    def owns(self, optimizer):
        return self._owner is not None and self._owner() is optimizer

    def _is_same_round(self, key):
        """Wrappers that shard states lend the optimizer one parameter group at a time: only the first group's turn is a step."""
        if key == self._key:
            self._others = set()
            return False
        if key in self._others:
            # The first group never came back: the parameters were replaced.
            self._key = key
            self._others = set()
            return False
        self._others.add(key)
        return True


class _OnReturn:
    """Runs the action in `pending`, if it still is there, when the last reference goes. An interrupt in it would be lost there, so it is raised again in the main thread."""

    def __init__(self, pending):
        self._pending = pending

    def __del__(self):
        try:
            if self._pending:
                self._pending.pop()()
        except BaseException:  # noqa: BLE001
            # Not here and now: Python would only print it.
            threading.Timer(0.01, _thread.interrupt_main).start()


def _first_parameter(optimizer):
    groups = optimizer.param_groups
    parameters = groups[0]['params'] if groups else ()
    return id(parameters[0]) if len(parameters) > 0 else 0


def _nested_or_empty(optimizer):
    """Whether a further `step` of this optimizer is running above the hooked one, or the step was made to fill its state."""
    hooked = sys._getframe(2)
    frame = hooked.f_back
    # torch.compile cuts the hooked `step` in two: its second half is called by the first.
    if frame is not None and hooked.f_code.co_name.startswith('torch_dynamo_resume_in_'):
        frame = frame.f_back
    while frame is not None:
        code = frame.f_code
        file = code.co_filename.replace('\\', '/')
        if code.co_name == 'wrapper' and file.endswith('torch/optim/optimizer.py') and frame.f_locals.get('self') is optimizer:
            return True
        if code.co_name == '_init_optim_state' and file.endswith('torch/distributed/checkpoint/state_dict.py'):
            return True
        frame = frame.f_back
    return False
