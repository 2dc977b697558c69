/** Walks calls: indexed functions are followed, library calls become operators, the rest becomes a hole. */
import type { Span } from './ast';
import { einopsCall, einsum } from './einops';
import { attribute, arithmetic, dtypeOf } from './evaluate';
import { ACTIVATION_CHAINS, ACTIVATIONS, LIBRARY_CALLS, LIBRARY_MODULES, type LibraryCall } from './libraryCalls';
import { bindParameters, MAX_CALL_DEPTH, merge, type Lowering } from './lowering';
import { buildsMask, decoratedForward, either, fusedKernels, knownFunction, knownMethod, libraryBase, maskKernels, mayBeKernel, moduleFunction } from './modelLibraryCalls';
import type { NodeAttributes } from './operatorGraph';
import { NONE, nodesOf, UNKNOWN, unknownNumber, type CallArguments, type FunctionValue, type InstanceValue, type Value } from './values';

export function callValue(lowering: Lowering, callee: Value, args: CallArguments, span: Span): Value {
  switch (callee.kind) {
    case 'function':
      if (buildsMask(callee.name) && lowering.graph.muted === 0) {
        const mask = either(lowering, [() => follow(lowering, callee, args, span), () => maskKernels(lowering, args, span)], span);
        // Mask builders return None where the attention kernel needs no mask.
        if (mask.kind === 'tensor') {
          lowering.optionalNodes.add(mask.node);
        }
        return mask.kind === 'none' ? UNKNOWN : mask;
      }
      return mayBeKernel(callee.definition?.decorators ?? []) && lowering.graph.muted === 0
        ? either(lowering, [() => follow(lowering, callee, args, span), () => fusedKernels(lowering, `kernel for ${callee.name}`, args, span)], span)
        : follow(lowering, callee, args, span);
    case 'partial':
      return callValue(lowering, callee.callee, { positional: [...callee.args.positional, ...args.positional], keywords: new Map([...callee.args.keywords, ...args.keywords]), open: args.open || callee.args.open }, span);
    case 'class':
      return lowering.construct(callee, args);
    case 'instance': {
      const member = lowering.scopes.member(callee, 'forward') ?? lowering.scopes.member(callee, '__call__');
      if (member?.statement.kind !== 'function') {
        const base = libraryBase(lowering, callee);
        return base === undefined ? opaque(lowering, `call of ${callee.definition.name}`, args, span) : callValue(lowering, base, args, span);
      }
      const { name } = member.statement;
      const body = (): Value => callValue(lowering, attribute(lowering, callee, name, span), args, span);
      return (lowering.graph.muted > 0 ? undefined : decoratedForward(lowering, callee, body, args, span)) ?? body();
    }
    case 'bound':
      return method(lowering, callee.receiver, callee.name, args, span);
    case 'external':
      return external(lowering, callee.path, args, span);
    case 'libraryObject':
      return libraryModule(lowering, callee, args, span);
    case 'sequence': {
      // nn.Sequential: one after the other.
      const through = (input: Value): Value => callee.items.reduce((value, item) => callValue(lowering, item, { positional: [value], keywords: new Map(), open: false }, span), input);
      const input = args.positional[0] ?? UNKNOWN;
      return callee.open ? repeatedly(lowering, through, input, span) : through(input);
    }
    case 'choice':
      return alternatives(lowering, callee.options.filter((option) => option.kind !== 'none'), args, span);
    case 'unknown': case 'tensor': case 'parameter': case 'module': case 'number': case 'string': case 'boolean': case 'none': case 'dtype': case 'shape': case 'super': case 'dictionary':
      return opaque(lowering, `call of ${lowering.scope.text.slice(span.start, Math.min(span.end, span.start + 40)).split('\n')[0]}`, args, span);
  }
}

/** What goes through modules an unknown number of times: `nn.Sequential(*[Block() for _ in range(depth)])`. */
function repeatedly(lowering: Lowering, body: (input: Value) => Value, input: Value, span: Span): Value {
  const { graph } = lowering;
  const place = lowering.place(span);
  const node = lowering.node(input, span);
  const phi = node === undefined ? undefined : graph.emit('phi', [node], {}, place);
  let value = input;
  const steps = graph.capture(() => {
    value = body(phi === undefined ? input : { kind: 'tensor', node: phi });
  });
  graph.push({ kind: 'loop', steps, place, count: undefined });
  const after = lowering.node(value, span);
  if (phi !== undefined && after !== undefined) {
    graph.addInput(phi, after);
  }
  return value;
}

