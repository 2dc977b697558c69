"""Training programs of every kind that the capture helper must record unchanged: `python capture_cases.py CASE`. They know nothing of it."""
import os
import sys
import time
import warnings

import torch
from torch import nn

warnings.simplefilter('ignore')
torch.manual_seed(0)
torch.set_num_threads(1)
STEPS = int(os.environ.get('CASE_STEPS', '7'))


def model():
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))


def loss(net, step):
    """The name by which the test knows which of the program's passes are in a recording."""
    with torch.profiler.record_function('pass#%d' % step):
        return net(torch.randn(4, 8)).square().mean()


def train(net, optimizer, after=lambda step: None):
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        loss(net, step).backward()
        optimizer.step()
        after(step)


def plain():
    net = model()
    train(net, torch.optim.AdamW(net.parameters()))


def accumulation():
    """Three forward and backward passes a step."""
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(1, STEPS + 1):
        for _ in range(3):
            loss(net, step).backward()
        optimizer.step()
        optimizer.zero_grad()


def several_optimizers():
    """As for a generator and its critic; the second one steps twice as often."""
    nets = model(), model()
    first, second = (torch.optim.Adam(net.parameters()) for net in nets)
    for step in range(1, STEPS + 1):
        loss(nets[0], step).backward()
        first.step()
        for _ in range(2):
            loss(nets[1], step + 1).backward()
            second.step()


def spare_optimizer():
    """The first optimizer made is never used."""
    net = model()
    torch.optim.SGD(net.parameters(), lr=1)
    train(net, torch.optim.AdamW(net.parameters()))


def subclass():
    class Mine(torch.optim.AdamW):
        def step(self, closure=None):
            return super().step(closure)

    torch.optim.AdamW(model().parameters())
    net = model()
    train(net, Mine(net.parameters()))


def scheduler():
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    train(net, optimizer, lambda step: rate.step())


def closure():
    """LBFGS calls the closure several times in one step."""
    net = model()
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3)

    def evaluate():
        optimizer.zero_grad()
        value = loss(net, step)
        value.backward()
        return value

    for step in range(1, STEPS + 1):
        optimizer.step(evaluate)


def scaler():
    """The fourth pass has infinite gradients: its step is left out."""
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    grad_scaler = torch.amp.GradScaler('cpu', init_scale=4.0)
    for step in range(1, STEPS + 2):
        optimizer.zero_grad()
        value = loss(net, step)
        grad_scaler.scale(value * float('inf') if step == 4 else value).backward()
        grad_scaler.step(optimizer)
        grad_scaler.update()


def groups_one_by_one():
    """As wrappers do that shard optimizer states: each group is lent to the optimizer in turn."""
    net = model()
    optimizer = torch.optim.AdamW([{'params': [parameter]} for parameter in net.parameters()])
    groups = optimizer.param_groups
    for step in range(1, STEPS + 1):
        loss(net, step).backward()
        for group in groups:
            optimizer.param_groups = [group]
            optimizer.step()
        optimizer.param_groups = groups


def checkpoint_state():
    """Making room for optimizer states takes an empty step, which is none."""
    from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict
    net = model()
    optimizer = torch.optim.AdamW(net.parameters())
    get_optimizer_state_dict(net, optimizer)
    train(net, optimizer)


class Numbers(torch.utils.data.Dataset):
    """A data worker that trains: nothing of that may be recorded."""

    def __len__(self):
        return 4 * STEPS

    def __getitem__(self, index):
        net = model()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(6):
            loss(net, 99).backward()
            optimizer.step()
        return torch.randn(8)


def workers():
    method = os.environ.get('CASE_METHOD', 'fork')
    net = model()
    optimizer = torch.optim.AdamW(net.parameters())
    for step, batch in enumerate(torch.utils.data.DataLoader(Numbers(), batch_size=4, num_workers=2, multiprocessing_context=method), 1):
        optimizer.zero_grad()
        with torch.profiler.record_function('pass#%d' % step):
            value = net(batch).square().mean()
        value.backward()
        optimizer.step()


def own_profiler_first():
    net = model()
    with torch.profiler.profile() as profiler:
        train(net, torch.optim.AdamW(net.parameters()))
    print('OWN', len(profiler.events()) > 100)


def own_profiler_waiting():
    """A schedule that waits has recorded nothing yet when our window comes."""
    net = model()
    seen = []
    with torch.profiler.profile(schedule=torch.profiler.schedule(wait=3, warmup=1, active=2, repeat=1), on_trace_ready=lambda p: seen.append(len(p.events()))) as profiler:
        train(net, torch.optim.AdamW(net.parameters()), lambda step: profiler.step())
    print('OWN', len(seen) == 1 and seen[0] > 50)


def own_profiler_later():
    """The program's own profiler starts after its fourth step, while ours records."""
    net = model()
    optimizer = torch.optim.AdamW(net.parameters())
    profiler = torch.profiler.profile()
    train(net, optimizer, lambda step: profiler.start() if step == 4 else None)
    profiler.stop()
    print('OWN', len(profiler.events()) > 50)


