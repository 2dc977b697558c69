"""Records chosen optimizer steps of a training script that knows nothing of it. Standard library only; torch is the program's own.

`begin` is called by `sitecustomize.py` once the program has imported `torch.optim.optimizer`. What is recorded is said by
`settings.json` beside `sitecustomize.py`; where it goes, by the environment variable FUSELENS_CAPTURE as it was at the start.
"""
import json
import os

from .capture import Capture
from .notes import say


def begin(optimizer_module, folder, output):
    """Arms the recording into `output`. `folder` is the entry of PYTHONPATH, taken out of the environment with the first step."""
    with open(os.path.join(folder, 'settings.json'), encoding='utf-8') as file:
        settings = json.load(file)
    windows = settings['windows']
    ends = [0] + [last for _, last in windows]
    if not all(before < first <= last for before, (first, last) in zip(ends, windows)):
        say(None, 'steps %s are no ranges of steps in order: nothing will be recorded' % (windows,))
        return None
    capture = Capture(settings, output, folder)
    capture.install(optimizer_module)
    return capture
