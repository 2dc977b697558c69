import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Parser } from 'web-tree-sitter';
import { CandidateIndex } from '../../../src/engine/attribution/candidates';
import { explain } from '../../../src/engine/attribution/explain';
import { locate, type Abstained, type Located } from '../../../src/engine/attribution/locate';
import type { RankData } from '../../../src/engine/profile/columns';
import { ProblemList } from '../../../src/engine/profile/problems';
import type { SourceIndex } from '../../../src/engine/python/sourceIndex';
import { findAscendFolders } from '../../../src/engine/readers/ascendFolders';
import { nodeFilePort } from '../../../src/node/filePort';
import { indexOf, pythonParser } from './parser';
import { writeFile, mkdir } from 'node:fs/promises';

/** Ascend names of operators, as the operator table reads them. */
const KERNELS: Readonly<Record<string, readonly [string, string]>> = {
  indexSelect: ['aclnnEmbedding_GatherV2AiCore_GatherV2', 'GatherV2'], cast: ['aclnnCast_CastAiCore_Cast', 'Cast'], pow: ['aclnnPowTensorScalar_PowsAiCore_Pows', 'Pows'], mean: ['aclnnMean_ReduceMeanAiCore_ReduceMean', 'ReduceMean'], adds: ['aclnnAdds_AddAiCore_Add', 'Add'], rsqrt: ['aclnnRsqrt_RsqrtAiCore_Rsqrt', 'Rsqrt'], mul: ['aclnnMul_MulAiCore_Mul', 'Mul'],
  matmul: ['aclnnMatmul_MatMulV3Common_MatMulV3', 'MatMulV3'], silu: ['aclnnSilu_SiluAiCore_Swish', 'Swish'], add: ['aclnnAdd_AddAiCore_Add', 'Add'], relu: ['aclnnRelu_ReluAiCore_Relu', 'Relu'], softmax: ['aclnnSoftmax_SoftmaxV2AiCore_SoftmaxV2', 'SoftmaxV2'], tanh: ['aclnnTanh_TanhAiCore_Tanh', 'Tanh'],
  logSoftmax: ['aclnnLogSoftmax_LogSoftmaxAiCore_LogSoftmaxV2', 'LogSoftmaxV2'], nllLoss: ['aclnnNLLLoss_NLLLossAiCore_NLLLoss', 'NLLLoss'], nllLossBackward: ['aclnnNLLLossBackward_NLLLossGradAiCore_NLLLossGrad', 'NLLLossGrad'], logSoftmaxBackward: ['aclnnLogSoftmaxBackward_LogSoftmaxGrad_LogSoftmaxGrad', 'LogSoftmaxGrad'],
  siluBackward: ['aclnnSiluBackward_SiluGradAiCore_SiluGrad', 'SiluGrad'], sum: ['aclnnReduceSum_ReduceSumOpAiCore_ReduceSum', 'ReduceSum'], muls: ['aclnnMuls_MulAiCore_Mul', 'Mul'], divs: ['aclnnDivs_RealDivAiCore_RealDiv', 'RealDiv'], embeddingBackward: ['aclnnEmbeddingDenseBackward_EmbeddingDenseGradV2_EmbeddingDenseGradV2', 'EmbeddingDenseGradV2'],
};

const MODEL = `import torch
import torch.nn as nn
import torch.nn.functional as F


class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        h = x.float()
        v = h.pow(2).mean(-1, keepdim=True)
        h = h * torch.rsqrt(v + 1e-6)
        return self.weight * h.to(x.dtype)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = Norm(dim)
        self.gate = nn.Linear(dim, dim)
        self.up = nn.Linear(dim, dim)
        self.down = nn.Linear(dim, dim)

    def forward(self, x):
        h = self.norm(x)
        h = F.silu(self.gate(h)) * self.up(h)
        return x + self.down(h)


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab, config.dim)
        self.layers = nn.ModuleList([Block(config.dim) for _ in range(config.layers)])
        self.norm = Norm(config.dim)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.norm(x), ids)
`;

const NORM = ['cast', 'pow', 'mean', 'adds', 'rsqrt', 'mul', 'cast', 'mul'];
const BLOCK = [...NORM, 'matmul', 'silu', 'matmul', 'mul', 'matmul', 'add'];
const BLOCK_LINES = [12, 13, 13, 14, 14, 14, 15, 15, 28, 28, 28, 28, 29, 29];
const NORM_BACKWARD = ['mul', 'mul', 'sum', 'cast', 'mul', 'mul', 'sum', 'pow', 'muls', 'mul', 'divs', 'muls', 'mul', 'add', 'cast'];
const NORM_BACKWARD_LINES = [15, 15, 15, 15, 14, 14, 14, 14, 14, 14, 13, 13, 13, 13, 12];
const BLOCK_BACKWARD = ['matmul', 'matmul', 'mul', 'mul', 'matmul', 'matmul', 'siluBackward', 'matmul', 'matmul', 'add', ...NORM_BACKWARD, 'add'];
const BLOCK_BACKWARD_LINES = [29, 29, 28, 28, 28, 28, 28, 28, 28, 28, ...NORM_BACKWARD_LINES, 12];
const LAYERS = 4;
const repeat = <T>(list: readonly T[]): T[] => Array.from({ length: LAYERS }, () => list).flat();
const FORWARD = ['indexSelect', ...repeat(BLOCK), ...NORM, 'logSoftmax', 'nllLoss'];
const LOSS_BACKWARD = ['nllLossBackward', 'logSoftmaxBackward'];
const FORWARD_LINES = [40, ...repeat(BLOCK_LINES), 12, 13, 13, 14, 14, 14, 15, 15, 43, 43];