/** A call whose callee is one of several: each is a branch. */
function alternatives(lowering: Lowering, options: readonly Value[], args: CallArguments, span: Span): Value {
  if (options.length === 0) {
    return opaque(lowering, 'call of an unknown choice', args, span);
  }
  if (options.length === 1) {
    return callValue(lowering, options[0], args, span);
  }
  const values: Value[] = [];
  const branches = options.slice(0, 16).map((option) => lowering.graph.capture(() => values.push(callValue(lowering, option, args, span))));
  lowering.graph.push({ kind: 'alternatives', branches, place: lowering.place(span) });
  return merge(lowering, values, span);
}

function follow(lowering: Lowering, callee: FunctionValue, args: CallArguments, span: Span): Value {
  if (!lowering.follow && lowering.graph.muted === 0 && lowering.active.length > 0) {
    return opaque(lowering, `call of ${callee.name} (not followed)`, args, span);
  }
  if (lowering.active.includes(callee.body) || lowering.active.length >= MAX_CALL_DEPTH || lowering.graph.cut) {
    return opaque(lowering, `recursive call of ${callee.name}`, args, span);
  }
  if (lowering.isOneTooMany(callee.body)) {
    return opaque(lowering, `call of ${callee.name} (followed often enough)`, args, span);
  }
  const environment = bindParameters(lowering, callee, args.positional, args.keywords, args.open ? 'all' : 'none');
  const { graph } = lowering;
  const outer = graph.call;
  const statement = graph.statement;
  const definition = callee.definition ?? span;
  const name = callee.owner === undefined ? callee.name : `${callee.owner.name}.${callee.name}`;
  graph.calls.push({ callee: name, definition: { file: callee.scope.file, start: definition.start, end: definition.end }, site: lowering.place(span), parent: outer });
  const call = graph.calls.length - 1;
  graph.call = call;
  let value: Value = NONE;
  try {
    const steps = graph.capture(() => {
      value = lowering.run(callee, environment);
    });
    graph.push({ kind: 'call', call, steps });
  } finally {
    graph.call = outer;
    graph.statement = statement;
  }
  return value;
}

/** What is not understood: a hole that may launch anything, unless no tensor goes in. */
export function opaque(lowering: Lowering, reason: string, args: CallArguments, span: Span): Value {
  const nodes = [...args.positional, ...args.keywords.values()].flatMap((value) => {
    const node = value.kind === 'parameter' ? lowering.node(value, span) : undefined;
    return node === undefined ? nodesOf(value) : [node];
  });
  if (nodes.length === 0 || lowering.graph.muted > 0) {
    return { kind: 'unknown', nodes };
  }
  return { kind: 'tensor', node: lowering.graph.hole(reason, [...new Set(nodes)], lowering.place(span)) };
}

function method(lowering: Lowering, receiver: Value, name: string, args: CallArguments, span: Span): Value {
  if (name === 'get_interface' && args.positional.length > 0) {
    return attentionInterface(lowering, args.positional[args.positional.length - 1]);
  }
  const known = receiver.kind === 'libraryObject' || receiver.kind === 'dictionary' ? undefined : knownMethod(lowering, name, args, span);
  if (known !== undefined) {
    return known;
  }
  if (receiver.kind === 'libraryObject' && name === 'forward') {
    return libraryModule(lowering, receiver, args, span);
  }
  const node = lowering.node(receiver, span);
  if (node === undefined) {
    return plainMethod(lowering, receiver, name, args, span);
  }
  const inPlace = name.endsWith('_') && !name.endsWith('__');
  const library = LIBRARY_CALLS.get(name);
  if (library === undefined) {
    return opaque(lowering, `method ${name}`, { ...args, positional: [receiver, ...args.positional] }, span);
  }
  return libraryCall(lowering, library, name, { ...args, positional: [{ kind: 'tensor', node }, ...args.positional] }, span, inPlace);
}

