/**
 * What calls into torch (and libraries that look like it) execute: `torch.f(x)`, `F.f(x)`, `x.f()` and `x.f_()` share one
 * table. Spellings of one operator meet here: `x.pow(2)`, `torch.square(x)`; `x.mul(y)`; `x.float()`, `x.to(torch.float32)`.
 */

export type LibraryCall =
  /** Launches nothing and yields a view of its first operand. */
  | { readonly kind: 'view' }
  /** Yields several views (chunk, split, unbind). */
  | { readonly kind: 'views' }
  /** `op` over `tensors` operands; scalar keywords are ignored. */
  | { readonly kind: 'operator'; readonly op: string; readonly tensors: number; readonly outputs?: number }
  /** Two operands of which one may be a number: `tensor` or `scalar` operator, `reversed` for a number on the left. */
  | { readonly kind: 'arithmetic'; readonly operator: '+' | '-' | '*' | '/' | '**' }
  /** Reduces `dim`; `pair` when it yields (values, indices) once a dim is given. */
  | { readonly kind: 'reduction'; readonly op: string; readonly pair?: boolean }
  /** Converts to a dtype given by name, argument or other tensor. */
  | { readonly kind: 'cast'; readonly dtype?: string }
  /** Joins a sequence of tensors. */
  | { readonly kind: 'join'; readonly op: string }
  /** Makes a tensor from numbers. */
  | { readonly kind: 'factory'; readonly op: string | undefined }
  /** A sequence of operators on one tensor, for calls that decompose. */
  | { readonly kind: 'chain'; readonly ops: readonly string[]; readonly tensors: number; readonly outputs?: number }
  /** Reads the value on the host: a stall, no kernel of its own. */
  | { readonly kind: 'hostRead'; readonly ops: readonly string[] }
  /** Numbers about a tensor. */
  | { readonly kind: 'number' }
  /** Does nothing on the device. */
  | { readonly kind: 'nothing' };

const view: LibraryCall = { kind: 'view' };
const views: LibraryCall = { kind: 'views' };
const number: LibraryCall = { kind: 'number' };
const nothing: LibraryCall = { kind: 'nothing' };
const operator = (op: string, tensors = 1, outputs = 1): LibraryCall => ({ kind: 'operator', op, tensors, outputs });
const arithmetic = (sign: '+' | '-' | '*' | '/' | '**'): LibraryCall => ({ kind: 'arithmetic', operator: sign });
const reduction = (op: string, pair = false): LibraryCall => ({ kind: 'reduction', op, pair });
const cast = (dtype?: string): LibraryCall => ({ kind: 'cast', dtype });
const factory = (op: string | undefined): LibraryCall => ({ kind: 'factory', op });
const chain = (ops: readonly string[], tensors = 1, outputs = 1): LibraryCall => ({ kind: 'chain', ops, tensors, outputs });

