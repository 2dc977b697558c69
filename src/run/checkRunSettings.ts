/** Whether settings from a file or a form make a run: their shape first, then combinations that cannot be meant. */
import type { Message } from '../engine/profile/problems';
import { isRecord } from '../protocol/isRecord';
import { stepWindows } from './captureSteps';
import { containerKind, uselessOption } from './containerPrefix';
import { RUN_SCHEMA, type Schema } from './runSchema';
import type { RunSettings } from './runSettings';

/** What is wrong, and with which setting: `['capture', 'steps', 0]`. */
export interface SettingsProblem extends Message {
  readonly path: readonly (string | number)[];
}

export type CheckedSettings =
  | { readonly ok: true; readonly settings: RunSettings }
  | { readonly ok: false; readonly problems: readonly SettingsProblem[] };

/** Keys that every task of `tasks.json` may have; they say how VS Code shows a task, not how it runs. */
const TASK_KEYS: ReadonlySet<string> = new Set([
  'type', 'label', 'taskName', 'identifier', 'detail', 'icon', 'hide', 'group', 'presentation', 'problemMatcher', 'runOptions', 'dependsOn', 'dependsOrder', 'isBackground', 'promptOnClose', 'options', 'windows', 'osx', 'linux',
]);

/** Never throws. All problems of the shape are told together; combinations are looked at once the shape is right. */
export function checkRunSettings(given: unknown): CheckedSettings {
  if (!isRecord(given)) {
    return { ok: false, problems: [wrongType([], 'object', given)] };
  }
  const own = Object.fromEntries(Object.entries(given).filter(([key]) => !TASK_KEYS.has(key)));
  const shape = check(own, RUN_SCHEMA, []);
  if (shape.length > 0) {
    return { ok: false, problems: shape };
  }
  const settings = own as unknown as RunSettings;
  const combinations = combinationProblems(settings);
  return combinations.length > 0 ? { ok: false, problems: combinations } : { ok: true, settings };
}

function check(value: unknown, schema: Schema, path: SettingsProblem['path']): SettingsProblem[] {
  if (schema.anyOf !== undefined) {
    const results = schema.anyOf.map((one) => check(value, one, path));
    // The alternative of the same type knows best what is wrong.
    return results.some((problems) => problems.length === 0) ? [] : (results.find((_, i) => typeMatches(value, schema.anyOf?.[i].type)) ?? [problem('task.problem.type', path, { expected: schema.anyOf.map(({ type }) => type ?? '').join(' / '), given: typeName(value) })]);
  }
  if (!typeMatches(value, schema.type)) {
    return [wrongType(path, schema.type ?? '', value)];
  }
  if (schema.enum !== undefined && !schema.enum.includes(value as string | number)) {
    return [problem('task.problem.enum', path, { given: String(value), expected: schema.enum.join(', ') })];
  }
  if (typeof value === 'string') {
    return checkText(value, schema, path);
  }
  if (typeof value === 'number') {
    return schema.minimum !== undefined && value < schema.minimum ? [problem('task.problem.minimum', path, { given: value, minimum: schema.minimum })] : [];
  }
  if (Array.isArray(value)) {
    const { items, minItems = 0, maxItems = Infinity } = schema;
    return value.length < minItems || value.length > maxItems
      ? [problem(minItems === maxItems ? 'task.problem.length' : 'task.problem.empty', path, { count: minItems, given: value.length })]
      : value.flatMap((item: unknown, i) => (items === undefined ? [] : check(item, items, [...path, i])));
  }
  return isRecord(value) ? checkFields(value, schema, path) : [];
}

function checkText(value: string, { minLength = 0, pattern }: Schema, path: SettingsProblem['path']): SettingsProblem[] {
  if (value.includes('\0')) {
    return [problem('task.problem.nul', path)];
  }
  if (value.length < minLength) {
    return [problem('task.problem.empty', path)];
  }
  return pattern !== undefined && !new RegExp(pattern).test(value) ? [problem('task.problem.host', path, { given: value })] : [];
}

function checkFields(value: Readonly<Record<string, unknown>>, { properties = {}, required = [], additionalProperties }: Schema, path: SettingsProblem['path']): SettingsProblem[] {
  const missing = required.filter((key) => value[key] === undefined).map((key) => problem('task.problem.missing', [...path, key]));
  const wrong = Object.entries(value).flatMap(([key, field]): SettingsProblem[] => {
    if (field === undefined) {
      return [];
    }
    const schema = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    return schema === undefined || schema === false ? [problem('task.problem.unknown', [...path, key], { known: Object.keys(properties).join(', ') })] : check(field, schema, [...path, key]);
  });
  return [...missing, ...wrong];
}