/** Methods of things that are no tensors. */
function plainMethod(lowering: Lowering, receiver: Value, name: string, args: CallArguments, span: Span): Value {
  if (receiver.kind === 'dictionary') {
    const [key, standard] = args.positional;
    switch (name) {
      case 'get': case 'pop':
        return (key?.kind === 'string' ? receiver.entries.get(key.value) : undefined) ?? receiver.fallback ?? standard ?? (key?.kind === 'string' ? NONE : { kind: 'choice', options: [...receiver.entries.values(), NONE] });
      case 'values':
        return { kind: 'sequence', items: [...receiver.entries.values()], open: receiver.fallback !== undefined };
      case 'items':
        return { kind: 'sequence', items: [...receiver.entries].map(([entry, value]): Value => ({ kind: 'sequence', items: [{ kind: 'string', value: entry }, value], open: false })), open: receiver.fallback !== undefined };
      case 'keys':
        return { kind: 'sequence', items: [...receiver.entries.keys()].map((entry): Value => ({ kind: 'string', value: entry })), open: receiver.fallback !== undefined };
      default:
        return UNKNOWN;
    }
  }
  if (receiver.kind === 'instance' || receiver.kind === 'unknown') {
    if (LIBRARY_CALLS.get(name)?.kind === 'nothing') {
      return UNKNOWN;
    }
    // Checkpointing wraps a call: `self._gradient_checkpointing_func(layer.__call__, x, …)`.
    const [target] = args.positional;
    if (/checkpoint/i.test(name) && target !== undefined && isCallable(target)) {
      return callValue(lowering, target, { ...args, positional: args.positional.slice(1), keywords: new Map() }, span);
    }
    if (receiver.kind === 'instance' && /^register_(buffer|parameter)$/.test(name)) {
      return registered(lowering, receiver, args, span);
    }
    const [named, module] = args.positional;
    if (receiver.kind === 'instance' && /^(add_module|register_module)$/.test(name) && named?.kind === 'string' && module !== undefined) {
      lowering.setAttribute(receiver, named.value, module);
      return NONE;
    }
    if (receiver.kind === 'instance' && /^(register_|add_module|post_init|apply$|_init_weights|train$|eval$|to$|parameters$|named_)/.test(name)) {
      return UNKNOWN;
    }
    // `cache.index_copy_(1, at, k)`: only tensors have methods that end so.
    const library = receiver.kind === 'unknown' && /[a-z]_$/.test(name) ? LIBRARY_CALLS.get(name) : undefined;
    if (receiver.kind === 'unknown' && /^(view|reshape|expand|type)_as$/.test(name)) {
      return UNKNOWN;
    }
    return library === undefined ? opaque(lowering, `method ${name}`, args, span) : libraryCall(lowering, library, name, args, span, true);
  }
  return nodesOf({ kind: 'sequence', items: args.positional, open: false }).length === 0 ? UNKNOWN : opaque(lowering, `method ${name}`, args, span);
}

/** `self.register_buffer("mask", tensor)`: an attribute that holds a tensor; None may be filled in later. */
function registered(lowering: Lowering, instance: InstanceValue, { positional, keywords }: CallArguments, span: Span): Value {
  const name = positional[0] ?? keywords.get('name');
  const value = positional[1] ?? keywords.get('tensor') ?? keywords.get('param') ?? UNKNOWN;
  if (name?.kind === 'string') {
    lowering.setAttribute(instance, name.value, value.kind === 'none' ? value : { kind: 'parameter', name: name.value, place: lowering.place(span) });
  }
  return NONE;
}

/** `ALL_ATTENTION_FUNCTIONS.get_interface(name, eager)`: the eager function given, or one fused attention. */
function attentionInterface(lowering: Lowering, eager: Value): Value {
  const sdpa = moduleFunction(lowering, ['transformers.integrations.sdpa_attention', 'integrations.sdpa_attention'], 'sdpa_attention_forward');
  return { kind: 'choice', options: [eager, ...(sdpa === undefined ? [] : [sdpa]), { kind: 'external', path: 'torch.nn.functional.attention_interface' }] };
}

const isCallable = (value: Value): boolean => ['function', 'instance', 'partial', 'libraryObject', 'choice', 'class'].includes(value.kind);

