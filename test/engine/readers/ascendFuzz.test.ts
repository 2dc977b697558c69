import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import type { RankData } from '../../../src/engine/profile/columns';
import { UnreadableInput } from '../../../src/engine/profile/problems';
import { hasSharedData, sharedPath } from '../../sharedData';
import { find, outputOf, readSource } from './ascendSupport';

const WHOLE = sharedPath('ascend', 'msinsight-alexnet', 'text', 'level1', 'rank0_ascend_pt');

type Damage = { readonly kind: 'none' | 'cut' | 'bytes' | 'hole' | 'doubled' | 'lost' | 'zeros'; readonly at: number; readonly length: number };

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom('none', 'cut', 'bytes', 'hole', 'doubled', 'lost', 'zeros'), at: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.integer({ min: 1, max: 5000 }),
});

function damaged(bytes: Buffer, { kind, at, length }: Damage): Buffer | undefined {
  const from = Math.floor(at * bytes.length);
  const to = Math.min(bytes.length, from + length);
  switch (kind) {
    case 'none':
      return bytes;
    case 'cut':
      return bytes.subarray(0, from);
    case 'bytes':
      // Bytes that mean something to one of the formats, spread over the file.
      [34, 44, 10, 13, 0, 255, 123, 125, 91, 93, 92].forEach((byte, i) => (bytes[(from + i * 977) % bytes.length] = byte));
      return bytes;
    case 'hole':
      return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
    case 'doubled':
      return Buffer.concat([bytes.subarray(0, from), bytes]);
    case 'lost':
      return undefined;
    case 'zeros':
      return bytes.fill(0, from, to);
  }
}

function assertSound({ deviceEvents: device, hostEvents: host, streams, steps, threads }: RankData): void {
  for (let row = 0; row < device.count; row++) {
    assert.ok(!(device.durationNs[row] < 0) && device.stream[row] < streams.length && device.step[row] < steps.length && device.op[row] < host.count && device.launch[row] < host.count);
    assert.ok(row === 0 || !(device.startNs[row] < device.startNs[row - 1]));
  }
  for (let row = 0; row < host.count; row++) {
    assert.ok(host.thread[row] < threads.length && host.forward[row] < host.count);
  }
}

describe('damaged Ascend folders', () => {
  it('never throw, and give columns that hold together', async function () {
    if (!hasSharedData()) {
      this.skip();
    }
    const folders = ['', 'ASCEND_PROFILER_OUTPUT'];
    const files = folders.flatMap((folder) => readdirSync(path.join(WHOLE, folder), { withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => path.join(folder, entry.name)));
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: files.length, maxLength: files.length }), fc.constantFrom(777, 4096, 1 << 20), async (damages, chunkSize) => {
        const root = mkdtempSync(path.join(os.tmpdir(), 'fuselens-fuzz-'));
        try {
          mkdirSync(outputOf(root, ''), { recursive: true });
          files.forEach((file, i) => {
            const bytes = damaged(readFileSync(path.join(WHOLE, file)), damages[i]);
            if (bytes !== undefined) {
              writeFileSync(path.join(root, file), bytes);
            }
          });
          for (const source of (await find(root)).sources.filter(({ read }) => read !== undefined)) {
            try {
              assertSound((await readSource(source, chunkSize)).data);
            } catch (error) {
              assert.ok(error instanceof UnreadableInput, String(error));
            }
          }
        } finally {
          rmSync(root, { recursive: true, force: true });
        }
      }),
      { seed: Date.now() % 2 ** 31, numRuns: 25, interruptAfterTimeLimit: 40_000 },
    );
  });
});
