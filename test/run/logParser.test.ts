import assert from 'node:assert/strict';
import fc from 'fast-check';
import { LogParser, type LogEvent } from '../../src/run/logParser';
import { progressOf } from '../../src/run/progressLine';

/** What torch 2.13's torchrun printed for two ranks that failed, with the paths changed; ranks here one after the other. */
const TORCHRUN = `W1130 01:59:41.388000 5212 torch/distributed/run.py:874] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default
step 1 loss 2.500
step 2 loss 1.250
step 2 loss 1.250
[rank0]: Traceback (most recent call last):
[rank0]:   File "/job/pkg/layers.py", line 3, in norm
[rank0]:     return {}['eps']
[rank0]:            ~~^^^^^^^
[rank0]: KeyError: 'eps'

[rank0]: The above exception was the direct cause of the following exception:

[rank0]: Traceback (most recent call last):
[rank0]:   File "/job/train.py", line 10, in <module>
[rank0]:     norm(None, rank)
[rank0]:   File "/job/pkg/layers.py", line 5, in norm
[rank0]:     raise ValueError(f'no eps on rank {rank}') from error
[rank0]: ValueError: no eps on rank 0
[rank1]: Traceback (most recent call last):
[rank1]:   File "/job/pkg/layers.py", line 3, in norm
[rank1]:     return {}['eps']
[rank1]: KeyError: 'eps'

[rank1]: The above exception was the direct cause of the following exception:

[rank1]: Traceback (most recent call last):
[rank1]:   File "/job/train.py", line 10, in <module>
[rank1]:     norm(None, rank)
[rank1]:   File "/job/pkg/layers.py", line 5, in norm
[rank1]:     raise ValueError(f'no eps on rank {rank}') from error
[rank1]: ValueError: no eps on rank 1
E1130 01:59:46.175000 5212 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) local_rank: 0 (pid: 5710) of binary: /usr/bin/python3
Traceback (most recent call last):
  File "/usr/bin/torchrun", line 8, in <module>
    sys.exit(main())
             ^^^^^^
  File "/usr/lib/python3/dist-packages/torch/distributed/launcher/api.py", line 383, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-11-30_01:59:46
  host      : localhost
  rank      : 1 (local_rank: 1)
  exitcode  : -9 (pid: 5711) 
  error_file: <N/A>
  traceback : Signal 9 (SIGKILL) received by PID 5711
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-30_01:59:46
  host      : localhost
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 5710) 
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
`;