function external(lowering: Lowering, path: string, args: CallArguments, span: Span): Value {
  const last = path.split('.').pop() ?? path;
  if (last === 'get_interface' && args.positional.length > 0) {
    return attentionInterface(lowering, args.positional[args.positional.length - 1]);
  }
  if (last === 'attention_interface') {
    const [, query, key, value] = args.positional;
    const output = libraryCall(lowering, { kind: 'operator', op: 'attention', tensors: 3 }, last, { positional: [query, key, value].filter((operand) => operand !== undefined), keywords: new Map(), open: false }, span, false);
    return { kind: 'sequence', open: false, items: [output, NONE] };
  }
  if (path.startsWith('builtins.')) {
    return builtin(lowering, last, args, span);
  }
  const activation = /\[(\w*)\]$/.exec(last);
  if (activation !== null) {
    // `ACT2FN["silu"]` of a table that is not indexed yields a module to call.
    const known = ACTIVATIONS.get(activation[1]);
    return libraryActivation(lowering, activation[1], known, args, span);
  }
  if (/(^|\.)partial$/.test(path)) {
    return args.positional.length === 0 ? UNKNOWN : { kind: 'partial', callee: args.positional[0], args: { ...args, positional: args.positional.slice(1) } };
  }
  if (/checkpoint$/.test(path) && args.positional.length > 0 && isCallable(args.positional[0])) {
    return callValue(lowering, args.positional[0], { positional: args.positional.slice(1), keywords: new Map(), open: args.open }, span);
  }
  if (/(^|\.)(nn\.)?(Parameter|Buffer)$/.test(path)) {
    return { kind: 'parameter', name: 'weight', place: lowering.place(span) };
  }
  if (/(^|\.)(ModuleList|ParameterList)$/.test(path)) {
    return args.positional[0] ?? { kind: 'sequence', items: [], open: true };
  }
  if (/(^|\.)ModuleDict$/.test(path)) {
    return args.positional[0] ?? { kind: 'dictionary', entries: new Map(), fallback: UNKNOWN };
  }
  if (/(^|\.)Sequential$/.test(path)) {
    const [only] = args.positional;
    return only?.kind === 'dictionary' ? { kind: 'sequence', items: [...only.entries.values()], open: only.fallback !== undefined } : { kind: 'sequence', items: args.positional, open: args.open };
  }
  if (/(^|\.)OrderedDict$/.test(path)) {
    return dictionaryOf(args);
  }
  if (/(^|\.)SimpleNamespace$/.test(path)) {
    return { kind: 'dictionary', entries: args.keywords, fallback: args.open ? UNKNOWN : undefined };
  }
  const byPattern = path.startsWith('einops.') && /^[a-z]/.test(last) ? einopsCall(lowering, last, args, span) : undefined;
  if (byPattern !== undefined) {
    return byPattern;
  }
  if (/^[A-Z]/.test(last) && (/^(torch|mindspore|einops\.layers)/.test(path) || LIBRARY_MODULES.has(last))) {
    return { kind: 'libraryObject', path, args };
  }
  const isLibrary = /^(torch|torch_npu|mindspore|F|nn)(\.|$)/.test(path) || path.includes('functional');
  const library = isLibrary ? LIBRARY_CALLS.get(last) : undefined;
  if (library !== undefined) {
    return libraryCall(lowering, library, last, args, span, last.endsWith('_'));
  }
  if (buildsMask(last)) {
    return maskKernels(lowering, args, span);
  }
  const model = knownFunction(lowering, last, args, span);
  if (model !== undefined) {
    return model;
  }
  if (path.startsWith('math.') || path.startsWith('numpy')) {
    const folded = foldedCall(last, args);
    return folded === undefined ? unknownNumber(lowering.place(span)) : { kind: 'number', value: folded, place: lowering.place(span) };
  }
  return opaque(lowering, `call of ${path}`, args, span);
}

/** Functions of `math` and `numpy` whose value on numbers the source gives: `math.sqrt(2 / math.pi)`. */
const FOLDED: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ['sqrt', Math.sqrt], ['exp', Math.exp], ['log', (a: number, b: number) => (Number.isNaN(b) ? Math.log(a) : Math.log(a) / Math.log(b))], ['log2', Math.log2], ['log10', Math.log10], ['pow', (a: number, b: number) => a ** b], ['power', (a: number, b: number) => a ** b],
]);

