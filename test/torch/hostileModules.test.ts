import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { VerifyReport } from '../../src/protocol/verify';
import { cli } from '../cli/runCli';
import { HEADER, SPELLINGS } from '../engine/fuse/spellings';

const PYTHON = process.env.FUSELENS_PYTHON ?? 'python3';

interface Hostile {
  /** What the module does when it is imported, and what becomes of the verification: `verified`, or a failure's code and a part of its reason. */
  readonly does: string;
  readonly code: string;
  readonly says?: RegExp;
  readonly seconds?: number;
}

const MODULES: Readonly<Record<string, Hostile>> = {
  'never ends': { does: 'while True: pass', code: 'timeout', seconds: 20 },
  'never ends and heeds no signal': { does: 'import signal\nfor one in (1, 2, 15): signal.signal(one, signal.SIG_IGN)\nwhile True: pass', code: 'timeout', seconds: 20 },
  'floods both outputs, then ends': { does: 'import os\nfor _ in range(400):\n    os.write(1, b"x" * (1 << 20))\n    os.write(2, b"y" * (1 << 20))', code: 'verified' },
  'ends Python at once': { does: 'import os\nos._exit(7)', code: 'python-ended', says: /^7$/ },
  'raises SystemExit': { does: 'raise SystemExit("bye")', code: 'import-failed', says: /SystemExit: bye/ },
  'raises KeyboardInterrupt': { does: 'raise KeyboardInterrupt', code: 'import-failed', says: /^KeyboardInterrupt$/ },
  'crashes': { does: 'import ctypes\nctypes.string_at(0)', code: 'python-crashed', says: /^SIG(?:SEGV|BUS|ABRT)$/ },
  'forks': { does: 'import os\nos.fork()', code: 'verified' },
  'leaves a daemon': { does: 'import subprocess\nsubprocess.Popen(["sleep", "98765"], start_new_session=True)', code: 'verified' },
  'closes its output': { does: 'import os\nos.close(1)', code: 'verified' },
  'closes all files': { does: 'import os\nos.closerange(0, 64)', code: 'verified' },
  'deletes all modules': { does: 'import sys\nsys.modules.clear()', code: 'import-failed' },
  'replaces json': { does: 'import json\njson.dump = json.dumps = None', code: 'verified' },
  'recurses without an end': { does: 'import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\nf()', code: 'import-failed', says: /RecursionError/ },
  'waits for input': { does: 'input()', code: 'import-failed', says: /EOFError/ },
  'holds the end up by a thread': { does: 'import threading, time\nthreading.Thread(target=time.sleep, args=(9999,)).start()', code: 'verified' },
  'holds the end up by an exit handler': { does: 'import atexit, time\natexit.register(time.sleep, 9999)', code: 'verified' },
  'deletes its working folder': { does: 'import os, shutil\nshutil.rmtree(os.getcwd())', code: 'verified' },
  'writes into its working folder': { does: 'open("left.txt", "w").write("x")', code: 'verified' },
  'imports what is not there': { does: 'import no_such_network_package', code: 'import-missing', says: /no_such_network_package/ },
};

if (process.env.FUSELENS_TORCH === '1') {
  describe('modules that misbehave, under fuselens verify', function () {
    this.timeout(120_000);
    const root = mkdtempSync(path.join(os.tmpdir(), 'hostile-modules-'));
    // Their own, so that what other tests run meanwhile is not taken for left behind.
    const temporary = path.join(root, 'tmp');
    const outer = process.env.TMPDIR;
    before(() => {
      mkdirSync(temporary);
      process.env.TMPDIR = temporary;
    });
    after(() => {
      if (outer === undefined) {
        delete process.env.TMPDIR;
      } else {
        process.env.TMPDIR = outer;
      }
      rmSync(root, { recursive: true });
    });
    const commands = (): readonly string[] => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      } catch {
        return '';
      }
    });

    for (const [what, { does, code, says, seconds = 100 }] of Object.entries(MODULES)) {
      it(`one that ${what}: ${code}`, async () => {
        const folder = path.join(root, what.replaceAll(' ', '_'));
        mkdirSync(folder);
        const file = path.join(folder, 'model.py');
        const text = `${does}\n${HEADER}${SPELLINGS[0].python}`;
        writeFileSync(file, text);
        const untouched = statSync(file);
        const line = text.slice(0, text.indexOf('torch.rsqrt')).split('\n').length;
        const { out, err } = await cli(['verify', `${file}:${line}`, '--python', PYTHON, '--timeout', String(seconds), '--json']);
        assert.ok(out !== '', err);
        const { verdict, failure } = JSON.parse(out) as VerifyReport;
        assert.equal(failure === null ? verdict : failure.code, code, JSON.stringify(failure));
        if (says !== undefined) {
          assert.match(String(failure?.args['reason'] ?? failure?.args['exit'] ?? failure?.args['signal'] ?? failure?.args['module']), says);
        }
        // Nothing of it stays: no process, no file, and the user's file is as it was.
        assert.deepEqual(commands().filter((command) => command.includes('98765') || command.includes(temporary)), []);
        assert.deepEqual([readdirSync(folder), statSync(file).mtimeMs, readFileSync(file, 'utf8')], [['model.py'], untouched.mtimeMs, text]);
      });
    }
  });
}
