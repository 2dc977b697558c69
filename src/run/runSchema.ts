/**
 * The shape of `RunSettings` as JSON schema, without words. The manifest holds the same with descriptions, for IntelliSense in
 * `tasks.json`; a test proves that this, the manifest and the type agree.
 */
export interface Schema {
  readonly type?: 'string' | 'integer' | 'boolean' | 'array' | 'object';
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | Schema;
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
}

const text: Schema = { type: 'string' };
const filled: Schema = { type: 'string', minLength: 1 };
const flag: Schema = { type: 'boolean' };
const words: Schema = { type: 'array', items: text };
const count: Schema = { type: 'integer', minimum: 1 };
const amount: Schema = { type: 'integer', minimum: 0 };
/** A name for ssh: a leading dash would be read as an option. */
export const HOST_PATTERN = '^[^-\\s][^\\s]*$';
const host: Schema = { type: 'string', minLength: 1, pattern: HOST_PATTERN };

export const RUN_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['launcher', 'command'],
  properties: {
    host,
    launcher: { type: 'string', enum: ['command', 'torchrun', 'slurm', 'ray'], default: 'command' },
    exec: {
      type: 'object', additionalProperties: false, required: ['prefix'],
      properties: { prefix: { type: 'array', minItems: 1, items: text }, path: filled },
    },
    workdir: filled,
    command: filled,
    args: words,
    env: { type: 'object', additionalProperties: text },
    setup: words,
    nodes: { anyOf: [count, { type: 'array', minItems: 1, items: host }] },
    procs: count,
    rendezvous: filled,
    slurm: {
      type: 'object', additionalProperties: false,
      properties: { partition: filled, account: filled, time: filled, gpusPerNode: amount, cpusPerTask: count, array: filled, torchrun: { ...flag, default: false }, arguments: words },
    },
    ray: {
      type: 'object', additionalProperties: false,
      properties: { address: filled, cpus: amount, gpus: amount },
    },
    capture: {
      type: 'object', additionalProperties: false, required: ['steps'],
      properties: {
        steps: { anyOf: [filled, { type: 'array', minItems: 2, maxItems: 2, items: count }] },
        warmup: { ...amount, default: 1 },
        stacks: { ...flag, default: false },
        shapes: { ...flag, default: false },
        memory: { ...flag, default: false },
        level: { type: 'integer', enum: [0, 1, 2], default: 1 },
        ranks: { type: 'array', minItems: 1, items: amount },
        twoPass: flag,
        method: { type: 'string', enum: ['helper', 'xtuner', 'dynamic', 'nsys'], default: 'helper' },
      },
    },
    sync: {
      type: 'object', additionalProperties: false,
      properties: { push: { ...flag, default: false }, ignore: words, fetch: { type: 'string', enum: ['analysis', 'trace', 'none'], default: 'analysis' } },
    },
    tokensPerStep: count,
    ranksPerCard: count,
  },
} as const satisfies Schema;
