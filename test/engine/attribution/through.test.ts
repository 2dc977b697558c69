import assert from 'node:assert/strict';
import type { Parser } from 'web-tree-sitter';
import { explain } from '../../../src/engine/attribution/explain';
import { DeviceFlag } from '../../../src/engine/profile/columns';
import { isKernel, readTrace, truthCases } from '../readers/kinetoTruth';
import { indexOf, pythonParser } from './parser';

describe('kernels of recorded graphs and of compiled regions', () => {
  let parser: Parser;

  before(async () => {
    parser = await pythonParser();
  });

  const traceOf = (folder: string): string | undefined => truthCases().find(({ name }) => name.startsWith(`${folder}/`))?.file;

  for (const [folder, frame, count] of [
    ['rocm-sglang-decode-graph', '/sgl-workspace/sglang/python/sglang/srt/model_executor/cuda_graph_runner.py:1333:replay', 544],
    ['rocm-vllm-piecewise-graph', 'vllm/compilation/cuda_graph.py:208:__call__', 361],
  ] as const) {
    it(`gives the kernels of replays in ${folder} the call that replays, and says so`, async function () {
      this.timeout(60_000);
      const file = traceOf(folder);
      if (file === undefined) {
        this.skip();
      }
      const { rank } = await readTrace(file);
      const { origins, originOf } = explain(rank, { parser });
      let replayed = 0;
      for (let event = 0; event < rank.deviceEvents.count; event++) {
        const origin = origins[originOf[event]];
        if ((rank.deviceEvents.flags[event] & DeviceFlag.GraphReplay) !== 0) {
          assert.equal(`${origin.file}:${origin.startLine}:${origin.function}`, frame);
          assert.equal(origin.through, 'replay');
          replayed++;
        } else {
          assert.notEqual(origin?.through, 'replay');
        }
      }
      // The trace has one hipGraphLaunch (25 in the other); their correlation ids are those of so many kernels.
      assert.equal(replayed, count);
    });
  }

  describe('compiled', () => {
    const MODEL = 'import torch\nfrom torch import nn\n\n\nclass SD3Transformer2DModel(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(4, 4)\n\n    def forward(self, x):\n        x = self.a(x)\n        return x\n';

    it('have the range of the function that was compiled, and say so', async function () {
      this.timeout(120_000);
      const file = traceOf('rocm-mi300-sd35-big');
      if (file === undefined) {
        this.skip();
      }
      const { rank } = await readTrace(file);
      const triton = Array.from({ length: rank.deviceEvents.count }, (_, event) => event).filter((event) => /^triton_\w+_fused_/.test(rank.strings.get(rank.deviceEvents.name[event])));
      assert.equal(triton.length, 2076);
      const found = explain(rank, { parser, sources: indexOf(parser, { 'diffusers/transformer_sd3.py': MODEL }) });
      for (const event of triton) {
        const origin = found.origins[found.originOf[event]];
        assert.deepEqual({ file: origin.file, startLine: origin.startLine, endLine: origin.endLine, function: origin.function, method: origin.method, through: origin.through }, { file: '/project/diffusers/transformer_sd3.py', startLine: 10, endLine: 12, function: 'SD3Transformer2DModel.forward', method: 'stack', through: 'compiled' });
      }
      // Kernels outside the four regions (the text encoders, the decoder) are not said to be compiled.
      const outside = Array.from({ length: rank.deviceEvents.count }, (_, event) => event).filter((event) => isKernel(rank, event) && found.origins[found.originOf[event]] !== undefined && found.origins[found.originOf[event]].through === undefined);
      assert.ok(outside.length > 1000, `${outside.length}`);
      assert.ok(outside.every((event) => !/^triton_/.test(rank.strings.get(rank.deviceEvents.name[event]))));
      // Two classes of that name: neither is claimed, the recorded frame stays, marked all the same.
      const twice = explain(rank, { parser, sources: indexOf(parser, { 'a/one.py': MODEL, 'b/two.py': MODEL }) });
      const origin = twice.origins[twice.originOf[triton[0]]];
      assert.equal(origin.through, 'compiled');
      assert.doesNotMatch(origin.file, /^\/project\//);
    });

    it('without stacks have no line', async function () {
      const file = traceOf('rocm-mi300-torch-compile-triton');
      if (file === undefined) {
        this.skip();
      }
      const { rank } = await readTrace(file);
      assert.ok([...explain(rank, { parser, sources: indexOf(parser, { 'model.py': MODEL }) }).originOf].every((origin) => origin < 0));
    });
  });
});
