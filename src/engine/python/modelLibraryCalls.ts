/**
 * Calls into model libraries that are seldom indexed but known by name: caches, output records, loss functions, chunking,
 * and decorators that swap in other implementations. Without this each would be a hole in every model.
 */
import type { ClassDefinition, Expression, Span } from './ast';
import { callValue, libraryCall } from './callValue';
import type { Lowering } from './lowering';
import { merge } from './lowering';
import { decoratorName } from './scopes';
import { NONE, UNKNOWN, unknownNumber, type CallArguments, type FunctionValue, type InstanceValue, type Value } from './values';

/** Questions to a key/value cache: numbers and states, no kernels. */
const CACHE_NUMBERS = /^(get_seq_length|get_query_offset|get_max_cache_shape|get_max_length|get_usable_length|is_recording_past|has_previous_state|is_initialized|get_linear_attn_layer_idx)$/;
const CACHE_STATES = /^(get_conv_state|get_recurrent_state|get_ssm_state)$/;

export const isCacheMethod = (name: string): boolean => CACHE_NUMBERS.test(name) || CACHE_STATES.test(name) || /^(get_mask_sizes|update|update_conv_state|update_recurrent_state|update_ssm_state)$/.test(name);

/** A method known by name whatever its receiver; undefined when it is none. */
export function knownMethod(lowering: Lowering, name: string, args: CallArguments, span: Span): Value | undefined {
  if (CACHE_NUMBERS.test(name)) {
    return unknownNumber(lowering.place(span));
  }
  if (CACHE_STATES.test(name)) {
    return UNKNOWN;
  }
  switch (name) {
    case 'get_mask_sizes':
      return { kind: 'sequence', open: false, items: [unknownNumber(), unknownNumber()] };
    case 'update': {
      const tensors = args.positional.slice(0, 2).map((value) => (value.kind === 'tensor' ? value : undefined));
      return tensors.length === 2 && tensors[0] !== undefined && tensors[1] !== undefined ? cached(lowering, [tensors[0], tensors[1]], span) : undefined;
    }
    case 'update_conv_state':
      return args.positional[0]?.kind === 'tensor' ? cached(lowering, [args.positional[0]], span) : undefined;
    case 'update_recurrent_state': case 'update_ssm_state':
      return UNKNOWN;
    case 'loss_function':
      return causalLoss(lowering, args, span);
    default:
      return undefined;
  }
}

/** What a cache hands back: the very tensors on its first use (as in training), else each joined to what it held. */
function cached(lowering: Lowering, tensors: readonly (Value & { kind: 'tensor' })[], span: Span): Value {
  const place = lowering.place(span);
  const joined: number[] = [];
  const join = lowering.graph.capture(() => tensors.forEach(({ node }) => joined.push(lowering.graph.emit('cat', [node], {}, place))));
  if (join.length > 0) {
    lowering.graph.push({ kind: 'alternatives', branches: [[], join], place });
  }
  const items = tensors.map(({ node }, i): Value => ({ kind: 'tensor', node: lowering.graph.phi([node, joined[i] ?? node], place) }));
  return items.length === 1 ? items[0] : { kind: 'sequence', open: false, items };
}

/** The usual loss of language models: followed where its module is indexed, else the operators it runs. */
function causalLoss(lowering: Lowering, args: CallArguments, span: Span): Value {
  const loss = moduleFunction(lowering, ['transformers.loss.loss_utils', 'loss.loss_utils'], 'ForCausalLMLoss');
  if (loss !== undefined) {
    return callValue(lowering, loss, args, span);
  }
  const logits = args.keywords.get('logits') ?? args.positional[0];
  const node = logits === undefined ? undefined : lowering.node(logits, span);
  if (node === undefined || lowering.graph.muted > 0) {
    return UNKNOWN;
  }
  const place = lowering.place(span);
  return { kind: 'tensor', node: ['cast', 'pad', 'copy', 'logSoftmax', 'nllLoss'].reduce((input, op) => lowering.graph.emit(op, [input], {}, place), node) };
}