function foldedCall(name: string, { positional, keywords }: CallArguments): number | undefined {
  const numbers = positional.map((value) => (value.kind === 'number' ? value.value : NaN));
  const value = keywords.size > 0 || numbers.length === 0 || numbers.length > 2 || numbers.some(Number.isNaN) ? undefined : FOLDED.get(name)?.(numbers[0], numbers[1] ?? NaN);
  return value === undefined || Number.isNaN(value) ? undefined : value;
}

/** An activation of a table that is not indexed: the one named, else any of the usual. */
function libraryActivation(lowering: Lowering, key: string, known: string | undefined, args: CallArguments, span: Span): Value {
  const run = (op: string): Value => libraryCall(lowering, { kind: 'operator', op, tensors: 1 }, op, args, span, false);
  const runAll = (ops: readonly string[]): Value => libraryCall(lowering, { kind: 'chain', ops, tensors: 1 }, ops[0], args, span, false);
  const chain = ACTIVATION_CHAINS.get(key);
  if (chain !== undefined) {
    return runAll(chain);
  }
  if (known !== undefined) {
    return run(known);
  }
  return either(lowering, [...['silu', 'gelu', 'relu'].map((op) => () => run(op)), ...[...ACTIVATION_CHAINS.values()].map((ops) => () => runAll(ops))], span);
}

/** `dict(a=1)`, `OrderedDict([("a", 1)])`. */
function dictionaryOf({ positional, keywords, open }: CallArguments): Value {
  const [first] = positional;
  const pairs = first?.kind === 'sequence' ? first.items.flatMap((item): readonly (readonly [string, Value])[] => (item.kind === 'sequence' && item.items[0]?.kind === 'string' && item.items.length === 2 ? [[item.items[0].value, item.items[1]]] : [])) : [];
  if (first !== undefined && first.kind !== 'dictionary' && pairs.length === 0) {
    return first;
  }
  const given = first?.kind === 'dictionary' ? first.entries : new Map(pairs);
  return { kind: 'dictionary', entries: new Map([...given, ...keywords]), fallback: first?.kind === 'dictionary' ? first.fallback : open ? UNKNOWN : undefined };
}

function builtin(lowering: Lowering, name: string, args: CallArguments, span: Span): Value {
  const [first, second] = args.positional;
  switch (name) {
    case 'range': {
      const count = args.positional.length === 1 && first?.kind === 'number' ? first.value : NaN;
      return count <= 8 ? { kind: 'sequence', open: false, items: Array.from({ length: Math.max(0, count) }, (_, value): Value => ({ kind: 'number', value, place: undefined })) } : { kind: 'sequence', open: true, items: [unknownNumber()] };
    }
    case 'enumerate':
      return first?.kind === 'sequence' ? { ...first, items: first.items.map((item, value): Value => ({ kind: 'sequence', open: false, items: [first.open ? unknownNumber() : { kind: 'number', value, place: undefined }, item] })) } : { kind: 'sequence', open: true, items: [{ kind: 'sequence', open: false, items: [unknownNumber(), first ?? UNKNOWN] }] };
    case 'zip': {
      const sequences = args.positional.filter((value): value is Value & { kind: 'sequence' } => value.kind === 'sequence');
      const length = Math.min(...sequences.map((value) => value.items.length));
      return sequences.length === 0 ? UNKNOWN : { kind: 'sequence', open: sequences.length < args.positional.length || sequences.some((value) => value.open), items: Array.from({ length }, (_, i): Value => ({ kind: 'sequence', open: false, items: args.positional.map((value) => (value.kind === 'sequence' ? value.items[i] : UNKNOWN)) })) };
    }
    case 'tuple': case 'list': case 'reversed': case 'sorted': case 'iter':
      return first === undefined ? { kind: 'sequence', items: [], open: false } : first.kind === 'shape' ? first : first;
    case 'dict':
      return dictionaryOf(args);
    case 'getattr': {
      const names = second?.kind === 'choice' ? second.options : second === undefined ? [] : [second];
      const found = first === undefined ? [] : names.flatMap((option) => (option.kind === 'string' ? [attribute(lowering, first, option.value, span)] : []));
      return found.length === 0 ? UNKNOWN : merge(lowering, found, span);
    }
    case 'setattr':
      if (first?.kind === 'instance' && second?.kind === 'string' && args.positional[2] !== undefined) {
        lowering.setAttribute(first, second.value, args.positional[2]);
      }
      return NONE;
    case 'len': case 'int': case 'float': case 'round': case 'abs':
      return first?.kind === 'number' ? first : unknownNumber(lowering.place(span));
    case 'min': case 'max': case 'sum': {
      const tensors = nodesOf({ kind: 'sequence', items: args.positional, open: false });
      return tensors.length === 0 ? unknownNumber(lowering.place(span)) : { kind: 'tensor', node: lowering.graph.emit('add', tensors.slice(0, 2), {}, lowering.place(span)) };
    }
    case 'map':
      return first !== undefined && second?.kind === 'sequence' ? { ...second, items: second.items.map((item) => callValue(lowering, first, { positional: [item], keywords: new Map(), open: false }, span)) } : UNKNOWN;
    case 'next':
      return first?.kind === 'sequence' ? first.items[0] ?? UNKNOWN : UNKNOWN;
    default:
      return UNKNOWN;
  }
}

