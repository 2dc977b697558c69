import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Parser } from 'web-tree-sitter';
import { CandidateIndex } from '../../../src/engine/attribution/candidates';
import { locate, type Abstained, type Located } from '../../../src/engine/attribution/locate';
import { ProblemList } from '../../../src/engine/profile/problems';
import { findAscendFolders } from '../../../src/engine/readers/ascendFolders';
import { nodeFilePort } from '../../../src/node/filePort';
import { indexOf, pythonParser } from './parser';

const model = (bias: string): string => `import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, 4 * dim${bias})
        self.down = nn.Linear(4 * dim, dim${bias})

    def forward(self, x):
        return x + self.down(F.silu(self.up(x)))


class Model(nn.Module):
    def __init__(self, dim, config):
        super().__init__()
        self.layers = nn.ModuleList([Block(dim) for _ in range(config.layers)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
`;

const PRODUCT = ['aclnnMatmul_MatMulV3Common_MatMulV3', 'MatMulV3'];
const SILU = ['aclnnSilu_SiluAiCore_Swish', 'Swish'];
const ADD = ['aclnnAdd_AddAiCore_Add', 'Add'];

describe('shapes as evidence against a source', () => {
  let parser: Parser;
  let folder: string;

  before(async () => {
    parser = await pythonParser();
    folder = await mkdtemp(path.join(os.tmpdir(), 'fuselens-operands-'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  /** Six layers; products read `shapes`, after each a sum of its own where the device adds the bias apart. */
  const answer = async (source: string, shapes: string, sumApart = false): Promise<Located | Abstained> => {
    const root = path.join(folder, 'host_1_20260101000000000_ascend_pt');
    await mkdir(path.join(root, 'ASCEND_PROFILER_OUTPUT'), { recursive: true });
    await writeFile(path.join(root, 'profiler_info_0.json'), JSON.stringify({ rank_id: 0 }));
    const layer = [PRODUCT, ...(sumApart ? [ADD] : []), SILU, PRODUCT, ...(sumApart ? [ADD] : []), ADD];
    const rows = Array.from({ length: 6 }, () => layer).flat().map(([name, type], i) => `1,0,1,0,2,${name},${type},dynamic,AI_CORE,${1000 + i * 10}.000\t,5.000,0,8,0,NO,${name === PRODUCT[0] && shapes !== '' ? `"${shapes}"` : ''},,,,,`);
    await writeFile(path.join(root, 'ASCEND_PROFILER_OUTPUT', 'kernel_details.csv'), ['Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats', ...rows, ''].join('\n'));
    const problems = new ProblemList();
    const { sources } = await findAscendFolders(nodeFilePort(), folder, { problems });
    const rank = await sources[0].read?.({ port: nodeFilePort(), problems });
    assert.ok(rank !== undefined);
    const index = indexOf(parser, { 'model.py': source });
    return locate(rank, new CandidateIndex(index.program, index.scopes), parser);
  };
  const reason = (found: Located | Abstained): string => ('reason' in found ? found.reason.code : `located ${found.confidence > 0.7 ? 'surely' : 'weakly'}`);

  it('a product without bias is not that of a layer with one, nor the other way round', async () => {
    assert.equal(reason(await answer(model(', bias=False'), '8,16;16,64')), 'located surely');
    assert.equal(reason(await answer(model(''), '8,16;16,64;64')), 'located surely');
    assert.equal(reason(await answer(model(''), '8,16;16,64')), 'attribution.contradicted');
    assert.equal(reason(await answer(model(', bias=False'), '8,16;16,64;64')), 'attribution.contradicted');
  });

  it('nothing speaks against a source without shapes, with a bias nobody can know, or added apart', async () => {
    assert.equal(reason(await answer(model(''), '')), 'located surely');
    assert.equal(reason(await answer(model(', bias=config.bias'), '8,16;16,64')), 'located surely');
    assert.notEqual(reason(await answer(model(''), '8,16;16,64', true)), 'attribution.contradicted');
  });
});
