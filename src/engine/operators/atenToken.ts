/**
 * Operators of PyTorch as the CPU runs them → tokens of the operator table. On the CPU there are no kernels: an operator is
 * the work. Names as `torch.profiler` writes them (`aten::mul`); overloads are not in the name, so a scalar operand cannot be told.
 */
import type { KernelToken } from './kernelToken';

/** Without `aten::` and without a trailing `_`. Operators made of others that are not here are looked into. */
const TOKENS: Readonly<Record<string, string>> = {
  linear: 'matmul', matmul: 'matmul', mm: 'matmul', addmm: 'matmul', mv: 'matmul', bmm: 'bmm', baddbmm: 'bmm', einsum: 'bmm', mkldnn_linear: 'matmul',
  convolution: 'conv', convolution_backward: 'convBackward',
  _to_copy: 'cast', clone: 'copy', copy: 'copy', repeat: 'copy', flip: 'copy', roll: 'copy',
  add: 'add', sub: 'sub', rsub: 'sub', mul: 'mul', div: 'div', pow: 'pow', square: 'square', rsqrt: 'rsqrt', sqrt: 'sqrt', reciprocal: 'reciprocal', neg: 'neg', exp: 'exp', log: 'log', cos: 'cos', sin: 'sin', abs: 'abs', erf: 'erf',
  clamp: 'clamp', clamp_min: 'clamp', clamp_max: 'clamp', minimum: 'clamp', maximum: 'clamp',
  silu: 'silu', silu_backward: 'siluBackward', gelu: 'gelu', gelu_backward: 'geluBackward', sigmoid: 'sigmoid', sigmoid_backward: 'sigmoidBackward', tanh: 'tanh', tanh_backward: 'tanhBackward',
  relu: 'relu', threshold_backward: 'reluBackward', softplus: 'softplus', softplus_backward: 'softplusBackward',
  mean: 'mean', sum: 'sum', max: 'max', amax: 'max', argmax: 'max', min: 'max', cumsum: 'cumsum', cumprod: 'cumprod', bincount: 'bincount', histc: 'bincount', any: 'any', all: 'any',
  _softmax: 'softmax', _softmax_backward_data: 'softmaxBackward', _log_softmax: 'logSoftmax', _log_softmax_backward_data: 'logSoftmaxBackward',
  nll_loss_forward: 'nllLoss', nll_loss_backward: 'nllLossBackward',
  native_layer_norm: 'layerNorm', native_layer_norm_backward: 'layerNormBackward', rms_norm: 'fused.rmsNorm', _fused_rms_norm: 'fused.rmsNorm', _fused_rms_norm_backward: 'fused.rmsNormGrad',
  scaled_dot_product_attention: 'attention', _scaled_dot_product_flash_attention_for_cpu: 'attention', _scaled_dot_product_flash_attention_for_cpu_backward: 'attentionBackward',
  cat: 'cat', stack: 'stack', constant_pad_nd: 'pad', index_select: 'indexSelect', embedding: 'indexSelect', embedding_dense_backward: 'embeddingBackward', index_add: 'indexAdd', index: 'index', index_put: 'indexPut', _index_put_impl: 'indexPut',
  gather: 'gather', scatter: 'scatter', scatter_add: 'scatter', one_hot: 'oneHot', nonzero: 'nonzero', where: 'where', masked_fill: 'maskedFill', topk: 'topk', sort: 'sort', argsort: 'sort',
  eq: 'compare', ne: 'compare', lt: 'compare', le: 'compare', gt: 'compare', ge: 'compare', logical_and: 'logical', logical_or: 'logical', logical_not: 'logical', bitwise_and: 'logical', bitwise_or: 'logical', bitwise_not: 'logical',
  triu: 'triu', tril: 'triu', arange: 'arange', zero: 'fill', fill: 'fill', zeros: 'fill', ones: 'fill', full: 'fill', zeros_like: 'fill', ones_like: 'fill', full_like: 'fill', new_zeros: 'fill',
  linalg_vector_norm: 'vectorNorm', lerp: 'lerp', addcmul: 'addcmul', addcdiv: 'addcdiv', _fused_adamw: 'fused.adamw', _fused_adam: 'fused.adamw',
  native_dropout: 'dropout', bernoulli: 'random', normal: 'random', uniform: 'random', exponential: 'random',
};

/** Hands out memory or another view of it, or reads a number: nothing is computed. */
const NO_WORK = /^(empty(_like|_strided)?|new_empty(_strided)?|resize|set|view|view_as|_unsafe_view|_reshape_alias|alias|as_strided|detach|expand|expand_as|permute|transpose|t|squeeze|unsqueeze|select|slice|narrow|split|split_with_sizes|chunk|unbind|reshape|flatten|contiguous|to|type_as|result_type|can_cast|is_nonzero|item|_local_scalar_dense|lift_fresh|requires_grad|conj|resolve_conj|resolve_neg|numpy_T|mT|unfold|diagonal|_has_compatible_shallow_copy_type|is_pinned|is_same_size|broadcast_tensors|ensure_nonempty.*)$/;
const NO_WORK_IN = new Set(['autograd', 'torch', 'c10d', 'prim', 'profiler']);

const UNKNOWN: KernelToken = { op: '', satelliteOf: undefined };
const KNOWN = new Map(Object.entries(TOKENS).map(([name, op]): [string, KernelToken] => [name, { op, satelliteOf: undefined }]));

/** Reads an operator of the CPU by its name. */
export function atenToken(name: string): KernelToken {
  const plain = plainName(name);
  return plain === undefined ? UNKNOWN : KNOWN.get(plain) ?? UNKNOWN;
}

/** `work`: an operator of the table; `unknown`: work where nothing runs inside it; `none`: never work of its own. */
export function atenWork(name: string): 'work' | 'unknown' | 'none' {
  const plain = plainName(name);
  if (plain !== undefined) {
    return KNOWN.has(plain) ? 'work' : NO_WORK.test(plain) ? 'none' : 'unknown';
  }
  const [, space] = /^(\w+)::\w+$/.exec(name) ?? [];
  return space === undefined || NO_WORK_IN.has(space) ? 'none' : 'unknown';
}

/** In place or not, the same is computed. */
function plainName(name: string): string | undefined {
  const [, plain] = /^aten::(\w+?)_?$/.exec(name) ?? [];
  return plain;
}