function libraryModule(lowering: Lowering, callee: Value & { kind: 'libraryObject' }, args: CallArguments, span: Span): Value {
  const name = callee.path.split('.').pop() ?? callee.path;
  const known = LIBRARY_MODULES.get(name);
  const byPattern = callee.path.startsWith('einops.') ? einopsCall(lowering, name, { ...args, positional: [...args.positional, ...callee.args.positional] }, span) : undefined;
  if (byPattern !== undefined) {
    return byPattern;
  }
  if (name === 'MultiheadAttention') {
    return multiheadAttention(lowering, args, span);
  }
  if (known === undefined) {
    return opaque(lowering, `module ${name}`, args, span);
  }
  const asFunction = known.op === 'crossEntropy' ? LIBRARY_CALLS.get('cross_entropy') : undefined;
  if (asFunction !== undefined) {
    return libraryCall(lowering, asFunction, 'cross_entropy', args, span, false);
  }
  const input = args.positional[0] ?? [...args.keywords.values()][0];
  if (known.op === undefined) {
    return input ?? UNKNOWN;
  }
  const node = input === undefined ? undefined : lowering.node(input, span);
  if (node === undefined || lowering.graph.muted > 0) {
    return UNKNOWN;
  }
  const mode = callee.args.keywords.get('approximate');
  const operands = known.op === 'matmul' ? productOperands(callee.args) : undefined;
  return { kind: 'tensor', node: lowering.graph.emit(known.op, [node], { name, ...(operands === undefined ? {} : { operands }), ...(mode?.kind === 'string' ? { mode: mode.value } : {}) }, lowering.place(span)) };
}

/** `nn.MultiheadAttention`: one product for query, key and value where they are one tensor, else two or three; then attention and a product. */
function multiheadAttention(lowering: Lowering, { positional, keywords }: CallArguments, span: Span): Value {
  const { graph } = lowering;
  const inputs = ['query', 'key', 'value'].map((name, i) => positional[i] ?? keywords.get(name)).map((value) => (value === undefined ? undefined : lowering.node(value, span))).filter((node): node is number => node !== undefined);
  if (inputs.length === 0 || graph.muted > 0) {
    return UNKNOWN;
  }
  const place = lowering.place(span);
  const products = new Set(inputs).size;
  const projected = Array.from({ length: products }, (_, i) => graph.emit('matmul', [[...new Set(inputs)][i]], { operands: 3 }, place));
  const laidOut = graph.emit('copy', [projected[0]], {}, place);
  const attended = graph.emit('attention', [laidOut, ...projected.slice(1)], {}, place);
  const output = graph.emit('matmul', [graph.emit('view', [attended], { name: 'reshape' }, place)], { operands: 3 }, place);
  return { kind: 'sequence', open: false, items: [{ kind: 'tensor', node: output }, UNKNOWN] };
}