export const LIBRARY_CALLS: ReadonlyMap<string, LibraryCall> = new Map(Object.entries({
  view, reshape: view, permute: view, transpose: view, swapaxes: view, t: view, unsqueeze: view, unsqueeze_: view, squeeze: view, expand: view, expand_as: view, reshape_as: view,
  flatten: view, unflatten: view, narrow: view, select: view, movedim: view, view_as: view, detach: view, broadcast_to: view, diagonal: view, as_strided: view,
  real: view, imag: view, view_as_real: view, view_as_complex: view, requires_grad_: view, cpu: view, cuda: view, npu: view, ravel: view, adjoint: view, detach_: view, unfold: view,
  chunk: views, split: views, unbind: views, tensor_split: views, split_with_sizes: views,
  contiguous: operator('copy'), clone: operator('copy'), repeat: operator('copy'), repeat_interleave: operator('copy'), roll: operator('copy'), flip: operator('copy'), copy_: operator('copy', 2), tile: operator('copy'),
  float: cast('float32'), half: cast('float16'), bfloat16: cast('bfloat16'), double: cast('float64'), int: cast('int32'), long: cast('int64'), bool: cast('bool'),
  to: cast(), type: cast(), type_as: cast(),
  add: arithmetic('+'), add_: arithmetic('+'), sub: arithmetic('-'), sub_: arithmetic('-'), subtract: arithmetic('-'), mul: arithmetic('*'), mul_: arithmetic('*'), multiply: arithmetic('*'),
  div: arithmetic('/'), div_: arithmetic('/'), divide: arithmetic('/'), true_divide: arithmetic('/'), pow: arithmetic('**'), pow_: arithmetic('**'),
  square: operator('square'), square_: operator('square'), rsqrt: operator('rsqrt'), rsqrt_: operator('rsqrt'), sqrt: operator('sqrt'), sqrt_: operator('sqrt'), reciprocal: operator('reciprocal'), reciprocal_: operator('reciprocal'), neg: operator('neg'), neg_: operator('neg'), negative: operator('neg'),
  exp: operator('exp'), exp_: operator('exp'), log: operator('log'), log_: operator('log'), cos: operator('cos'), sin: operator('sin'), abs: operator('abs'), abs_: operator('abs'), cos_: operator('cos'), sin_: operator('sin'), silu_: operator('silu'), gelu_: operator('gelu'), erf: operator('erf'), log1p: operator('log'), expm1: operator('exp'), log2: operator('log'),
  sigmoid: operator('sigmoid'), sigmoid_: operator('sigmoid'), silu: operator('silu'), swish: operator('silu'), gelu: operator('gelu'), relu: operator('relu'), relu_: operator('relu'), tanh: operator('tanh'), tanh_: operator('tanh'),
  softplus: operator('softplus'), logsigmoid: operator('logsigmoid'), clamp: operator('clamp'), clamp_: operator('clamp'), clamp_min: operator('clamp'), clamp_max: operator('clamp'), clip: operator('clamp'), minimum: operator('clamp', 2), maximum: operator('clamp', 2), elu: operator('elu'), leaky_relu: operator('leakyRelu'), relu6: operator('clamp'), mish: operator('mish'), glu: chain(['sigmoid', 'mul']),
  softmax: operator('softmax'), log_softmax: operator('logSoftmax'), mean: reduction('mean'), sum: reduction('sum'), max: reduction('max', true), min: reduction('max', true), amax: reduction('max'), amin: reduction('max'),
  argmax: reduction('max'), argmin: reduction('max'), any: reduction('any'), all: reduction('any'), norm: reduction('vectorNorm'), vector_norm: reduction('vectorNorm'), var: reduction('var'), std: reduction('var'), var_mean: reduction('var'), std_mean: reduction('var'), logsumexp: reduction('logsumexp'), prod: reduction('prod'), cumsum: reduction('cumsum'), cumsum_: reduction('cumsum'), cumprod: reduction('cumprod'), count_nonzero: reduction('sum'),
  cat: { kind: 'join', op: 'cat' }, concat: { kind: 'join', op: 'cat' }, concatenate: { kind: 'join', op: 'cat' }, stack: { kind: 'join', op: 'stack' }, hstack: { kind: 'join', op: 'cat' }, vstack: { kind: 'join', op: 'cat' },
  matmul: operator('matmul', 2), mm: operator('matmul', 2), mv: operator('matmul', 2), bmm: operator('bmm', 2), addmm: operator('matmul', 3), baddbmm: operator('bmm', 3), linear: operator('matmul', 3), einsum: operator('bmm', 3), outer: operator('mul', 2), dot: operator('matmul', 2), tensordot: operator('matmul', 2),
  where: operator('where', 3), masked_fill: operator('maskedFill', 2), masked_fill_: operator('maskedFill', 2), masked_scatter: operator('maskedScatter', 3), masked_select: chain(['nonzero', 'index'], 2),
  index_select: operator('indexSelect', 2), index_add: operator('indexAdd', 3), index_add_: operator('indexAdd', 3), index_put_: operator('indexPut', 3), index_put: operator('indexPut', 3), index_copy_: operator('indexPut', 3), index_copy: operator('indexPut', 3), index_fill_: operator('indexPut', 2), index_fill: operator('indexPut', 2), gather: operator('gather', 2), take_along_dim: operator('gather', 2), scatter: operator('scatter', 3), scatter_: operator('scatter', 3), scatter_add: operator('scatter', 3), scatter_add_: operator('scatter', 3), embedding: operator('indexSelect', 2), grouped_mm: operator('fused.groupedMatmul', 2), _grouped_mm: operator('fused.groupedMatmul', 2), grouped_mm_fallback: operator('fused.groupedMatmul', 2), uniform_: operator('random'), normal_: operator('random'), bernoulli_: operator('random'), exponential_: operator('random'), one_hot: operator('oneHot'), bincount: operator('bincount'), histc: operator('bincount'),
  topk: operator('topk', 1, 2), sort: operator('sort', 1, 2), argsort: operator('sort'), nonzero: { kind: 'hostRead', ops: ['nonzero'] }, unique: { kind: 'hostRead', ops: ['sort', 'nonzero'] },
  triu: operator('triu'), tril: operator('triu'), triu_: operator('triu'), arange: factory('arange'), zeros: factory('fill'), ones: factory('fill'), full: factory('fill'), empty: factory(undefined), tensor: factory(undefined), as_tensor: factory(undefined), rand: factory('random'), randn: factory('random'), linspace: factory('arange'), eye: factory('fill'),
  zeros_like: operator('fill'), ones_like: operator('fill'), full_like: operator('fill'), empty_like: view, new_zeros: operator('fill'), new_ones: operator('fill'), new_full: operator('fill'), new_empty: view, zero_: operator('fill'), fill_: operator('fill'), rand_like: operator('random'), randn_like: operator('random'), new_tensor: view,
  eq: operator('compare', 2), ne: operator('compare', 2), gt: operator('compare', 2), ge: operator('compare', 2), lt: operator('compare', 2), greater: operator('compare', 2), greater_equal: operator('compare', 2), less: operator('compare', 2), less_equal: operator('compare', 2), not_equal: operator('compare', 2), bitwise_or: operator('logical', 2), logical_or_: operator('logical', 2), logical_and_: operator('logical', 2), le: operator('compare', 2), isnan: operator('compare'), isinf: operator('compare'), isfinite: operator('compare'), logical_and: operator('logical', 2), logical_or: operator('logical', 2), logical_not: operator('logical'), bitwise_and: operator('logical', 2), bitwise_not: operator('logical'),
  layer_norm: operator('layerNorm', 3), rms_norm: operator('rmsNorm', 2), group_norm: operator('groupNorm', 3), batch_norm: operator('batchNorm', 3), normalize: chain(['vectorNorm', 'clamp', 'div']), scaled_dot_product_attention: operator('attention', 4),
  linalg_solve_triangular: operator('solveTriangular', 2),
  conv1d: operator('conv', 3), conv2d: operator('conv', 3), conv3d: operator('conv', 3), conv_transpose1d: operator('conv', 3), pad: operator('pad'), max_pool2d: operator('pool'), avg_pool2d: operator('pool'), interpolate: operator('interpolate'), adaptive_avg_pool2d: operator('pool'), avg_pool1d: operator('pool'), max_pool1d: operator('pool'),
  dropout: operator('dropout'), dropout_: operator('dropout'), cross_entropy: chain(['logSoftmax', 'nllLoss'], 2), nll_loss: operator('nllLoss', 2), mse_loss: operator('mseLoss', 2), binary_cross_entropy_with_logits: chain(['bceWithLogits', 'mean'], 2),
  lerp: operator('lerp', 3), lerp_: operator('lerp', 3), addcmul: operator('addcmul', 3), addcmul_: operator('addcmul', 3), addcdiv_: operator('addcdiv', 3), addcdiv: operator('addcdiv', 3), cross: operator('cross', 2), fmod: operator('fmod', 2), remainder: operator('fmod', 2), floor: operator('floor'), ceil: operator('floor'), round: operator('floor'), sign: operator('sign'), rsub: operator('rsub', 2), bernoulli: operator('random'), multinomial: operator('random'), diff: chain(['cat', 'sub']), diag: operator('copy'), diag_embed: operator('copy'), meshgrid: views, solve_triangular: operator('solveTriangular', 2), polar: operator('polar', 2), complex: operator('copy', 2), fft: operator('fft'), ifft: operator('fft'), rfft: operator('fft'), irfft: operator('fft'), repeat_kv: operator('copy'), searchsorted: operator('searchsorted', 2), bucketize: operator('searchsorted', 2), isin: operator('compare', 2), nan_to_num: operator('where'), floor_divide: operator('floor', 2), logical_xor: operator('logical', 2), hardswish: operator('hardswish'), hardsigmoid: operator('hardsigmoid'), selu: operator('elu'), softmin: operator('softmax'), cdist: operator('cdist', 2), kaiser: nothing,
  item: { kind: 'hostRead', ops: [] }, tolist: { kind: 'hostRead', ops: [] }, numpy: { kind: 'hostRead', ops: [] },
  size: number, dim: number, numel: number, ndimension: number, stride: number, element_size: number, data_ptr: number, is_contiguous: number, get_device: number, storage_offset: number, is_floating_point: number, is_complex: number, is_tensor: number,
  all_reduce: nothing, all_gather: nothing, all_gather_into_tensor: nothing, reduce_scatter: nothing, reduce_scatter_tensor: nothing, broadcast: nothing, all_to_all_single: nothing, send: nothing, recv: nothing, isend: nothing, irecv: nothing, is_distributed: nothing,
  save_for_backward: nothing, mark_non_differentiable: nothing, mark_dirty: nothing, set_materialize_grads: nothing, backward: nothing, retain_grad: nothing, register_hook: nothing, manual_seed: nothing, set_: nothing, finfo: nothing, iinfo: nothing, is_available: nothing, is_grad_enabled: nothing, synchronize: nothing, warn: nothing, warning: nothing, warning_once: nothing, info: nothing, debug: nothing, barrier: nothing, is_initialized: nothing, get_rank: nothing, get_world_size: nothing, print: nothing, is_autocast_enabled: nothing, mark_dynamic: nothing, is_compiling: nothing, record_stream: nothing, append: nothing, is_tracing: nothing,
} satisfies Record<string, LibraryCall>));

