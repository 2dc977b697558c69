import assert from 'node:assert/strict';
import { OPERATORS } from '../../src/engine/operators/operatorTable';
import { chainOperators, operatorName } from '../../src/protocol/operatorNames';
import { english } from '../../src/protocol/text';

describe('names of operators', () => {
  it('are the framework\'s, or say what a token means', () => {
    const cases: Readonly<Record<string, string>> = {
      adds: 'add scalar', muls: 'multiply by scalar', rsubs: 'subtract from scalar', indexSelect: 'index_select', logSoftmaxBackward: 'log_softmax backward', matmul: 'matmul',
      'fused.swigluGrad': 'SwiGLU backward (fused)', 'fused.linearAttention': 'linear attention (fused)', 'comm.allGather': 'all-gather', attentionBackward: 'attention backward',
    };
    for (const [token, name] of Object.entries(cases)) {
      assert.equal(operatorName(token, english), name);
    }
  });

  it('hold no token of the table in camel case, and tell all tokens apart', () => {
    const names = OPERATORS.map(({ op }) => operatorName(op, english));
    assert.deepEqual(names.filter((name) => /^[a-z]+[A-Z]|^fused\.|^comm\./.test(name)), []);
    assert.equal(new Set(names).size, new Set(OPERATORS.map(({ op }) => op)).size);
  });

  it('leave kernel names and types alone', () => {
    for (const name of ['MatMulV3', 'void at::native::vectorized_elementwise_kernel<4>(int)', 'prepare_wy_repr_bwd_kernel', '…']) {
      assert.equal(operatorName(name, english), name);
      assert.equal(chainOperators(name, english), name);
    }
  });

  it('of a chain are counted where they repeat', () => {
    assert.equal(chainOperators('copy copy copy fill', english), '3 × copy, fill');
    assert.equal(chainOperators('adds batchNorm adds', english), 'add scalar, batch_norm, add scalar');
  });
});