/** Attention as one kernel, by the names libraries give it. */
const ATTENTION = /^(flash_attn(_varlen)?_func|flash_attn_with_kvcache|memory_efficient_attention|npu_fusion_attention|flex_attention|sageattn)$/;

/** A function of a library that is not indexed, by its last name; undefined when it is none we know. */
export function knownFunction(lowering: Lowering, last: string, args: CallArguments, span: Span): Value | undefined {
  if (/Outputs?(With|$)/.test(last) && /^[A-Z]/.test(last)) {
    return record(args);
  }
  if (/^(is|has|should|can)_[a-z]/.test(last)) {
    return UNKNOWN;
  }
  if (ATTENTION.test(last)) {
    return libraryCall(lowering, { kind: 'operator', op: 'attention', tensors: 3 }, last, args, span, false);
  }
  switch (last) {
    case 'apply_chunking_to_forward':
      return args.positional.length > 3 ? callValue(lowering, args.positional[0], { positional: args.positional.slice(3), keywords: new Map(), open: false }, span) : undefined;
    case 'get_activation':
      return { kind: 'external', path: args.positional[0]?.kind === 'string' ? `activations.ACT2FN[${args.positional[0].value}]` : 'activations.ACT2FN[]' };
    case 'slice_logits_to_keep':
      return args.positional[0];
    case 'ACT2FN': case 'cast': case 'maybe_autocast': case 'deepcopy':
      return args.positional[args.positional.length - 1] ?? UNKNOWN;
    default:
      return undefined;
  }
}

/** An output record: its fields by name, in order for subscripts. */
export function record(args: CallArguments): Value {
  const entries = new Map(args.keywords);
  args.positional.forEach((value, i) => entries.set(`<${i}>`, value));
  return { kind: 'dictionary', entries, fallback: args.open ? UNKNOWN : undefined };
}

/** The library class an indexed class extends (`class Scaled(nn.Embedding)`), when it has one. */
export function libraryBase(lowering: Lowering, instance: InstanceValue): Value | undefined {
  for (const { definition, scope } of lowering.scopes.resolutionOrder(instance)) {
    for (const base of definition.bases) {
      const value = base.name === undefined ? lowering.quietly(scope, () => baseValue(lowering, base.value, scope)) : undefined;
      if (value?.kind === 'external' && /^(torch|mindspore)\./.test(value.path) && !/\.Module$/.test(value.path)) {
        return { kind: 'libraryObject', path: value.path, args: { positional: [], keywords: new Map(), open: true } };
      }
    }
  }
  return undefined;
}

function baseValue(lowering: Lowering, base: Expression, scope: InstanceValue['scope']): Value {
  if (base.kind === 'attribute') {
    const object = baseValue(lowering, base.object, scope);
    return object.kind === 'external' ? { kind: 'external', path: `${object.path}.${base.name}` } : UNKNOWN;
  }
  return base.kind === 'name' ? lowering.scopes.global(base.name, scope) ?? UNKNOWN : UNKNOWN;
}

const EXPERTS = 'use_experts_implementation';

/**
 * A class whose decorator swaps its forward, or a norm that a library may patch: the body, or what is swapped in. Experts have implementations in Python; a
 * kernel from a hub is a fused kernel that no source shows. Undefined for other classes.
 */
export function decoratedForward(lowering: Lowering, instance: InstanceValue, body: () => Value, args: CallArguments, span: Span): Value | undefined {
  const experts = decorator(instance.definition, EXPERTS);
  const options: (() => Value)[] = [body];
  if (experts !== undefined) {
    options.push(...expertForwards(lowering, instance, experts, args, span));
  } else if (/Norm(Gated)?$/.test(instance.definition.name) || instance.definition.decorators.some((entry) => /^use_kernel_forward/.test(decoratorName(entry)))) {
    options.push(() => fusedKernels(lowering, `kernel for ${instance.definition.name}`, args, span));
  } else {
    return undefined;
  }
  return either(lowering, options, span);
}

/** A function with a decorator that may replace it by a hub kernel. */
export const mayBeKernel = (decorators: readonly Expression[]): boolean => decorators.some((entry) => /^use_kernel(ized)?_func/.test(decoratorName(entry)));