/** Library modules (`torch.nn.X`) by class: the call they make, with their weight and bias as operands. */
export const LIBRARY_MODULES: ReadonlyMap<string, { readonly op: string | undefined; readonly mode?: string }> = new Map(Object.entries({
  Linear: { op: 'matmul' }, ColumnParallelLinear: { op: 'matmul' }, RowParallelLinear: { op: 'matmul' }, ParallelEmbedding: { op: 'indexSelect' }, VocabParallelEmbedding: { op: 'indexSelect' }, Conv1D: { op: 'matmul' }, Embedding: { op: 'indexSelect' }, LayerNorm: { op: 'layerNorm' }, RMSNorm: { op: 'rmsNorm' }, GroupNorm: { op: 'groupNorm' }, BatchNorm1d: { op: 'batchNorm' }, BatchNorm2d: { op: 'batchNorm' },
  Conv1d: { op: 'conv' }, Conv2d: { op: 'conv' }, Conv3d: { op: 'conv' }, ConvTranspose1d: { op: 'conv' }, ConvTranspose2d: { op: 'conv' }, Dropout: { op: 'dropout' }, Identity: { op: undefined }, Flatten: { op: undefined },
  SiLU: { op: 'silu' }, GELU: { op: 'gelu' }, ReLU: { op: 'relu' }, Sigmoid: { op: 'sigmoid' }, Tanh: { op: 'tanh' }, Softplus: { op: 'softplus' }, Softmax: { op: 'softmax' }, LogSoftmax: { op: 'logSoftmax' }, ReLU6: { op: 'clamp' }, LeakyReLU: { op: 'leakyRelu' }, ELU: { op: 'elu' }, Mish: { op: 'mish' },
  MaxPool2d: { op: 'pool' }, AvgPool2d: { op: 'pool' }, AvgPool1d: { op: 'pool' }, AdaptiveAvgPool2d: { op: 'pool' }, AdaptiveAvgPool1d: { op: 'pool' }, Upsample: { op: 'interpolate' }, CrossEntropyLoss: { op: 'crossEntropy' }, MSELoss: { op: 'mseLoss' }, NLLLoss: { op: 'nllLoss' }, Unfold: { op: 'copy' }, ZeroPad2d: { op: 'pad' }, PReLU: { op: 'leakyRelu' }, Hardswish: { op: 'hardswish' },
} satisfies Record<string, { op: string | undefined; mode?: string }>));

/** Classes of activation tables such as `ACT2FN`, by key: used when the table itself is not indexed. */
export const ACTIVATIONS: ReadonlyMap<string, string> = new Map([
  ['silu', 'silu'], ['swish', 'silu'], ['gelu', 'gelu'], ['gelu_pytorch_tanh', 'gelu'], ['gelu_fast', 'gelu'], ['relu', 'relu'], ['tanh', 'tanh'], ['sigmoid', 'sigmoid'],
]);

/** Activations of such tables that run several operators. */
export const ACTIVATION_CHAINS: ReadonlyMap<string, readonly string[]> = new Map([
  ['relu2', ['relu', 'pow']], ['gelu_new', ['muls', 'pow', 'muls', 'add', 'muls', 'tanh', 'adds', 'mul']], ['quick_gelu', ['muls', 'sigmoid', 'mul']],
]);