/** `Linear(in, out, bias=False)` reads two tensors, without the argument three; undefined where the argument is not known. */
function productOperands({ positional, keywords, open }: CallArguments): number | undefined {
  const bias = keywords.get('bias') ?? positional[2];
  return bias === undefined ? (open ? undefined : 3) : bias.kind === 'boolean' ? (bias.value ? 3 : 2) : undefined;
}

/** Calls a function of the table on evaluated arguments. */
export function libraryCall(lowering: Lowering, library: LibraryCall, name: string, args: CallArguments, span: Span, inPlace: boolean): Value {
  const { graph } = lowering;
  const place = lowering.place(span);
  if (graph.muted > 0) {
    return library.kind === 'number' || library.kind === 'hostRead' ? unknownNumber(place) : { kind: 'parameter', name: 'buffer', place };
  }
  const operands = [...args.positional, ...args.keywords.entries()].map((value) => (Array.isArray(value) ? (isTensorKeyword(value[0]) ? (value[1]) : NONE) : (value)));
  const nodes = operands.map((value) => (value.kind === 'sequence' ? undefined : lowering.node(value, span))).filter((node): node is number => node !== undefined);
  const [first] = nodes;
  const tensor = (op: string, inputs: readonly number[], attributes: NodeAttributes = {}): Value => ({ kind: 'tensor', node: graph.emit(op, inputs, inPlace ? { ...attributes, inPlace } : attributes, place) });
  const dtype = args.keywords.get('dtype');
  if (name === 'einsum') {
    const [equation, ...operands_] = args.positional;
    return einsum(lowering, equation?.kind === 'string' ? equation.value : undefined, operands_, span);
  }
  if (name === 'where' && args.positional.length === 1 && nodes.length === 1) {
    // torch.where(condition) alone is nonzero, one index tensor for each dimension.
    const indices = libraryCall(lowering, { kind: 'hostRead', ops: ['nonzero'] }, 'nonzero', args, span, false);
    return { kind: 'sequence', items: [indices, indices], open: false };
  }
  switch (library.kind) {
    case 'view':
      return first === undefined ? UNKNOWN : tensor('view', [first], { name });
    case 'views': {
      if (first === undefined) {
        return UNKNOWN;
      }
      const count = name === 'chunk' && args.positional[1]?.kind === 'number' ? args.positional[1].value : args.positional[1]?.kind === 'sequence' ? args.positional[1].items.length : NaN;
      return count > 0 && count <= 64 ? { kind: 'sequence', open: false, items: Array.from({ length: count }, (_, i) => tensor('view', [first], { name: `${name} ${i}` })) } : tensor('view', [first], { name });
    }
    case 'operator': {
      if (first === undefined) {
        return UNKNOWN;
      }
      const input = dtype === undefined || dtype.kind === 'none' ? first : graph.emit('cast', [first], { dtype: dtypeOf(lowering, dtype, span) }, place);
      const mode = args.keywords.get('approximate');
      const node = graph.emit(library.op, [input, ...nodes.slice(1, library.tensors)], { ...attributesOf(args), ...(name === 'addmm' ? { operands: 3 } : {}), ...(mode?.kind === 'string' ? { mode: mode.value } : {}), ...(inPlace ? { inPlace } : {}) }, place);
      return outputs(lowering, node, library.outputs ?? 1, span);
    }
    case 'arithmetic': {
      const [left, right] = [operands[0] ?? UNKNOWN, operands[1] ?? args.keywords.get('other') ?? args.keywords.get('exponent') ?? UNKNOWN];
      return arithmetic(lowering, library.operator, left, right, span, inPlace);
    }
    case 'reduction': {
      if (first === undefined) {
        return UNKNOWN;
      }
      const input = dtype === undefined || dtype.kind === 'none' ? first : graph.emit('cast', [first], { dtype: dtypeOf(lowering, dtype, span) }, place);
      const second = args.positional[1];
      if (library.op === 'max' && second?.kind === 'tensor') {
        return tensor('clamp', [first, second.node]);
      }
      const node = graph.emit(library.op, [input], attributesOf(args), place);
      return library.pair === true && (second !== undefined || args.keywords.has('dim')) ? outputs(lowering, node, 2, span) : { kind: 'tensor', node };
    }
    case 'cast':
      return castCall(lowering, library.dtype, args, span);
    case 'join': {
      const items = args.positional[0] ?? args.keywords.get('tensors') ?? UNKNOWN;
      const inputs = items.kind === 'sequence' ? items.items.map((item) => lowering.node(item, span)).filter((node): node is number => node !== undefined) : nodes;
      return inputs.length === 0 ? UNKNOWN : tensor(library.op, inputs);
    }
    case 'factory':
      return library.op === undefined ? tensor('input', [], { name: `torch.${name}` }) : tensor(library.op, []);
    case 'chain': {
      if (first === undefined) {
        return UNKNOWN;
      }
      let node = first;
      library.ops.forEach((op, i) => {
        node = graph.emit(op, i === 0 ? [node, ...nodes.slice(1, library.tensors)] : [node], {}, place);
      });
      return { kind: 'tensor', node };
    }
    case 'hostRead': {
      if (first === undefined) {
        return UNKNOWN;
      }
      let node = first;
      library.ops.forEach((op) => {
        node = graph.emit(op, [node], {}, place);
      });
      graph.emit('hostRead', [node], {}, place);
      return library.ops.length === 0 ? unknownNumber(place) : { kind: 'tensor', node };
    }
    case 'number':
      return name === 'size' && args.positional.length === 1 && first !== undefined ? { kind: 'shape', node: first } : unknownNumber(place);
    case 'nothing':
      return UNKNOWN;
  }
}