/** Settings that would be ignored, or could never start, are told instead. */
function combinationProblems(settings: RunSettings): SettingsProblem[] {
  const { launcher, nodes, procs, host, capture, sync, env = {} } = settings;
  const found: SettingsProblem[] = [];
  const add = (when: boolean, code: string, path: SettingsProblem['path'], args?: Message['args']): void => {
    if (when) {
      found.push(problem(code, path, args));
    }
  };
  add(settings.slurm !== undefined && launcher !== 'slurm', 'task.problem.options-of-other', ['slurm'], { launcher, other: 'slurm' });
  add(settings.ray !== undefined && launcher !== 'ray', 'task.problem.options-of-other', ['ray'], { launcher, other: 'ray' });
  add(Array.isArray(nodes) && launcher !== 'torchrun', 'task.problem.nodes-list', ['nodes'], { launcher });
  add(typeof nodes === 'number' && nodes > 1 && launcher === 'torchrun', 'task.problem.nodes-hosts', ['nodes'], { count: nodes as number });
  add(typeof nodes === 'number' && nodes > 1 && launcher === 'command', 'task.problem.nodes-command', ['nodes']);
  add(typeof nodes === 'number' && nodes > 1 && launcher === 'ray', 'task.problem.nodes-ray', ['nodes']);
  add(procs !== undefined && procs > 1 && launcher === 'command', 'task.problem.procs-command', ['procs']);
  add(Array.isArray(nodes) && host !== undefined && !nodes.includes(host), 'task.problem.nodes-without-host', ['nodes'], { host: host ?? '' });
  add(sync?.push === true && host === undefined, 'task.problem.push-here', ['sync', 'push']);
  add(settings.rendezvous !== undefined && !(Array.isArray(nodes) && nodes.length > 1), 'task.problem.rendezvous', ['rendezvous']);
  if (settings.exec !== undefined) {
    const option = uselessOption(settings.exec);
    add(option !== undefined, /^--d|^-[it]*d/.test(option ?? '') ? 'task.problem.container-detached' : 'task.problem.container-terminal', ['exec', 'prefix'], { option: option ?? '' });
    add(containerKind(settings.exec) === 'srun' && launcher === 'ray', 'task.problem.container-srun', ['exec', 'prefix'], { launcher });
  }
  for (const name of Object.keys(env)) {
    add(!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name), 'task.problem.env-name', ['env', name]);
  }
  if (capture !== undefined) {
    const { steps, warmup = 0, stacks = false, twoPass, method = 'helper', ranks = [] } = capture;
    const windows = stepWindows(steps);
    const [[first, last]] = windows.length > 0 ? windows : [[Infinity, Infinity]];
    add(windows.length === 0, 'task.problem.steps-text', ['capture', 'steps'], { given: String(steps) });
    add(windows.length > 1 && (method === 'dynamic' || method === 'nsys'), 'task.problem.steps-one-range', ['capture', 'steps'], { method });
    add(first > last, 'task.problem.steps-order', ['capture', 'steps'], { first, last });
    add(warmup >= first && warmup > 0, 'task.problem.warmup', ['capture', 'warmup'], { warmup, first });
    add(twoPass === true && !stacks, 'task.problem.two-pass', ['capture', 'twoPass']);
    add(capture.level !== undefined && method === 'nsys', 'task.problem.level-nsys', ['capture', 'level']);
    add(stacks && method === 'xtuner', 'task.problem.stacks-xtuner', ['capture', 'stacks']);
    add(new Set(ranks).size < ranks.length, 'task.problem.ranks-twice', ['capture', 'ranks']);
  }
  return found;
}

function problem(code: string, path: SettingsProblem['path'], args: Message['args'] = {}): SettingsProblem {
  return { code, args: { setting: settingName(path), ...args }, path };
}

/** `capture.steps[0]`, as one would write it. */
function settingName(path: SettingsProblem['path']): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');
}

const wrongType = (path: SettingsProblem['path'], expected: string, value: unknown): SettingsProblem => problem(path.length === 0 ? 'task.problem.not-settings' : 'task.problem.type', path, { expected, given: typeName(value) });

function typeMatches(value: unknown, type: Schema['type']): boolean {
  switch (type) {
    case undefined: return true;
    case 'integer': return Number.isSafeInteger(value);
    case 'array': return Array.isArray(value);
    case 'object': return isRecord(value);
    case 'string':
    case 'boolean': return typeof value === type;
  }
}

const typeName = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