def own_profiler_before():
    """A look at the costs before training, finished long before ours starts, is no reason to step aside."""
    net = model()
    with torch.autograd.profiler.profile():
        loss(net, 0)
    train(net, torch.optim.AdamW(net.parameters()))


def compiled_step():
    net = model()
    optimizer = torch.optim.AdamW(net.parameters())
    compiled = torch.compile(optimizer.step, backend='eager')
    for step in range(1, STEPS + 1):
        optimizer.zero_grad()
        loss(net, step).backward()
        compiled()


def other_hooks():
    """A hook of the program, made after ours, runs after ours and sees the arguments it would see without us."""
    from torch.optim.optimizer import register_optimizer_step_post_hook
    seen = []
    register_optimizer_step_post_hook(lambda optimizer, args, kwargs: seen.append(dict(kwargs)))
    net = model()
    train(net, torch.optim.AdamW(net.parameters()))
    print('HOOKS', len(seen), set(map(str, seen)))


def fails():
    net = model()

    def after(step):
        if step == 4:
            raise RuntimeError('out of luck')

    train(net, torch.optim.AdamW(net.parameters()), after)


def step_fails():
    """An error inside a step that the program survives: that step does not count."""
    net = model()
    optimizer = torch.optim.LBFGS(net.parameters())

    def broken():
        raise ValueError('this time not')

    for step in range(STEPS + 1):
        try:
            optimizer.step(broken if step == 0 else lambda: loss(net, step))
        except ValueError:
            pass


def killed():
    net = model()
    train(net, torch.optim.AdamW(net.parameters()), lambda step: os.kill(os.getpid(), 9) if step == 4 else None)


def interrupted():
    """Ctrl+C while a trace is being written ends the program as it would without us."""
    import signal
    net = model()
    from torch.profiler import profile
    export = profile.export_chrome_trace

    def slow(self, path):
        os.kill(os.getpid(), signal.SIGINT)
        export(self, path)

    profile.export_chrome_trace = slow
    train(net, torch.optim.AdamW(net.parameters()), lambda step: time.sleep(0.2 if step > 5 else 0))
    print('NOT INTERRUPTED')


def child():
    """A program started after the first step has our variables no more; the user's own path entries stay."""
    import subprocess
    net = model()

    def after(step):
        if step == 2:
            subprocess.run([sys.executable, '-c', 'import os, sys; print("CHILD", os.environ.get("FUSELENS_CAPTURE"), os.environ.get("PYTHONPATH"), "fuselens" in str(sys.meta_path))'], check=True)

    train(net, torch.optim.AdamW(net.parameters()), after)


def left_behind():
    """Once it is over, the classes are as they were."""
    from torch.optim import optimizer as module
    from torch.autograd import profiler as low
    from torch.profiler import profiler as high
    names = [(module.Optimizer, '__init__'), (torch.optim.AdamW, 'step'), (low.profile, '__enter__'), (low.profile, '__exit__'), (high.profile, 'start'), (high.profile, 'stop'), (torch.amp.GradScaler, 'step')]
    net = model()
    train(net, torch.optim.AdamW(net.parameters()))
    ours = [name for one, name in names if 'fuselens' in one.__dict__[name].__code__.co_filename]
    print('LEFT', ours, len(module._global_optimizer_post_hooks), os.environ['CASE_HELPER'] in sys.path, 'FUSELENS_CAPTURE' in os.environ)


def spawned():
    """Ranks that a program starts itself: the rank is known from the process group alone."""
    torch.multiprocessing.spawn(_rank, (2, os.environ['CASE_STORE']), nprocs=2)


def _rank(rank, world, store):
    torch.distributed.init_process_group('gloo', init_method='file://' + store, rank=rank, world_size=world)
    net = nn.parallel.DistributedDataParallel(model())
    train(net, torch.optim.AdamW(net.parameters()))
    torch.distributed.destroy_process_group()


def ranks():
    """Two ranks of torchrun."""
    torch.distributed.init_process_group('gloo')
    net = nn.parallel.DistributedDataParallel(model())
    train(net, torch.optim.AdamW(net.parameters()))
    torch.distributed.destroy_process_group()


def npu():
    """Needs a torch_npu on the path."""
    import torch_npu  # noqa: F401
    plain()


def no_hooks():
    """As before PyTorch 2: optimizers have no hooks, and each class a `step` of its own."""
    import importlib
    from torch.optim import optimizer as module
    del module.register_optimizer_step_post_hook
    folder = os.environ['CASE_HELPER']
    os.environ['FUSELENS_CAPTURE'] = os.environ['CASE_OUTPUT']
    sys.path.insert(0, folder)
    importlib.import_module('fuselens_capture').begin(module, folder, os.environ['CASE_OUTPUT'])
    subclass()
    print('LEFT', 'fuselens' in torch.optim.AdamW.step.__code__.co_filename)


def path_seen():
    """What a program sees of its path entries before the first step."""
    print('PATH', os.environ['PYTHONPATH'] == os.environ['CASE_PATH'], os.environ['CASE_HELPER'] in sys.path)
    plain()
    print('THEN', os.environ.get('PYTHONPATH'))


if __name__ == '__main__':
    globals()[sys.argv[1]]()
    print('DONE')