export function either(lowering: Lowering, options: readonly (() => Value)[], span: Span): Value {
  const values: Value[] = [];
  const branches = options.map((option) => lowering.graph.capture(() => values.push(option())));
  lowering.graph.push({ kind: 'alternatives', branches, place: lowering.place(span) });
  const [first] = values;
  return values.every((value) => value.kind === 'tensor') ? merge(lowering, values, span) : first;
}

/** Functions that build attention masks: their kernels are small and vary by version, so a hole of their own may stand for them. */
export const buildsMask = (name: string): boolean => /(^|_)(create|prepare|make|update|get|build|expand|convert)_\w*mask/i.test(name);

/** A hole that takes only what mask building launches. */
export function maskKernels(lowering: Lowering, args: CallArguments, span: Span): Value {
  const nodes = [...args.positional, ...args.keywords.values()].flatMap((value) => (value.kind === 'tensor' ? [value.node] : []));
  if (nodes.length === 0 || lowering.graph.muted > 0) {
    return UNKNOWN;
  }
  const node = lowering.graph.emit('hole', nodes, { name: 'mask', mode: 'mask' }, lowering.place(span));
  lowering.optionalNodes.add(node);
  return { kind: 'tensor', node };
}

/** A hole that only fused and unknown kernels may fill. */
export function fusedKernels(lowering: Lowering, reason: string, args: CallArguments, span: Span): Value {
  const nodes = [...args.positional, ...args.keywords.values()].flatMap((value) => (value.kind === 'tensor' ? [value.node] : []));
  if (nodes.length === 0 || lowering.graph.muted > 0) {
    return UNKNOWN;
  }
  return { kind: 'tensor', node: lowering.graph.emit('hole', nodes, { name: reason, mode: 'fused' }, lowering.place(span)) };
}

function expertForwards(lowering: Lowering, instance: InstanceValue, experts: Expression, args: CallArguments, span: Span): readonly (() => Value)[] {
  const { attributes } = instance;
  const given = new Map(experts.kind === 'call' ? experts.args.flatMap(({ name, value }) => (name !== undefined && value.kind === 'constant' && value.value !== undefined ? [[name, value.value] as const] : [])) : []);
  for (const [name, standard] of [['has_gate', true], ['has_bias', false], ['is_transposed', false], ['is_concatenated', true], ['has_post_expert_norm', false], ['_is_expert_parallel', false]] as const) {
    attributes.set(name, { kind: 'boolean', value: given.get(name) ?? standard });
  }
  const forwards = ['grouped_mm_experts_forward', 'batched_mm_experts_forward'].map((name) => moduleFunction(lowering, ['transformers.integrations.moe', 'integrations.moe'], name)).filter((value): value is FunctionValue => value !== undefined);
  if (forwards.length === 0) {
    const nodes = args.positional.flatMap((value) => (value.kind === 'tensor' ? [value.node] : []));
    return [() => (nodes.length === 0 ? NONE : { kind: 'tensor', node: lowering.graph.emit('hole', nodes, { name: 'experts implementation', mode: 'experts' }, lowering.place(span)) })];
  }
  if (lowering.scopes.member(instance, '_apply_gate') === undefined) {
 
    const gate = lowering.scopes.global('_default_apply_gate', forwards[0].scope);
    if (gate?.kind === 'function') {
      attributes.set('_apply_gate', { ...gate, self: instance });
    }
  }
  return forwards.map((forward) => () => callValue(lowering, forward, { ...args, positional: [instance, ...args.positional] }, span));
}

/** A function of a library module, under any of the names an index may know it by. */
export function moduleFunction(lowering: Lowering, modules: readonly string[], name: string): FunctionValue | undefined {
  return modules.map((module) => lowering.scopes.imported(module, 0, name, lowering.scope)).find((value): value is FunctionValue => value.kind === 'function');
}

const decorator = (definition: ClassDefinition, name: string): Expression | undefined => definition.decorators.find((entry) => decoratorName(entry) === name);
