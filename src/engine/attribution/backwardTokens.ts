/**
 * What autograd launches for each forward operator, in order. It runs nodes in reverse order of creation, so the backward
 * of a forward path is these lists, last operator first. Measured orders: see the operator table's sources; a `?` marks a
 * kernel that depends on which operands need gradients, on broadcasting, or on strides.
 */
const BACKWARD: Readonly<Record<string, string>> = {
  mul: 'mul mul? sum? cast?', muls: 'muls', add: 'sum?', adds: '', sub: 'neg? sum?', subs: '', rsubs: 'neg', div: 'div neg? mul? div? sum?', divs: 'divs', pow: 'pow? muls mul', square: 'pow? muls mul',
  rsqrt: 'pow muls mul', sqrt: 'muls div', reciprocal: 'mul? neg mul mul?', mean: 'divs copy?', sum: 'copy?', cast: 'cast?', copy: 'copy?', neg: 'neg', exp: 'mul', log: 'div', cos: 'sin neg mul', sin: 'cos mul', abs: 'sign mul',
  silu: 'siluBackward', gelu: 'geluBackward', sigmoid: 'sigmoidBackward', tanh: 'tanhBackward', relu: 'reluBackward', softplus: 'softplusBackward', clamp: 'compare? compare? logical? where? mul?', erf: 'pow neg exp muls mul',
  softmax: 'softmaxBackward', logSoftmax: 'logSoftmaxBackward', nllLoss: 'nllLossBackward', mseLoss: 'mseLossBackward', matmul: 'copy? copy? matmul matmul copy? sum?', bmm: 'matmul matmul', attention: 'attentionBackward', conv: 'convBackward convBackward?', layerNorm: 'layerNormBackward layerNormBackward?',
  cat: 'copy? copy? copy?', stack: 'copy? copy?', indexSelect: 'embeddingBackward? indexAdd? fill?', index: 'indexPut? sort? fill?', gather: 'fill? scatter', scatter: 'gather?', where: 'where where? fill?', maskedFill: 'maskedFill', topk: 'fill? scatter', cumsum: 'copy? cumsum copy?', cumprod: 'cumprod?', solveTriangular: 'solveTriangular matmul? neg? triu?', dropout: 'dropout? mul?', indexAdd: 'indexSelect index?', triu: 'triu', pad: 'pad? copy?', max: 'compare? fill? scatter? copy?', logsumexp: 'exp mul', vectorNorm: 'div mul', logsigmoid: 'siluBackward?', groupNorm: 'layerNormBackward', batchNorm: 'layerNormBackward', attentionBackward: '', repeat: 'sum',
  'fused.rmsNorm': 'fused.rmsNormGrad sum?', 'fused.gatedNorm': 'fused.gatedNormGrad', 'fused.swiglu': 'fused.swigluGrad', 'fused.rotary': 'fused.rotaryGrad', 'fused.crossEntropy': 'fused.crossEntropy? mul?', 'fused.linearAttention': 'fused.linearAttention', 'fused.groupedMatmul': 'fused.groupedMatmul fused.groupedMatmul', 'fused.moePermute': 'fused.moePermute', 'fused.moeUnpermute': 'fused.moeUnpermute',
};

export interface BackwardToken {
  readonly op: string;
  readonly optional: boolean;
}

const parsed = new Map<string, readonly BackwardToken[]>();

/** Kernels of the backward of one operator; empty where it launches none, or we do not know. */
export function backwardTokens(op: string): readonly BackwardToken[] {
  let tokens = parsed.get(op);
  if (tokens === undefined) {
    tokens = (BACKWARD[op] ?? '').split(' ').filter((token) => token !== '').map((token) => ({ op: token.replace('?', ''), optional: token.endsWith('?') }));
    parsed.set(op, tokens);
  }
  return tokens;
}
