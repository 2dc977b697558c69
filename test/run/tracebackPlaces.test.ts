import assert from 'node:assert/strict';
import type { Traceback } from '../../src/run/tracebacks';
import { localFile, pathRules, tracebackPlaces, type PlaceOptions } from '../../src/run/tracebackPlaces';

const here = new Set(['/ws/train.py', '/ws/pkg/layers.py', '/ws/a/x/util.py', '/ws/b/x/util.py', '/lib2/pkg/extra.py']);
const options: PlaceOptions = {
  rules: pathRules({ launcher: 'torchrun', command: 'train.py', workdir: '/data/job/', exec: { prefix: ['docker'], path: '/workspace' } }, '/ws', '/mnt/real/job'),
  roots: ['/ws', '/lib2', '/ws/a', '/ws/b'],
  exists: (file) => here.has(file),
};
const traceback = (message: string, files: readonly (readonly [string, number])[], causes: Traceback['causes'] = []): Traceback => ({ message, frames: files.map(([file, line]) => ({ file, line, function: `f${line}` })), causes });

describe('places of tracebacks', () => {
  it('map paths of the host, of the container, of other mounts, and relative ones', () => {
    const files = ['/data/job/train.py', '/workspace/pkg/layers.py', '/mnt/real/job/train.py', 'train.py', './pkg/layers.py', '/home/u/elsewhere/pkg/layers.py', '/ws/train.py', 'C:\\work\\pkg\\layers.py'];
    assert.deepEqual(files.map((file) => localFile(file, options)), ['/ws/train.py', '/ws/pkg/layers.py', '/ws/train.py', '/ws/train.py', '/ws/pkg/layers.py', '/ws/pkg/layers.py', '/ws/train.py', '/ws/pkg/layers.py']);
  });

  it('map nothing that is not certain', () => {
    const files = ['<frozen runpy>', '<string>', '/usr/lib/python3.11/train.py', '/data/job/.venv/lib/python3.11/site-packages/pkg/layers.py', '/home/u/train.py', '/elsewhere/x/util.py', '/data/job/../../etc/passwd', '/data/jobs/train.py', '/data/job/gone.py'];
    assert.deepEqual(files.map((file) => localFile(file, options)), files.map(() => undefined));
  });

  it('take the innermost own frame, with calls and causes beside it', () => {
    const found = traceback('ValueError: no', [['/data/job/train.py', 10], ['/data/job/pkg/layers.py', 5], ['/usr/lib/python3.11/json/decoder.py', 355]], [{ message: "KeyError: 'eps'", frames: [{ file: '/data/job/pkg/layers.py', line: 3, function: 'norm' }] }]);
    assert.deepEqual(tracebackPlaces([{ rank: undefined, traceback: found }], options), [{
      file: '/ws/pkg/layers.py', line: 5, function: 'f5', message: 'ValueError: no', ranks: [],
      related: [{ file: '/ws/pkg/layers.py', line: 3, text: "KeyError: 'eps'" }, { file: '/ws/train.py', line: 10, text: 'f10' }],
    }]);
  });

  it('are one for all ranks that say the same, whatever numbers they say it with', () => {
    const on = (rank: number): { rank: number; traceback: Traceback } => ({ rank, traceback: traceback(`RuntimeError: CUDA error on cuda:${rank} at 0x7f${rank}`, [['/workspace/train.py', 4]]) });
    assert.deepEqual(tracebackPlaces([on(3), on(0), on(3), { rank: 1, traceback: traceback('ValueError: other', [['/workspace/train.py', 4]]) }], options).map(({ message, ranks }) => [message, ranks]), [['RuntimeError: CUDA error on cuda:3 at 0x7f3', [0, 3]], ['ValueError: other', [1]]]);
  });

  it('have none for torchrun saying that another process failed, or for code that is not here', () => {
    assert.deepEqual(tracebackPlaces([{ rank: undefined, traceback: traceback('torch.distributed.elastic.multiprocessing.errors.ChildFailedError:', [['/data/job/train.py', 1]]) }, { rank: 0, traceback: traceback('OSError: x', [['/opt/tool.py', 1]]) }], options), []);
  });
});