function parse(...pieces: readonly string[]): readonly LogEvent[] {
  const parser = new LogParser();
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

const tracebacks = (events: readonly LogEvent[]): readonly Extract<LogEvent, { kind: 'traceback' }>[] => events.filter((event) => event.kind === 'traceback');

describe('the log parser', () => {
  it('reads chained tracebacks of two ranks and the summary of torchrun', () => {
    const events = parse(TORCHRUN);
    assert.deepEqual(tracebacks(events).map(({ rank, traceback: { message, frames, causes } }) => [rank, message, frames.map(({ file, line }) => `${file}:${line}`), causes.map((cause) => cause.message)]).sort(), [
      [undefined, 'torch.distributed.elastic.multiprocessing.errors.ChildFailedError:', ['/usr/bin/torchrun:8', '/usr/lib/python3/dist-packages/torch/distributed/launcher/api.py:383'], []],
      [0, 'ValueError: no eps on rank 0', ['/job/train.py:10', '/job/pkg/layers.py:5'], ["KeyError: 'eps'"]],
      [1, 'ValueError: no eps on rank 1', ['/job/train.py:10', '/job/pkg/layers.py:5'], ["KeyError: 'eps'"]],
    ]);
    assert.deepEqual(events.flatMap((event) => (event.kind === 'rankFailure' ? [event.failure] : [])), [{ rank: 1, first: false, host: 'localhost', exit: -9 }, { rank: 0, first: true, host: 'localhost', exit: 1 }]);
    assert.deepEqual(events.flatMap((event) => (event.kind === 'progress' ? [[event.step, event.loss]] : [])), [[1, 2.5], [2, 1.25], [2, 1.25]]);
  });

  it('says the same wherever the stream is cut, and with lines that end in CR LF', () => {
    const whole = parse(TORCHRUN);
    const seed = 20261130;
    fc.assert(fc.property(fc.array(fc.nat(TORCHRUN.length), { maxLength: 12 }), fc.boolean(), (cuts, windows) => {
      const text = windows ? TORCHRUN.replaceAll('\n', '\r\n') : TORCHRUN;
      const at = [0, ...[...cuts].sort((a, b) => a - b), text.length];
      assert.deepEqual(parse(...at.slice(1).map((end, i) => text.slice(at[i], end))), whole);
    }), { seed, numRuns: 200 });
  });

  it('tells interleaved ranks apart by their prefix', () => {
    const [one, other] = [0, 1].map((rank) => TORCHRUN.split('\n').filter((line) => line.startsWith(`[rank${rank}]`)));
    const woven = Array.from({ length: Math.max(one.length, other.length) }, (_, i) => [one[i], other[i]]).flat().filter((line) => line !== undefined).join('\n');
    assert.deepEqual(tracebacks(parse(woven)).map(({ rank, traceback }) => [rank, traceback.message, traceback.causes.length]).sort(), [[0, 'ValueError: no eps on rank 0', 1], [1, 'ValueError: no eps on rank 1', 1]]);
  });

  it('reads what srun, Ray, loggers, colours, syntax errors and exception groups make of a traceback', () => {
    const plain = ['Traceback (most recent call last):', '  File "/job/train.py", line 3, in main', '    step()', 'RuntimeError: boom'];
    const forms = {
      srun: plain.map((line) => `2: ${line}`),
      both: plain.map((line) => ` 2: [rank2]: ${line}`),
      ray: plain.map((line) => `(train pid=4711, ip=10.0.0.3) ${line}`),
      logger: [`[2026-01-01 00:00:00][ERROR] failed: ${plain[0]}`, ...plain.slice(1)],
      coloured: plain.map((line) => `\u001b[36m${line}\u001b[0m`),
      group: ['  + Exception Group Traceback (most recent call last):', '  |   File "/job/train.py", line 9, in main', '  |     run()', '  | ExceptionGroup: many (1 sub-exception)', '  +-+---------------- 1 ----------------', ...plain.map((line) => `    | ${line}`), '    +------------------------------------'],
      summary: ['  traceback : Traceback (most recent call last):', '    File "/job/train.py", line 3, in main', '      step()', '  RuntimeError: boom', ''],
    };
    const found = Object.fromEntries(Object.entries(forms).map(([form, lines]) => [form, tracebacks(parse(lines.join('\n'))).map(({ rank, traceback: { message, frames } }) => [rank, message, frames.length])]));
    assert.deepEqual(found, {
      srun: [[2, 'RuntimeError: boom', 1]], both: [[2, 'RuntimeError: boom', 1]], ray: [[undefined, 'RuntimeError: boom', 1]], logger: [[undefined, 'RuntimeError: boom', 1]], coloured: [[undefined, 'RuntimeError: boom', 1]],
      group: [[undefined, 'ExceptionGroup: many (1 sub-exception)', 1], [undefined, 'RuntimeError: boom', 1]], summary: [[undefined, 'RuntimeError: boom', 1]],
    });
    const syntax = parse(`  File "/job/train.py", line 3\n    def f(\n         ^\nSyntaxError: '(' was never closed\n`);
    assert.deepEqual(tracebacks(syntax).map(({ traceback }) => [traceback.message, traceback.frames]), [["SyntaxError: '(' was never closed", [{ file: '/job/train.py', line: 3, function: '' }]]]);
  });

  it('gives an exception in a pause, and the cause of one that never came', () => {
    const parser = new LogParser();
    const plain = 'Traceback (most recent call last):\n  File "/job/train.py", line 3, in main\n    step()\nRuntimeError: boom\n';
    assert.deepEqual(parser.push(plain), []);
    assert.deepEqual(tracebacks(parser.flush()).map(({ traceback }) => traceback.message), ['RuntimeError: boom']);
    assert.deepEqual(parser.flush(), []);
    parser.push(`${plain}\nDuring handling of the above exception, another exception occurred:\n\n`);
    assert.deepEqual(tracebacks(parser.push('step 4 loss 1.0\n')).map(({ traceback: { message, causes } }) => [message, causes]), [['RuntimeError: boom', []]]);
  });

  it('makes no traceback of text that only looks like the beginning of one', () => {
    assert.deepEqual(parse('Traceback (most recent call last):\n  File "/a.py", line 1, in f\n'), []);
    assert.deepEqual(parse('Traceback (most recent call last):\nnothing of the kind\n  File "a.py", line 1\n'), []);
    assert.deepEqual(parse('  File "a.py", line 1\nValueError: no\n'), []);
  });

  it('takes endless lines, deep recursion and a flood of prefixes in its stride', () => {
    const parser = new LogParser();
    const megabyte = 'step '.repeat(200_000);
    for (let i = 0; i < 30; i++) {
      assert.deepEqual(parser.push(megabyte), []);
    }
    parser.push('\nTraceback (most recent call last):\n');
    for (let i = 0; i < 100_000; i++) {
      parser.push(`  File "/job/deep.py", line ${i + 1}, in f\n    f()\n`);
    }
    const [event] = tracebacks([...parser.push('RecursionError: maximum recursion depth exceeded\n'), ...parser.end()]);
    assert.equal(event.traceback.frames.length, 200);
    assert.deepEqual([event.traceback.frames[0].line, event.traceback.frames.at(-1)?.line], [1, 100_000]);
    const flood = new LogParser();
    for (let rank = 0; rank < 20_000; rank++) {
      flood.push(`[rank${rank}]: Traceback (most recent call last):\n`);
    }
    assert.deepEqual(flood.end(), []);
  });
});

describe('progress lines', () => {
  // Each from the trainer's source or documentation, or what it printed.
  const lines: readonly (readonly [string, object | undefined])[] = [
    [`{'loss': 2.3451, 'grad_norm': 1.25, 'learning_rate': 5e-05, 'epoch': 0.1}`, { loss: 2.3451 }],
    [`{'loss': '2.3451', 'grad_norm': '1.25', 'epoch': '0.1'}`, { loss: 2.3451 }],
    [`{'eval_loss': 1.5, 'eval_runtime': 3.2, 'epoch': 1.0}`, undefined],
    [' 12%|█▏        | 12/100 [00:10<01:12,  1.22it/s]', { step: 12, totalSteps: 100 }],
    ['Loading checkpoint shards: 100%|██████████| 4/4 [00:10<00:00,  2.5s/it]', undefined],
    ['Map:  10%|█         | 1000/10000 [00:01<00:09, 1000.00 examples/s]', undefined],
    ['Epoch 0:  10%|█         | 10/100 [00:01<00:12,  7.45it/s, v_num=0, train_loss=2.30]', { step: 10, totalSteps: 100, loss: 2.3 }],
    ['Epoch 0:  10%|█         | 10/100 [00:01<00:12,  7.45it/s, loss=2.31, v_num=3]', { step: 10, totalSteps: 100, loss: 2.31 }],
    ['[XTuner][RANK 3][2026-01-01 00:00:00][INFO] Epoch 1 Step 3/100 data_time: 0.0210 lr: 1.000000e-05 time: 1.2345 text_tokens: 4096.0 total_loss: 1.234, reduced_llm_loss: 1.234 max_memory: 10.5 GB grad_norm: 1.1 tgs: 3318.0', { step: 3, totalSteps: 100, loss: 1.234 }],
    ['11/30 10:00:00 - mmengine - INFO - Iter(train) [  10/1000]  lr: 2.0000e-05  eta: 0:05:00  time: 1.2000  data_time: 0.0100  memory: 12345  loss: 1.6543', { step: 10, totalSteps: 1000, loss: 1.6543 }],
    ['Epoch(train) [1][ 10/100]  lr: 2.0000e-05  loss: 0.5', { step: 10, totalSteps: 100, loss: 0.5 }],
    [' [2026-01-01 00:00:00] iteration       10/    5000 | consumed samples:         2560 | elapsed time per iteration (ms): 1234.5 | learning rate: 1.000000E-05 | global batch size:   256 | lm loss: 1.034500E+01 | loss scale: 1.0 | grad norm: 1.234 | number of skipped iterations:   0 | number of nan iterations:   0 |', { step: 10, totalSteps: 5000, loss: 10.345 }],
    ['steps: 10 loss: 2.3400 iter time (s): 1.230 samples/sec: 12.300', { step: 10, loss: 2.34 }],
    ['[rank0] step:  10  loss:  7.1234  grad_norm:  1.2  memory:  2.1GiB(4%)  tps: 1,234', { step: 10, loss: 7.1234 }],
    ['iter 10: loss 2.3456, time 123.45ms, mfu 1.20%', { step: 10, loss: 2.3456 }],
    ['step 3 240 ms rank 1', { step: 3 }],
    ['step=3, loss=nan', { step: 3, loss: NaN }],
    ['Step 7: loss = -0.25', { step: 7, loss: -0.25 }],
    ['global_step=12 train_loss=1e-3', { step: 12, loss: 0.001 }],
    ['step 5 of 20, loss inf', { step: 5, totalSteps: 20, loss: Infinity }],
    ['step time: 1.2 s', undefined],
    ['40.0 ms/step', undefined],
    ['every step 3.5 ms', undefined],
    ['saved after steps 100 ms', undefined],
    ['loss scale: 65536.0', undefined],
    ['aux_loss: 0.5', undefined],
    ['  File "/job/step3.py", line 3, in step', undefined],
    ['lossless 3', undefined],
    ['next_step 4', undefined],
  ];

  it('give step, total and loss of the usual trainers, and nothing where nothing is said', () => {
    assert.deepEqual(lines.map(([line]) => [line, progressOf(line)]), lines.map(([line, expected]) => [line, expected]));
  });
});
