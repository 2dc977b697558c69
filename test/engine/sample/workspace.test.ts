import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DIMENSIONS } from '../../../src/engine/sample/model/dimensions';
import { WORKSPACE_FILES } from '../../../src/engine/sample/workspace/files';

const text = (name: string): string => WORKSPACE_FILES.find(([file]) => file === name)?.[1] ?? '';

describe('sample: Python workspace', () => {
  it('has the gated norm on lines 29 and 30 of q35_npu_old.py', () => {
    const lines = text('q35_npu_old.py').split('\n');
    assert.equal(lines[28].trim(), 'h = x.float(); h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)');
    assert.equal(lines[29].trim(), 'return (h * self.weight * F.silu(gate.float())).to(x.dtype)');
    assert.equal(lines.slice(0, 28).reverse().find((line) => line.startsWith('class ')), 'class GatedRMSNorm(nn.Module):');
  });

  it('has the dimensions the kernels were made from', () => {
    const config = JSON.parse(text('config.json')) as Record<string, number>;
    assert.equal(config.hidden_size, DIMENSIONS.hidden);
    assert.equal(config.num_hidden_layers, DIMENSIONS.layers);
    assert.equal(config.full_attention_interval, DIMENSIONS.fullAttentionEvery);
    assert.equal(config.intermediate_size, DIMENSIONS.intermediate);
    assert.equal(config.vocab_size, DIMENSIONS.vocabulary);
    assert.equal(config.num_attention_heads, DIMENSIONS.attentionHeads);
    assert.equal(config.num_key_value_heads, DIMENSIONS.keyValueHeads);
    assert.equal(config.head_dim, DIMENSIONS.headDim);
    assert.equal(config.head_dim * config.partial_rotary_factor, DIMENSIONS.rotaryDim);
    assert.equal(config.linear_num_heads, DIMENSIONS.linearHeads);
    assert.equal(config.linear_head_dim, DIMENSIONS.linearHeadDim);
    assert.equal(config.linear_conv_kernel_dim, DIMENSIONS.convolutionTaps);
    assert.equal(config.micro_batches, DIMENSIONS.microBatches);
  });

  it('parses as Python', function () {
    this.timeout(30_000);
    if (spawnSync('python3', ['--version']).status !== 0) {
      console.log('      left out: no python3 on this machine; apt-get install python3 would make it run');
      this.skip();
    }
    const folder = mkdtempSync(path.join(os.tmpdir(), 'fuselens-sample-'));
    try {
      for (const [name, source] of WORKSPACE_FILES.filter(([file]) => file.endsWith('.py'))) {
        writeFileSync(path.join(folder, name), source);
        const result = spawnSync('python3', ['-m', 'py_compile', name], { cwd: folder, encoding: 'utf8' });
        assert.equal(result.status, 0, result.stderr);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
