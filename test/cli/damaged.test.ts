import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { hasSharedData, sharedPath } from '../sharedData';
import { holdContract } from './contract';
import { cli, temporaryFolder } from './runCli';

/** Damage as disks, copies and editors do it. */
const damage = fc.oneof(
  fc.record({ how: fc.constant('cut' as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ how: fc.constant('byte' as const), at: fc.double({ min: 0, max: 1, noNaN: true }), byte: fc.integer({ min: 0, max: 255 }) }),
  fc.record({ how: fc.constant('hole' as const), at: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ how: fc.constant('zeros' as const), at: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ how: fc.constant('twice' as const), at: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.integer({ min: 1, max: 400 }) }),
);

function damaged(bytes: Buffer, wounds: readonly (typeof damage extends fc.Arbitrary<infer T> ? T : never)[]): Buffer {
  let result = Buffer.from(bytes);
  for (const wound of wounds) {
    const at = Math.floor(wound.at * result.length);
    switch (wound.how) {
      case 'cut':
        result = result.subarray(0, at);
        break;
      case 'byte':
        if (at < result.length) {
          result[at] = wound.byte;
        }
        break;
      case 'hole':
        result = Buffer.concat([result.subarray(0, at), result.subarray(at + wound.length)]);
        break;
      case 'zeros':
        result.fill(0, at, Math.min(at + wound.length, result.length));
        break;
      case 'twice':
        result = Buffer.concat([result.subarray(0, at + wound.length), result.subarray(at)]);
        break;
    }
  }
  return result;
}

describe('damaged input through the command', () => {
  if (!hasSharedData()) {
    it.skip('need ../shared/data');
    return;
  }
  const folder = temporaryFolder();
  const inputs: readonly { readonly name: string; readonly source: string; readonly file: string }[] = [
    { name: 'a trace', source: 'hostile/s11-overlap-same-stream', file: 'trace.json' },
    { name: 'a compressed trace', source: 'hostile/s07-gzip-many-members', file: 'trace.json.gz' },
    { name: 'a kernel table', source: 'hostile/a01-ascend-csv-tabs-na-bom-crlf/hosty_5001_20250904121314151_ascend_pt', file: 'ASCEND_PROFILER_OUTPUT/kernel_details.csv' },
    { name: 'an Ascend trace', source: 'hostile/s09-string-timestamps', file: 'trace_view.json' },
    { name: 'a database', source: 'kineto/nsys-saxpy-mpi', file: 'saxpy-mpi-cuda_nsys_perlmutter0.sqlite' },
  ];
  for (const { name, source, file } of inputs) {
    it(`${name} either opens within the contract or is refused in one sentence`, async function () {
      this.timeout(300_000);
      const target = folder.path(path.basename(source));
      mkdirSync(target, { recursive: true });
      cpSync(sharedPath(source), target, { recursive: true });
      const original = readFileSync(sharedPath(source, file));
      await fc.assert(fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (wounds) => {
        writeFileSync(path.join(target, file), damaged(original, wounds));
        const { code, out, err } = await cli(['analyze', source.includes('_ascend_pt') ? target : path.join(target, file), '--json']);
        if (code === 0) {
          holdContract(JSON.parse(out));
          assert.equal(err, '');
        } else {
          assert.equal(code, 2);
          assert.match(err, /^fuselens: [^\n]+\n$/);
          assert.doesNotMatch(err, /\{\w+\}/);
        }
      }), { numRuns: name === 'a database' ? 15 : 60 });
    });
  }
});