describe('attribution by alignment', () => {
  let parser: Parser;
  let folder: string;

  before(async () => {
    parser = await pythonParser();
    folder = await mkdtemp(path.join(os.tmpdir(), 'fuselens-locate-'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  const profileOf = async (ops: readonly string[]): Promise<RankData> => {
    const root = path.join(folder, `host_1_20260101000000000_ascend_pt`);
    await mkdir(path.join(root, 'ASCEND_PROFILER_OUTPUT'), { recursive: true });
    await writeFile(path.join(root, 'profiler_info_0.json'), JSON.stringify({ rank_id: 0 }));
    const rows = ops.map((op, i) => {
      const [name, type] = KERNELS[op];
      return `1,0,1,0,2,${name},${type},dynamic,AI_VECTOR_CORE,${1000 + i * 10}.000\t,5.000,0,8,0,NO,,,,,,`;
    });
    await writeFile(path.join(root, 'ASCEND_PROFILER_OUTPUT', 'kernel_details.csv'), ['Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats', ...rows, ''].join('\n'));
    const problems = new ProblemList();
    const port = nodeFilePort();
    const { sources } = await findAscendFolders(port, folder, { problems });
    const rank = await sources[0].read?.({ port, problems });
    assert.ok(rank !== undefined);
    return rank;
  };

  const answer = (rank: RankData, index: SourceIndex): Located | Abstained => locate(rank, new CandidateIndex(index.program, index.scopes), parser);
  const linesOf = (rank: RankData, index: SourceIndex): readonly (number | undefined)[] => {
    const { origins, originOf } = explain(rank, { parser, sources: index });
    return [...originOf].map((origin) => origins[origin]?.startLine);
  };

  it('gives every forward kernel its line', async () => {
    assert.deepEqual(linesOf(await profileOf(FORWARD), indexOf(parser, { 'model.py': MODEL })), FORWARD_LINES);
  });

  it('gives backward kernels the line of their forward', async () => {
    const rank = await profileOf([...FORWARD, ...LOSS_BACKWARD, ...NORM_BACKWARD, ...repeat(BLOCK_BACKWARD), 'embeddingBackward']);
    const lines = linesOf(rank, indexOf(parser, { 'model.py': MODEL }));
    const wanted = [...FORWARD_LINES, 43, 43, ...NORM_BACKWARD_LINES, ...repeat(BLOCK_BACKWARD_LINES), 40];
    const right = lines.filter((line, i) => line === wanted[i]).length;
    assert.ok(right >= wanted.length * 0.97, `${right} of ${wanted.length}`);
  });

  it('tells recompute from backward under checkpointing', async () => {
    const rank = await profileOf([...FORWARD, ...LOSS_BACKWARD, ...NORM_BACKWARD, ...repeat([...BLOCK.slice(0, -1), ...BLOCK_BACKWARD]), 'embeddingBackward']);
    const found = answer(rank, indexOf(parser, { 'model.py': MODEL }));
    assert.ok('side' in found);
    const start = FORWARD.length + LOSS_BACKWARD.length + NORM_BACKWARD.length;
    const turn = BLOCK.length - 1 + BLOCK_BACKWARD.length;
    for (let layer = 0; layer < LAYERS; layer++) {
      const sides: readonly number[] = [...found.side.subarray(start + layer * turn, start + (layer + 1) * turn)];
      assert.deepEqual(sides.slice(1, BLOCK.length - 2), sides.slice(1, BLOCK.length - 2).map(() => 1), `layer ${layer}`);
      assert.ok(sides.slice(BLOCK.length).filter((side) => side === 2).length >= BLOCK_BACKWARD.length - 2, `layer ${layer}`);
    }
  });

  it('stands a lost kernel here and there, and kernels of unknown code', async () => {
    const lossy = FORWARD.filter((_, i) => i % 31 !== 17);
    const found = answer(await profileOf(lossy), indexOf(parser, { 'model.py': MODEL }));
    assert.ok('candidate' in found, JSON.stringify('reason' in found ? found.reason : ''));
    assert.equal(found.candidate.owner?.name, 'Model');
  });

  it('abstains where each layer runs something else', async () => {
    const other = indexOf(parser, { 'model.py': MODEL.replace('F.silu', 'F.relu').replace('return x + self.down(h)', 'return x + self.down(torch.tanh(h))') });
    const found = answer(await profileOf(FORWARD), other);
    assert.ok('reason' in found);
    assert.equal(found.reason.code, 'attribution.unexplained');
    assert.ok(linesOf(await profileOf(FORWARD), other).every((line) => line === undefined));
  });

  it('abstains without source or kernels', async () => {
    assert.equal((answer(await profileOf(FORWARD), indexOf(parser, {})) as Abstained).reason.code, 'attribution.no-source');
    assert.ok('reason' in answer(await profileOf(['add']), indexOf(parser, { 'model.py': MODEL })));
  });

  it('names equal bodies in other files', async () => {
    const rank = await profileOf(FORWARD);
    const found = answer(rank, indexOf(parser, { 'a.py': MODEL, 'b.py': MODEL.replace(/Block/g, 'Layer') }));
    assert.ok('candidate' in found);
    assert.equal(found.equals.length, 1);
    assert.ok(found.confidence > 0.8);
  });

  it('prefers the model that runs all of its code', async () => {
    const branchy = MODEL.replace('        h = F.silu', '        if self.config.other:\n            h = F.softmax(h @ h.transpose(-1, -2), dim=-1) @ torch.tanh(self.gate(h)) @ self.up(h)\n        h = F.silu');
    const found = answer(await profileOf(FORWARD), indexOf(parser, { 'a.py': branchy, 'b.py': MODEL }));
    assert.ok('candidate' in found);
    assert.equal(found.candidate.scope.file, '/project/b.py');
  });
});
