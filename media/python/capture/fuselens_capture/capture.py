"""The course of a recording: wait for the first step, start, stop, tell, and leave the program as it was."""
import atexit
import functools
import os
import sys
import threading
import time
import weakref

from .children import let_children_end
from .guard import ProfilerGuard
from .notes import Notes, rank_and_world, say
from .recorders import choose_recorder
from .steps import StepWatch

# Profilers that a fork copied: ending one in the child would end its parent's, so they are kept until the child ends.
_INHERITED = []


class Capture:
    """Everything it does inside the program's calls is guarded: a fault of ours ends the recording, never the program."""

    def __init__(self, settings, output, folder):
        self.settings = settings
        self.windows = settings['windows']
        self._at_window(0)
        self.output = output
        self.folder = folder
        self.rank = None
        self.step = 0
        self.skipped = 0
        self.recorder = None
        self.done = False
        self.recorded = []
        self.results = []
        self.notes = Notes(output, settings)
        self.guard = ProfilerGuard(self._guarded(self._foreign_profiler))
        self._scalers = []
        self._made_on = None
        self._forked = False

    def _at_window(self, index):
        """Each stretch of steps is a recording of its own, warmed up for as far as the one before leaves room."""
        self.window = index
        self.first, self.last = self.windows[index]
        self.begin = max(1 if index == 0 else self.windows[index - 1][1] + 1, self.first - self.settings.get('warmup', 1))

    def install(self, optimizer_module):
        self.watch = StepWatch(optimizer_module, self._guarded(self._optimizer_made), self._guarded(self._step_ended))
        self.watch.install()
        self.guard.watch()
        if hasattr(os, 'register_at_fork'):
            # Hooks at fork cannot be taken back: a weak one does nothing once we are gone.
            here = weakref.ref(self)
            os.register_at_fork(after_in_child=lambda: here() is not None and here()._after_fork())

    def _guarded(self, function):
        @functools.wraps(function)
        def call(*args):
            if self.done:
                return
            try:
                function(*args)
            except BaseException as error:  # noqa: BLE001
                self._end('failed', 'failed, and nothing more is recorded: %r' % (error,), reason=repr(error))
                if not isinstance(error, Exception):
                    raise
        return call

    def _optimizer_made(self):
        if self._made_on is not None or _in_data_worker():
            return
        self._made_on = threading.get_ident()
        torch = sys.modules['torch']
        self.rank, world = rank_and_world()
        self.notes.write('waiting', rank=self.rank, world=world, torch=str(torch.__version__))
        atexit.register(self._guarded(self._program_ends))
        if self.begin == 1:
            self._start()

    def _step_ended(self):
        if _in_data_worker():
            return
        if self.step == 0:
            self._clean_environment()
        self.step += 1
        if self.recorder is None:
            self._start_when_due()
            return
        started = time.perf_counter()
        with self.guard.ours():
            self.recorder.step()
        if self.step >= self.last:
            with self.guard.ours():
                self.recorder.stop()
            self._finish('complete', started)

    def _start_when_due(self):
        if self.step == self.begin - 1:
            self._start()

    def _start(self):
        self.rank, world = rank_and_world()
        self.notes.fields.update(rank=self.rank, world=world)
        ranks = self.settings.get('ranks')
        if ranks is not None and self.rank not in ranks:
            self._end('not-asked', None)
            return
        active = self.guard.active()
        if active is not None:
            self._end('aside', 'the program runs its own profiler (%s): nothing is recorded here; use its traces, or switch it off' % active, reason=active)
            return
        if self._made_on != threading.get_ident():
            say(self.rank, 'steps run on another thread than the one that made the optimizer: the forward pass may be missing')
        recorder = choose_recorder(self.settings)(self.settings, (self.begin, self.first, self.last), self._step_folder(), self.rank)
        let_children_end()
        with self.guard.ours():
            recorder.start()
        self.recorder = recorder
        self._watch_scalers()
        self.notes.write('recording', profiler=recorder.name, steps=self.step)
        say(self.rank, 'recording steps %d to %d with %s' % (self.first, self.last, recorder.name))

    def _step_folder(self):
        return os.path.join(self.output, 'profiling_time', 'step-%d' % self.first)

    def _stop_early(self, state, why, **fields):
        """Keeps what was recorded of the asked steps; the one that was running is in it as far as it got."""
        started = time.perf_counter()
        recorder = self.recorder
        with self.guard.ours():
            recorder.stop()
        if recorder.result is None:
            self._end(state, '%s: nothing was recorded' % why, **fields)
        else:
            self._finish(state, started, '%s; ' % why, **fields)

    def _finish(self, state, started, why='', **fields):
        result = self.recorder.result
        if result is None:
            self._end('failed', '%s left nothing behind: its own messages above say why' % self.recorder.name, reason='empty')
            return
        seconds = time.perf_counter() - started
        until = min(self.step, self.last)
        size = _size(result)
        whole = until >= self.first
        what = 'steps %d to %d' % (self.first, until) if whole else 'the beginning of step %d' % self.first
        line = '%swrote %s: %s (%.1f MB, %.1f s)' % (why, what, result, size / 1e6, seconds)
        if whole:
            self.recorded.append([self.first, until])
        self.results.append(os.path.relpath(result, self.output))
        told = self.notes.fields
        fields.update(recorded=self.recorded, results=self.results, bytes=told.get('bytes', 0) + size, exportSeconds=round(told.get('exportSeconds', 0) + seconds, 3))
        if state != 'complete' or self.window + 1 == len(self.windows):
            self._end(state, line, **fields)
            return
        self.recorder = None
        self.notes.write('recording', steps=self.step, skippedByScaler=self.skipped, **fields)
        say(self.rank, line)
        self._at_window(self.window + 1)
        self._start_when_due()

    def _end(self, state, line, **fields):
        """Tells how it ended, and takes every hook out of the program."""
        self.done = True
        self.recorder = None
        try:
            self.notes.write(state, steps=self.step, skippedByScaler=self.skipped, **fields)
            if line is not None:
                say(self.rank, line)
        finally:
            self.watch.remove()
            self.guard.remove()
            for undo in self._scalers:
                undo()
            self._scalers = []
            self._clean_environment()

    def _foreign_profiler(self, name):
        if self.recorder is not None:
            self._stop_early('aside', 'the program starts its own profiler (%s) and this one steps aside' % name, reason=name)

    def _program_ends(self):
        if self._forked and self.step == 0:
            # A child that does not train is no rank, and nothing is missing.
            self.done = True
            return
        if self.recorder is not None:
            self._stop_early('partial', 'the program ended after %d steps, before step %d' % (self.step, self.last))
        elif len(self.recorded) > 0:
            self._end('partial', 'the program ended after %d steps, before step %d: that part was not recorded' % (self.step, self.first))
        else:
            made = 'made no optimizer step' if self.step == 0 else 'ended after %d optimizer step%s' % (self.step, '' if self.step == 1 else 's')
            self._end('ended-before', 'the program %s, and recording starts at step %d: nothing was recorded' % (made, self.begin))

    def _after_fork(self):
        """A child of `fork` starts anew: it is a data worker, which never steps, or a rank of its own."""
        if self.done:
            return
        if self.recorder is not None:
            _INHERITED.append(self.recorder)
        self._forked = True
        self.recorder = None
        self.step = 0
        self.recorded = []
        self.results = []
        self._at_window(0)
        self.notes = Notes(self.output, self.settings)

    def _clean_environment(self):
        """From the first step on, programs that this one starts are none of our business."""
        os.environ.pop('FUSELENS_CAPTURE', None)
        path = os.environ.get('PYTHONPATH')
        if path is not None:
            rest = [entry for entry in path.split(os.pathsep) if os.path.abspath(entry or os.curdir) != self.folder]
            if len(rest) > 0:
                os.environ['PYTHONPATH'] = os.pathsep.join(rest)
            else:
                del os.environ['PYTHONPATH']

    def _watch_scalers(self):
        """A scaler that finds infinite gradients leaves the step out: two passes then belong to one step."""
        if len(self._scalers) > 0:
            return
        for name in ('torch.amp.grad_scaler', 'torch.cuda.amp.grad_scaler'):
            scaler = getattr(sys.modules.get(name), 'GradScaler', None)
            inner = None if scaler is None else scaler.__dict__.get('step')
            if inner is None:
                continue
            step = self._scaler_step(inner)
            scaler.step = step
            self._scalers.append(functools.partial(_restore, scaler, step, inner))

    def _scaler_step(self, inner):
        @functools.wraps(inner)
        def step(scaler, optimizer, *args, **kwargs):
            before = self.step
            result = inner(scaler, optimizer, *args, **kwargs)
            if not self.done and self.recorder is not None and self.step == before and self.watch.owns(optimizer):
                self.skipped += 1
                say(self.rank, 'the gradient scaler left a step out: step %d holds one pass more' % (self.step + 1))
            return result
        return step


def _restore(scaler, step, inner):
    if scaler.__dict__.get('step') is step:
        scaler.step = inner


def _in_data_worker():
    data = sys.modules.get('torch.utils.data')
    return data is not None and data.get_worker_info() is not None


def _size(path):
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(folder, file)) for folder, _, files in os.walk(path) for file in files)
