"""Training programs that do to their process what the capture helper least expects: `python hostile_cases.py CASE`. Each ends with "trained N" where it is meant to."""
import os
import sys
import threading

STEPS = 7


def train(at=lambda step: None, steps=STEPS):
    """Trains a small model, and calls `at(step)` before each step's end."""
    import torch
    from torch import nn
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(net.parameters())
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        net(torch.randn(4, 8)).square().mean().backward()
        at(step)
        optimizer.step()
    print('trained %d' % steps, flush=True)


def _at(when, action):
    return lambda step: action() if step == when else None


def fork_before_torch():
    """A child that trains as well, as launchers by fork do."""
    child = os.fork()
    train()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def fork_and_end_normally():
    """A child that leaves as a program does, with everything that runs at exit."""
    def fork():
        for code in 0, 7:
            child = os.fork()
            if child == 0:
                print('child', flush=True)
                sys.exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code
    train(_at(4, fork))
    fork()


def fork_between():
    """A child that goes on training after the fork; it must not end the parent's recording."""
    def fork():
        child = os.fork()
        if child == 0:
            return
        os.waitpid(child, 0)
    train(_at(2, fork))


def own_excepthook():
    def hook(kind, error, traceback):
        sys.stderr.write('own hook: %s\n' % error)
    sys.excepthook = hook

    def fail():
        raise RuntimeError('at step 4')
    train(_at(4, fail))


def stripped():
    """Environment, path and loaded helpers are taken away: before torch what can be, and once training has begun all of it."""
    os.environ.clear()
    sys.path = [entry for entry in sys.path if 'packages' in entry or 'lib' in entry]
    import torch  # noqa: F401

    def clear():
        del sys.path[:]
        sys.path_importer_cache.clear()
        for name in [name for name in sys.modules if name.startswith('fuselens')]:
            del sys.modules[name]
    train(_at(1, clear))


def finders_replaced():
    """Whoever puts finders of their own in place takes ours out."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if getattr(finder, '__module__', '').startswith('_frozen') or isinstance(finder, type)]
    train()


def leaves_at_once():
    train(_at(4, lambda: os._exit(3)))


def in_a_thread():
    """torch is imported, the model made and trained on a thread."""
    thread = threading.Thread(target=train)
    thread.start()
    thread.join()


def imported_by_two_threads():
    """Both import it at the same time; one trains."""
    def load():
        import torch.optim  # noqa: F401
    threads = [threading.Thread(target=load) for _ in range(2)]
    for thread in threads:
        thread.start()
    train()
    for thread in threads:
        thread.join()


def made_here_trained_there():
    """The optimizer is made on the main thread, its steps run on another."""
    import torch
    net = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def steps():
        for _ in range(STEPS):
            net(torch.randn(4, 8)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    thread = threading.Thread(target=steps)
    thread.start()
    thread.join()
    print('trained %d' % STEPS, flush=True)


def no_stderr():
    """As for a service without a terminal."""
    sys.stderr = None
    train()


def stderr_that_throws():
    # Without NumPy torch warns on import, which would end this program whether it is recorded or not.
    import torch  # noqa: F401

    class Broken(object):
        def write(self, text):
            raise RuntimeError('no')

        def flush(self):
            raise RuntimeError('no')
    sys.stderr = Broken()
    train()


def files_closed():
    train(_at(4, lambda: os.closerange(3, 256)))


def folder_gone():
    """The working directory is removed while it runs."""
    import shutil
    import tempfile

    def go():
        place = tempfile.mkdtemp()
        os.chdir(place)
        shutil.rmtree(place)
    train(_at(1, go))


def starts_itself_anew():
    """Replaces itself by the same program after two steps, once."""
    if os.environ.get('CASE_AGAIN') is None:
        os.environ['CASE_AGAIN'] = '1'
        train(_at(2, lambda: os.execv(sys.executable, [sys.executable] + sys.argv)))
    train()


def traced():
    """A debugger or a coverage tool that looks at every line, and expects its own trace function to stay."""
    def trace(frame, event, argument):
        return trace
    sys.settrace(trace)
    train()
    assert sys.gettrace() is trace


if __name__ == '__main__':
    globals()[sys.argv[1]]()
