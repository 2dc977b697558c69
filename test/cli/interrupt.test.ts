import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildWorker } from '../node/buildWorker';
import { temporaryFolder } from './runCli';

const repository = path.resolve(import.meta.dirname, '../..');
/** So many that reading and analysing take seconds. */
const KERNELS = 150_000;

describe('Ctrl+C', () => {
  const folder = temporaryFolder();
  let trace: string;
  let script: string;
  before(async function () {
    // What a process has read so far is asked of /proc.
    if (!existsSync('/proc/self/io')) {
      this.skip();
    }
    script = await buildWorker(path.join(repository, 'src/cli/main.ts'));
    trace = folder.path('large.pt.trace.json');
    const file = createWriteStream(trace);
    file.write('{"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1}, "traceEvents": [\n');
    for (let i = 0; i < KERNELS; i++) {
      const launch = `{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": ${i * 10}, "dur": 2, "args": {"correlation": ${i}}},\n`;
      file.write(`${launch}{"ph": "X", "cat": "kernel", "name": "kernel_${i % 97}_${i % 89}", "pid": 0, "tid": 7, "ts": ${i * 10 + 5}, "dur": 4, "args": {"device": 0, "stream": 7, "correlation": ${i}}},\n`);
    }
    file.end('{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 7, "tid": 7, "ts": 0, "dur": 2000000}]}\n');
    await once(file, 'finish');
  });

  /** Sends the signal once the process has read `bytes` of it all, and gives what was left of it. */
  async function interrupted(args: readonly string[], bytes: number, signal: 'SIGINT' | 'SIGTERM' = 'SIGINT'): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
    const child = spawn(process.execPath, [script, ...args], { cwd: repository, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, XDG_CACHE_HOME: folder.path('cache') } });
    const said = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => { said.out += chunk.toString(); });
    child.stderr.on('data', (chunk: Buffer) => { said.err += chunk.toString(); });
    const ended = once(child, 'exit') as Promise<[number | null]>;
    const read = (): number => {
      try {
        return Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${child.pid}/io`, 'utf8'))?.[1]);
      } catch {
        return Infinity;
      }
    };
    // Looked at often: it is done a second later.
    for (const end = Date.now() + 60_000; read() <= bytes && Date.now() < end;) {
      await sleep(5);
    }
    assert.equal(child.exitCode, null, 'it was done before it could be interrupted');
    child.kill(signal);
    const [code] = await ended;
    return { code, ...said };
  }

  it('ends a command at once while it reads and while it analyses: one line, no output', async () => {
    const size = statSync(trace).size;
    const stopped = { code: 130, out: '', err: 'fuselens: stopped.\n' };
    assert.ok(size > 30e6);
    assert.deepEqual(await interrupted(['analyze', trace, '--json', '--no-cache'], size * 0.6), stopped);
    assert.deepEqual(await interrupted(['analyze', trace, '--json', '--no-cache'], size + 5e6), stopped);
    assert.deepEqual(await interrupted(['compare', trace, trace, '--json', '--no-cache', '--lang', 'zh-cn'], size * 1.4), { ...stopped, err: 'fuselens: 已停止。\n' });
    assert.deepEqual(await interrupted(['export', trace, '--perfetto', folder.path('out.json')], size * 0.6, 'SIGTERM'), { ...stopped, code: 143 });
  });
});
