"""The profilers: each records steps `begin` to `last` and leaves one file or folder per rank in `folder`."""
import gzip
import os
import shutil
import socket
import sys
import time
import warnings


class Recorder:
    """`window` is (begin, first, last): `begin` to `first - 1` warm the profiler up, `first` to `last` are kept. `result` is the finished file or folder, once there is one."""

    name = ''

    def __init__(self, settings, window, folder, rank):
        self.settings = settings
        self.begin, self.first, self.last = window
        self.folder = folder
        self.rank = rank
        self.result = None
        self.profiler = None

    def _run(self, api, **options):
        """Starts a profiler with the common interface, and lets it count the program's steps instead of its own."""
        with warnings.catch_warnings():
            # That the first step has nothing to warm up with is no news.
            warnings.simplefilter('ignore')
            schedule = api.schedule(skip_first=self.begin, wait=0, warmup=self.first - self.begin, active=self.last - self.first + 1, repeat=1)
        self.profiler = api.profile(
            schedule=schedule, record_shapes=bool(self.settings.get('shapes')), profile_memory=bool(self.settings.get('memory')), with_stack=bool(self.settings.get('stacks')), **options)
        self.profiler.step_num = self.begin
        self.profiler.current_action = self.profiler.schedule(self.begin)
        self.profiler.start()

    def step(self):
        """One step has ended; the last one ends the recording."""
        self.profiler.step()

    def stop(self):
        """Ends the recording; what was kept so far is exported."""
        self.profiler.stop()


class TorchRecorder(Recorder):
    name = 'torch.profiler'

    def start(self):
        import torch.profiler
        os.makedirs(self.folder, exist_ok=True)
        self._run(torch.profiler, on_trace_ready=self._export)

    def _export(self, profiler):
        name = 'rank%d_%s_%d.%d.pt.trace.json' % (self.rank, socket.gethostname(), os.getpid(), time.time_ns())
        plain = os.path.join(self.folder, '.' + name)
        packed = plain + '.gz'
        try:
            profiler.export_chrome_trace(plain)
            # The other ranks wait meanwhile: light compression costs a fifth of the profiler's own, and the files are little larger.
            with open(plain, 'rb') as source, gzip.open(packed, 'wb', compresslevel=2) as target:
                shutil.copyfileobj(source, target, 1 << 20)
            self.result = os.path.join(self.folder, name + '.gz')
            os.replace(packed, self.result)
        finally:
            for file in (plain, packed):
                if os.path.exists(file):
                    os.remove(file)


class NpuRecorder(Recorder):
    name = 'torch_npu.profiler'

    def start(self):
        from torch_npu import profiler as api
        # Written in a hidden folder beside and moved when analysed: whoever looks meanwhile sees no half profile.
        self._hidden = os.path.join(self.folder, '.rank%d_%s_%d' % (self.rank, socket.gethostname(), os.getpid()))
        os.makedirs(self._hidden, exist_ok=True)
        level = getattr(api.ProfilerLevel, 'Level%d' % self.settings.get('level', 1))
        options = {'profiler_level': level}
        if self.settings.get('level', 1) > 0:
            options['aic_metrics'] = api.AiCMetrics.PipeUtilization
        self._run(
            api, activities=[api.ProfilerActivity.CPU, api.ProfilerActivity.NPU],
            on_trace_ready=api.tensorboard_trace_handler(self._hidden, worker_name='rank%d_%s' % (self.rank, socket.gethostname())),
            experimental_config=api._ExperimentalConfig(**options))

    def step(self):
        super().step()
        if self.profiler.step_num > self.last:
            self._collect(True)

    def stop(self):
        kept = self.profiler.step_num >= self.first
        super().stop()
        self._collect(kept)

    def _collect(self, kept):
        if not os.path.isdir(self._hidden):
            return
        for name in sorted(os.listdir(self._hidden)):
            # What was only warmed up for is a folder without content.
            if kept and name.endswith('_ascend_pt'):
                self.result = os.path.join(self.folder, name)
                os.replace(os.path.join(self._hidden, name), self.result)
        shutil.rmtree(self._hidden, ignore_errors=True)


class NsightRecorder(Recorder):
    """Opens and closes the window of an `nsys profile --capture-range=cudaProfilerApi` round the program, and names the steps in it."""

    name = 'nsys'

    def start(self):
        self._at = self.begin
        self._on = False
        self._mark()

    def step(self):
        self._close()
        self._at += 1
        if self._at > self.last:
            self.stop()
        else:
            self._mark()

    def stop(self):
        if self._on:
            import torch
            self._close()
            self._on = False
            torch.cuda.synchronize()
            torch.cuda.profiler.stop()
            self.result = self.folder

    def _mark(self):
        import torch
        if self._at >= self.first and not self._on:
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
            self._on = True
        if self._on:
            torch.cuda.nvtx.range_push('ProfilerStep#%d' % self._at)
            self._open = True

    def _close(self):
        if getattr(self, '_open', False):
            import torch
            torch.cuda.nvtx.range_pop()
            self._open = False


def choose_recorder(settings):
    """torch_npu's profiler where the program runs on NPUs, Nsight's window where that was asked for, else torch's."""
    if settings.get('method') == 'nsys':
        return NsightRecorder
    torch_npu = sys.modules.get('torch_npu')
    available = getattr(getattr(torch_npu, 'npu', None), 'is_available', None)
    if torch_npu is not None and (available is None or available()):
        return NpuRecorder
    return TorchRecorder
