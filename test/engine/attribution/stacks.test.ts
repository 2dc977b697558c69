import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import Papa from 'papaparse';
import type { Parser } from 'web-tree-sitter';
import { explain, type Explanation } from '../../../src/engine/attribution/explain';
import { parseFrame } from '../../../src/engine/links/frames';
import { callStackOf } from '../../../src/engine/links/source';
import type { RankData } from '../../../src/engine/profile/columns';
import { ProblemList } from '../../../src/engine/profile/problems';
import { findAscendFolders } from '../../../src/engine/readers/ascendFolders';
import { nodeFilePort } from '../../../src/node/filePort';
import { sharedPath } from '../../sharedData';
import { isKernel, readTrace, truthCases, type TruthSample } from '../readers/kinetoTruth';
import { indexOf, pythonParser } from './parser';

const kernelsOf = (rank: RankData): number[] => Array.from({ length: rank.deviceEvents.count }, (_, row) => row).filter((row) => isKernel(rank, row));

describe('attribution by stack', () => {
  let parser: Parser;

  before(async () => {
    parser = await pythonParser();
  });

  const cases = truthCases().filter(({ truth }) => truth.python_source !== null || truth.call_stack_argument !== null);
  for (const { name, file, truth } of cases) {
    it(`gives the recorded frame in ${name}`, async function () {
      this.timeout(120_000);
      const { rank } = await readTrace(file);
      // Stamps of newer files count from `baseTimeNanoseconds`.
      const zeroNs = rank.baseNs - BigInt(truth.top_level.baseTimeNanoseconds ?? 0);
      const { origins, originOf } = explain(rank, { parser });
      const samples: readonly TruthSample[] = [...(truth.python_source?.samples ?? []), ...(truth.python_source === null ? truth.call_stack_argument?.samples ?? [] : [])];
      assert.ok(samples.length > 0);
      for (const sample of samples) {
        const row = kernelsOf(rank).find((kernel) => rank.strings.get(rank.deviceEvents.name[kernel]) === sample.kernel && Math.abs(Number(zeroNs + BigInt(Math.round(rank.deviceEvents.startNs[kernel]))) / 1000 - sample.ts_us) <= 0.3);
        assert.ok(row !== undefined, sample.kernel);
        const wanted = parseFrame(sample.innermost_user_frame ?? sample.innermost_frame ?? '');
        const origin = origins[originOf[row]];
        assert.deepEqual(origin === undefined ? undefined : { file: origin.file, line: origin.startLine, function: origin.function }, wanted);
        assert.equal(origin?.backward ?? false, sample.via !== undefined && sample.via !== 'direct');
      }
    });
  }

  it('reads stacks of AlexNet as Ascend wrote them', async function () {
    this.timeout(120_000);
    const folder = sharedPath('ascend', 'msinsight-alexnet', 'text', 'level1', 'rank0_ascend_pt');
    if (!existsSync(folder)) {
      this.skip();
    }
    const problems = new ProblemList();
    const port = nodeFilePort();
    const { sources } = await findAscendFolders(port, folder, { problems });
    const rank = await sources[0].read?.({ port, problems });
    assert.ok(rank !== undefined);
    const { origins, originOf } = explain(rank, { parser });
    // operator_details.csv names the stacks of each operator; the script's own frames are those outside any library folder.
    const table = Papa.parse<{ readonly Name: string; readonly 'Call Stack': string }>(readFileSync(path.join(folder, 'ASCEND_PROFILER_OUTPUT', 'operator_details.csv'), 'utf8'), { header: true, skipEmptyLines: true }).data;
    const framesOf = new Map<string, Set<string>>();
    for (const row of table) {
      const innermost = row['Call Stack'].split(';').map((frame) => frame.trim()).find((frame) => /^\/home\/devuser01\/imagenet_script\//.test(frame));
      if (innermost !== undefined) {
        framesOf.set(row.Name, (framesOf.get(row.Name) ?? new Set()).add(innermost));
      }
    }
    let checked = 0;
    kernelsOf(rank).forEach((row) => {
      const origin = origins[originOf[row]];
      if (origin !== undefined) {
        assert.match(origin.file, /(^|\/)(torchvision\/models\/alexnet|main)\.py$|^torch\//);
      }
      const stack = callStackOf(rank, row);
      if (stack?.innermostUser !== undefined) {
        const wanted = framesOf.get(rank.strings.get(rank.hostEvents.name[stack.op]));
        assert.ok(wanted !== undefined && wanted.has(stack.innermostUser), stack.innermostUser);
        assert.ok(origin !== undefined);
        checked++;
      }
    });
    assert.ok(checked > 50, `${checked} kernels with a stack`);
  });

  describe('to the expression', () => {
    let folder: string;

    before(async () => {
      folder = await mkdtemp(path.join(os.tmpdir(), 'fuselens-stacks-'));
    });

    after(() => rm(folder, { recursive: true, force: true }));

    const SOURCE = 'import torch\nimport torch.nn.functional as F\n\n\ndef norm(x, w):\n    v = x.pow(2).mean(-1, keepdim=True)\n    x = x * torch.rsqrt(v + 1e-6)\n    return w * x\n';
    const KERNELS = ['pow_tensor_scalar_kernel_impl', 'reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float>>>', 'vectorized_elementwise_kernel<4, at::native::CUDAFunctorOnSelf_add<float>>', 'rsqrt_kernel_cuda', 'elementwise_kernel<128, BinaryFunctor<float, float, float, MulFunctor<float>>>', 'elementwise_kernel<128, BinaryFunctor<float, float, float, MulFunctor<float>>>'];

    const trace = (frame: string): string => {
      const events: object[] = [{ ph: 'X', cat: 'python_function', name: frame, pid: 1, tid: 1, ts: 100, dur: 800, args: { 'Python id': 1, 'Python parent id': null } }];
      KERNELS.forEach((name, i) => {
        events.push({ ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: 110 + i * 20, dur: 5, args: { correlation: 10 + i } });
        events.push({ ph: 'X', cat: 'kernel', name, pid: 0, tid: 7, ts: 1000 + i * 20, dur: 10, args: { correlation: 10 + i, stream: 7, device: 0 } });
      });
      return JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: 'GPU' }], traceEvents: events });
    };

    const explained = async (frame: string, files: Readonly<Record<string, string>>, pathMap: Readonly<Record<string, string>> = {}): Promise<{ readonly rank: RankData; readonly explanation: Explanation }> => {
      const file = path.join(folder, 'trace.json');
      await writeFile(file, trace(frame));
      const { rank } = await readTrace(file);
      return { rank, explanation: explain(rank, { parser, sources: indexOf(parser, files), pathMap }) };
    };
    const linesFor = async (frame: string, files: Readonly<Record<string, string>>, pathMap?: Readonly<Record<string, string>>): Promise<readonly string[]> => {
      const { rank, explanation: { origins, originOf } } = await explained(frame, files, pathMap);
      return kernelsOf(rank).map((row) => origins[originOf[row]]).map((origin) => `${origin.file}:${origin.startLine}`);
    };

    it('aligns the kernels of the call with its function', async () => {
      assert.deepEqual(await linesFor('/container/app/pkg/norms.py(5): norm', { 'pkg/norms.py': SOURCE }), [6, 6, 7, 7, 7, 8].map((line) => `/project/pkg/norms.py:${line}`));
    });

    it('keeps the recorded line when the file is another or two fit, and says where the function stands when it was changed', async () => {
      const at = (place: string): readonly string[] => KERNELS.map(() => place);
      assert.deepEqual(await linesFor('/container/app/pkg/norms.py(5): norm', { 'other/norms.py': SOURCE }), at('/container/app/pkg/norms.py:5'));
      assert.deepEqual(await linesFor('/container/app/pkg/norms.py(5): norm', { 'a/pkg/norms.py': SOURCE, 'b/pkg/norms.py': SOURCE }), at('/container/app/pkg/norms.py:5'));
      assert.deepEqual(await linesFor('/container/app/pkg/norms.py(5): norm', { 'pkg/norms.py': `# changed\n\n\n\n\n${SOURCE}` }), at('/project/pkg/norms.py:10'));
      assert.deepEqual(await linesFor('/container/app/pkg/norms.py(5): norm', { 'pkg/norms.py': SOURCE.replace(/ {4}v[\s\S]*$/, '    return x.cos().sin().exp().log()\n') }), at('/project/pkg/norms.py:5'));
    });

    it('takes the setting before a guess, and names the files it cannot choose between', async () => {
      const files = { 'a/pkg/norms.py': SOURCE, 'b/pkg/norms.py': SOURCE };
      const frame = '/container/app/pkg/norms.py(5): norm';
      const refined = (file: string): readonly string[] => [6, 6, 7, 7, 7, 8].map((line) => `${file}:${line}`);
      assert.deepEqual([...(await explained(frame, files)).explanation.ambiguous], [['/container/app/pkg/norms.py', ['/project/a/pkg/norms.py', '/project/b/pkg/norms.py']]]);
      assert.deepEqual(await linesFor(frame, files, { '/container/app': '/project/b' }), refined('/project/b/pkg/norms.py'));
      assert.deepEqual(await linesFor(frame, files, { '/container/app/': '/project/b/' }), refined('/project/b/pkg/norms.py'));
      assert.deepEqual(await linesFor(frame, files, { '/container': '/elsewhere', '/container/app': '/project/a' }), refined('/project/a/pkg/norms.py'), 'the longest prefix');
      assert.deepEqual(await linesFor(frame, files, { '/container/ap': '/project/a' }), KERNELS.map(() => '/container/app/pkg/norms.py:5'), 'a prefix ends at a part');
      assert.deepEqual(await linesFor('C:\\run\\pkg\\norms.py(5): norm', { 'pkg/norms.py': SOURCE }), refined('/project/pkg/norms.py'));
      assert.equal((await explained(frame, files, { '/container/app': '/project/a' })).explanation.ambiguous.size, 0);
    });
  });
});
