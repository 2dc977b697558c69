"""The interface of torch_npu.profiler as its documentation and public source describe it; it measures nothing."""
import json
import os
from enum import Enum


class ProfilerActivity(Enum):
    CPU = 0
    NPU = 1


class ProfilerAction(Enum):
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerLevel:
    Level0 = 'Level0'
    Level1 = 'Level1'
    Level2 = 'Level2'


class AiCMetrics:
    AiCoreNone = 'ACL_AICORE_NONE'
    PipeUtilization = 'ACL_AICORE_PIPE_UTILIZATION'


class _ExperimentalConfig:
    def __init__(self, profiler_level=ProfilerLevel.Level0, aic_metrics=AiCMetrics.AiCoreNone):
        self.told = {'profiler_level': profiler_level, 'aic_metrics': aic_metrics}


class schedule:
    def __init__(self, wait, active, warmup=0, repeat=0, skip_first=0):
        self.wait, self.active, self.warmup, self.repeat, self.skip_first = wait, active, warmup, repeat, skip_first

    def __call__(self, step):
        step -= self.skip_first
        length = self.wait + self.warmup + self.active
        if step < 0 or step >= self.repeat * length > 0:
            return ProfilerAction.NONE
        step %= length
        if step < self.wait:
            return ProfilerAction.NONE
        if step < self.wait + self.warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if step < length - 1 else ProfilerAction.RECORD_AND_SAVE


def tensorboard_trace_handler(dir_name=None, worker_name=None, analyse_flag=True, async_mode=False):
    def handler(profiler):
        profiler.tell('analyse', analyse_flag)
        output = os.path.join(profiler.path, 'ASCEND_PROFILER_OUTPUT')
        os.makedirs(output)
        with open(os.path.join(output, 'kernel_details.csv'), 'w') as file:
            file.write('Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n')
            for step in profiler.recorded:
                file.write('%d,Mul_%d,Mul,AI_VECTOR_CORE,"1700000000%06d.000\t",10.0,0,1\n' % (step, step, step * 100))
        with open(os.path.join(profiler.path, 'profiler_info.json'), 'w') as file:
            json.dump({'config': {'common_config': {'with_stack': profiler.options['with_stack']}}, 'start_info': {}, 'end_info': {}}, file)

    handler.dir_name, handler.worker_name = dir_name, worker_name
    return handler


class profile:
    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False, with_stack=False,
                 with_flops=False, with_modules=False, experimental_config=None):
        self.options = {'record_shapes': record_shapes, 'profile_memory': profile_memory, 'with_stack': with_stack}
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = schedule(0)
        self.calls = []
        self.recorded = []
        self.path = None
        self.tell('profile', dict(self.options, activities=sorted(one.name for one in activities), **experimental_config.told))

    def tell(self, name, value=None):
        self.calls.append([name, value])
        with open(os.environ['STAND_IN_CALLS'], 'w') as file:
            json.dump(self.calls, file)

    def start(self):
        self.tell('start', self.step_num)
        self._transit(ProfilerAction.NONE, self.current_action)

    def step(self):
        before = self.current_action
        if before in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self.recorded.append(self.step_num)
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self.tell('step', self.step_num)
        self._transit(before, self.current_action)

    def stop(self):
        self.tell('stop', self.step_num)
        if self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self.recorded.append(self.step_num)
        self._transit(self.current_action, ProfilerAction.NONE)
        self.current_action = ProfilerAction.NONE

    def _transit(self, before, after):
        if before is ProfilerAction.NONE and after is not ProfilerAction.NONE:
            handler = self.on_trace_ready
            self.path = os.path.join(handler.dir_name, '%s_%d_20261130000000000_ascend_pt' % (handler.worker_name, os.getpid()))
            os.makedirs(self.path)
        elif before in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE) and after is ProfilerAction.NONE:
            self.on_trace_ready(self)