/** Keywords that carry tensors; the others (dim, dtype, out …) do not. */
const isTensorKeyword = (name: string): boolean => /^(input|other|weight|bias|index|src|mask|attn_mask|query|key|value|value_|target|tensor1|tensor2|mat1|mat2|hidden_states|x)$/.test(name);

function outputs(lowering: Lowering, node: number, count: number, span: Span): Value {
  return count === 1 ? { kind: 'tensor', node } : { kind: 'sequence', open: false, items: Array.from({ length: count }, (_, i): Value => (i === 0 ? { kind: 'tensor', node } : { kind: 'tensor', node: lowering.graph.emit('view', [node], { name: `output ${i}` }, lowering.place(span)) })) };
}

function attributesOf(args: CallArguments): NodeAttributes {
  const dim = args.keywords.get('dim') ?? args.keywords.get('axis') ?? args.positional[1];
  const keepdim = args.keywords.get('keepdim') ?? args.positional[2];
  const dims = dim?.kind === 'number' ? [dim.value] : dim?.kind === 'sequence' ? dim.items.map((item) => (item.kind === 'number' ? item.value : NaN)) : undefined;
  return { ...(dims === undefined ? {} : { dims }), ...(keepdim?.kind === 'boolean' ? { keepdim: keepdim.value } : {}) };
}

/** `.to(…)` converts when a dtype or a tensor is given, and only moves when a device is. */
function castCall(lowering: Lowering, named: string | undefined, args: CallArguments, span: Span): Value {
  const node = args.positional[0] === undefined ? undefined : lowering.node(args.positional[0], span);
  if (node === undefined) {
    return UNKNOWN;
  }
  const place = lowering.place(span);
  if (named !== undefined) {
    return { kind: 'tensor', node: lowering.graph.emit('cast', [node], { dtype: { kind: 'named', name: named } }, place) };
  }
  const candidates = [args.keywords.get('dtype'), ...args.positional.slice(1)].filter((value): value is Value => value !== undefined);
  const target = candidates.find((value) => value.kind === 'dtype' || value.kind === 'tensor' || value.kind === 'parameter');
  if (target !== undefined) {
    return { kind: 'tensor', node: lowering.graph.emit('cast', [node], { dtype: dtypeOf(lowering, target, span) }, place) };
  }
  const unclear = candidates.some((value) => value.kind === 'unknown' || value.kind === 'choice' || value.kind === 'external' || value.kind === 'bound');
  return { kind: 'tensor', node: lowering.graph.emit(unclear && !args.keywords.has('device') ? 'cast' : 'view', [node], { dtype: { kind: 'unknown' }, name: 'to' }, place) };
}
