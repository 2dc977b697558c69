"""What a rank tells: lines on stderr, and one small file that the inspection after the run reads."""
import json
import os
import platform
import socket
import sys
import time


def say(rank, text):
    """One line, in one write: ranks share the pipe."""
    try:
        sys.stderr.write('[fuselens] %s%s\n' % ('' if rank is None else 'rank %d: ' % rank, text))
        sys.stderr.flush()
    except Exception:  # noqa: BLE001
        # Closed, None, or the program's own object: nobody to tell is no reason to record nothing.
        pass


def rank_and_world():
    """Rank and number of ranks: from torch.distributed where it is up, else from the launcher's variables, else 0 of 1."""
    distributed = sys.modules.get('torch.distributed')
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return (_number(('RANK', 'SLURM_PROCID', 'OMPI_COMM_WORLD_RANK', 'PMI_RANK'), 0),
            _number(('WORLD_SIZE', 'SLURM_NTASKS', 'OMPI_COMM_WORLD_SIZE', 'PMI_SIZE'), 1))


def _number(names, otherwise):
    for name in names:
        value = os.environ.get(name, '').strip()
        if value.isdigit():
            return int(value)
    return otherwise


class Notes:
    """`<output>/fuselens-rank<R>-<pid>.json`, always whole: written under another name and renamed."""

    def __init__(self, output, settings):
        self._folder = output
        self._told = False
        self._file = None
        self.fields = {
            'version': 2, 'asked': settings['windows'], 'host': socket.gethostname(), 'pid': os.getpid(), 'python': platform.python_version(),
            'program': sys.argv[0] if getattr(sys, 'argv', None) else '',
        }

    def write(self, state, **fields):
        self.fields.update(fields, state=state, time=time.time())
        name = 'fuselens-rank%d-%d.json' % (self.fields.get('rank', 0), self.fields['pid'])
        hidden = os.path.join(self._folder, '.' + name)
        try:
            os.makedirs(self._folder, exist_ok=True)
            with open(hidden, 'w', encoding='utf-8') as file:
                json.dump(self.fields, file)
            os.replace(hidden, os.path.join(self._folder, name))
            # A rank may be known only once its process group is up.
            if self._file not in (None, name):
                os.remove(os.path.join(self._folder, self._file))
            self._file = name
        except OSError as error:
            if not self._told:
                self._told = True
                say(self.fields.get('rank'), 'cannot write into %s: %s' % (self._folder, error))
