import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { checkRunSettings } from '../../src/run/checkRunSettings';
import { detectRuns } from '../../src/run/detectRuns';
import { shellCommands } from '../../src/run/shellWords';

const found = (file: string, text: string): readonly (readonly [string, number, object])[] => detectRuns(file, text).map(({ name, line, settings }) => [name, line, settings]);

describe('runs found in a workspace', () => {
  it('come from torchrun lines of shell scripts, with their variables and continuation lines', () => {
    const script = [
      '#!/bin/bash', '# torchrun --nproc_per_node 4 commented.py', 'NPROC=${NPROC:-8}', 'export CONFIG="configs/a b.yaml"', 'OMP_NUM_THREADS=1 torchrun --nproc_per_node=$NPROC \\', '    --master_port 29501 --nnodes=1 \\', "    train.py --config \"$CONFIG\" --name 'it''s' --lr 1e-5 > log.txt 2>&1 &",
      'python3 -m torch.distributed.run --nproc-per-node 2 -m pkg.train --steps 3', 'torchrun --nnodes 2 --node-rank $RANK --rdzv-endpoint $HOST:29500 sft.py', 'echo torchrun x.py', 'torchrun --nproc_per_node 2 eval.py $EXTRA', 'torchrun $(ls *.py)', 'cd sub && torchrun late.py; torchrun late.py',
    ].join('\n');
    assert.deepEqual(found('run.sh', script), [
      ['train.py', 5, { launcher: 'torchrun', command: 'train.py', args: ['--config', 'configs/a b.yaml', '--name', 'its', '--lr', '1e-5'], procs: 8, env: { OMP_NUM_THREADS: '1' } }],
      ['pkg.train', 8, { launcher: 'torchrun', command: '-m', args: ['pkg.train', '--steps', '3'], procs: 2 }],
      ['sft.py', 9, { launcher: 'torchrun', command: 'sft.py', nodes: 2 }],
      ['late.py', 13, { launcher: 'torchrun', command: 'late.py' }],
    ]);
  });

  it('come from the code of a README, not from its prose', () => {
    const readme = ['# Training', '', 'Use torchrun train.py to train.', '', '```bash', '# one node', '$ torchrun --standalone --nproc_per_node 8 train.py --fast', '```', '', '    torchrun indented.py', ''].join('\n');
    assert.deepEqual(found('docs/README.md', readme), [
      ['train.py', 7, { launcher: 'torchrun', command: 'train.py', args: ['--fast'], procs: 8 }],
      ['indented.py', 10, { launcher: 'torchrun', command: 'indented.py' }],
    ]);
  });

  it('come from launch.json, with its comments', () => {
    const launch = `{
  // debug
  "configurations": [
    { "name": "Train", "type": "debugpy", "request": "launch", "module": "torch.distributed.run", "args": ["--nproc_per_node=2", "\${workspaceFolder}/train.py", "--debug"], "env": { "A": "1" }, "cwd": "\${workspaceFolder}/sub" },
    { "name": "By path", "type": "python", "program": "/usr/bin/torchrun", "args": "--nproc_per_node 4 train.py 'a b'" },
    { "name": "Plain", "type": "debugpy", "program": "train.py" },
    { "name": "Node", "type": "node", "module": "torch.distributed.run", "args": ["x.py"] },
  ],
}`;
    assert.deepEqual(found('.vscode/launch.json', launch), [
      ['Train', 4, { launcher: 'torchrun', command: '${workspaceFolder}/train.py', args: ['--debug'], procs: 2, env: { A: '1' }, workdir: '${workspaceFolder}/sub' }],
      ['By path', 5, { launcher: 'torchrun', command: 'train.py', args: ['a b'], procs: 4 }],
    ]);
    assert.deepEqual(found('launch.json', '{"configurations": [3, null, {"type": "debugpy", "module": "torch.distributed.run", "args": 3}]'), []);
  });

  it('come from XTuner configurations of both generations', () => {
    const sft = 'from xtuner.v1.config import AdamWConfig\nfrom xtuner.v1.train import TrainerConfig\n\ntrainer = TrainerConfig(\n    load_from="m",\n)\n';
    assert.deepEqual(found('examples/v1/config/sft_tiny.py', sft), [['XTuner examples/v1/config/sft_tiny.py', 4, { launcher: 'torchrun', command: '-m', args: ['xtuner.v1.train.cli.sft', '--config', 'examples/v1/config/sft_tiny.py'], procs: 8 }]]);
    assert.deepEqual(found('c/rl.py', sft.replace('= TrainerConfig', '= RLColocateTrainerConfig'))[0][2], { launcher: 'ray', command: 'python', args: ['-m', 'xtuner.v1.train.cli.rl', '--config', 'c/rl.py'] });
    assert.deepEqual(found('old.py', 'from xtuner.engine.runner import TrainLoop\ntrain_cfg = dict(type=TrainLoop, max_epochs=1)\n')[0][2], { launcher: 'command', command: 'xtuner', args: ['train', 'old.py'], env: { NPROC_PER_NODE: '8' } });
    assert.deepEqual(found('model.py', 'from xtuner.v1.model import X\n\nclass Y(X):\n    trainer = 3\n'), []);
  });

  it('are settings that pass our own check, whatever the text; nothing throws or hangs', () => {
    const pieces = ['torchrun ', '--nproc_per_node ', '8', ' train.py', '\\\n', '"', "'", '$', '${', '}', '$(', '`', ';', '&', '|', '>', '<', '#', ' ', '\n', 'A=1 ', 'export ', '--nnodes=3', ' -m ', 'mod'];
    fc.assert(fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (parts) => {
      for (const { settings } of detectRuns('a.sh', parts.join(''))) {
        const checked = checkRunSettings(settings);
        // More nodes than one need their names, which nobody can guess: the check tells.
        assert.ok(checked.ok || checked.problems.every(({ path, code }) => path[0] === 'nodes' || (path[0] === 'command' && code.endsWith('empty'))), JSON.stringify(settings));
      }
    }), { seed: 11, numRuns: 3000 });
    assert.deepEqual(detectRuns('big.sh', '\\\n'.repeat(200_000)), []);
    assert.deepEqual(detectRuns('big.sh', `torchrun ${'"'.repeat(200_001)}`), []);
  });

  it('have the words that a shell makes of them', () => {
    const words = ["plain", "'a b'", '"c d"', 'e\\ f', '"g\\"h"', "i'j'k", "''", '"$V"', '${V}x', '${W:-d}', '"${W:-e f}"', '"\\a"', '1e-5', '--a=b', "'$V'"];
    fc.assert(fc.property(fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 6 }), (chosen) => {
      const line = `V=val\nshow ${chosen.join(' ')}\n`;
      const said = execFileSync('sh', ['-c', `show() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${line}`], { encoding: 'utf8' }).split('\0').slice(0, -1);
      assert.deepEqual(shellCommands(line)[0].words.slice(1), said);
    }), { seed: 3, numRuns: 60 });
  });
});
