import type { Message } from '../engine/profile/problems';
import { runFailure } from './failure';
import { isVariableName } from './posix';
import type { RunSettings } from './runSettings';
import { arrayTasks } from './slurm';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const word: Check = (value) => typeof value === 'string' && value !== '';
const flag: Check = (value) => typeof value === 'boolean';
const texts: Check = (value) => Array.isArray(value) && value.every(text);
const words: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(word);
const record: Check = (value) => isObject(value) && Object.values(value).every(text);
const whole = (least: number, most = 1_000_000): Check => (value) => typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
const oneOf = (...values: readonly unknown[]): Check => (value) => values.includes(value);
const positive: Check = (value) => typeof value === 'number' && Number.isFinite(value) && value > 0;

/** Each setting: what it must be, in words and as a check. Nested ones by their path. */
const SETTINGS: Readonly<Record<string, readonly [expected: string, check: Check]>> = {
  host: ['a host name', word],
  launcher: ['command, torchrun, slurm or ray', oneOf('command', 'torchrun', 'slurm', 'ray')],
  exec: ['an object', isObject], 'exec.prefix': ['a list of words', words], 'exec.path': ['a path', word],
  workdir: ['a path', word], command: ['a program', word], args: ['a list of texts', texts],
  env: ['names and texts', record], setup: ['a list of lines', texts],
  nodes: ['a number of nodes or a list of hosts', (value) => whole(1, 100_000)(value) || words(value)],
  procs: ['a number from 1', whole(1, 1024)], rendezvous: ['host:port', (value) => typeof value === 'string' && /^\S+:\d+$/.test(value)],
  slurm: ['an object', isObject], 'slurm.partition': ['a name', word], 'slurm.account': ['a name', word], 'slurm.time': ['a time such as 01:30:00', word],
  'slurm.gpusPerNode': ['a number', whole(0)], 'slurm.cpusPerTask': ['a number from 1', whole(1)],
  'slurm.array': ['task numbers such as 0-7%4', (value) => typeof value === 'string' && arrayTasks(value) !== undefined],
  'slurm.torchrun': ['true or false', flag], 'slurm.arguments': ['a list of arguments', texts],
  ray: ['an object', isObject], 'ray.address': ['an address', word], 'ray.cpus': ['a number', (value) => positive(value) || value === 0], 'ray.gpus': ['a number', (value) => positive(value) || value === 0],
  capture: ['an object', isObject],
  'capture.steps': ['first and last step', (value) => Array.isArray(value) && value.length === 2 && value.every(whole(1)) && Number(value[0]) <= Number(value[1])],
  'capture.warmup': ['a number', whole(0)], 'capture.stacks': ['true or false', flag], 'capture.shapes': ['true or false', flag], 'capture.memory': ['true or false', flag],
  'capture.level': ['0, 1 or 2', oneOf(0, 1, 2)], 'capture.ranks': ['a list of ranks', (value) => Array.isArray(value) && value.every(whole(0))],
  'capture.twoPass': ['true or false', flag], 'capture.method': ['helper, xtuner, dynamic or nsys', oneOf('helper', 'xtuner', 'dynamic', 'nsys')],
  sync: ['an object', isObject], 'sync.push': ['true or false', flag], 'sync.ignore': ['a list of rules', texts], 'sync.fetch': ['analysis, trace or none', oneOf('analysis', 'trace', 'none')],
  tokensPerStep: ['a number over 0', positive], ranksPerCard: ['a number over 0', positive],
};

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What is wrong with settings, first things first; `[]` when they can be run. Unknown settings are told, not passed over. */
export function checkSettings(settings: unknown): readonly Message[] {
  if (!isObject(settings)) {
    return [{ code: 'error.run-setting', args: { setting: 'run', expected: 'an object' } }];
  }
  const problems = checkLevel(settings, '');
  for (const required of ['launcher', 'command']) {
    if (!(required in settings)) {
      problems.push({ code: 'error.run-setting', args: { setting: required, expected: SETTINGS[required][0] } });
    }
  }
  const { env, launcher, nodes } = settings;
  for (const name of isObject(env) ? Object.keys(env) : []) {
    if (!isVariableName(name)) {
      problems.push({ code: 'error.run-variable-name', args: { name } });
    }
  }
  if ((launcher === 'torchrun' || launcher === 'ray') && typeof nodes === 'number' && nodes > 1) {
    problems.push({ code: 'error.run-nodes-hosts', args: {} });
  }
  if (JSON.stringify(settings).includes('\\u0000')) {
    problems.push({ code: 'error.run-nul', args: { setting: Object.entries(settings).find(([, value]) => JSON.stringify(value)?.includes('\\u0000'))?.[0] ?? '' } });
  }
  return problems;
}

function checkLevel(level: Readonly<Record<string, unknown>>, prefix: string): Message[] {
  const problems: Message[] = [];
  for (const [name, value] of Object.entries(level)) {
    const setting = `${prefix}${name}`;
    const known = Object.hasOwn(SETTINGS, setting) ? SETTINGS[setting] : undefined;
    if (known === undefined) {
      problems.push({ code: 'error.run-setting-unknown', args: { setting } });
    } else if (value !== undefined && !known[1](value)) {
      problems.push({ code: 'error.run-setting', args: { setting, expected: known[0] } });
    } else if (isObject(value) && setting !== 'env') {
      problems.push(...checkLevel(value, `${setting}.`));
    }
  }
  return problems;
}

/** Settings from JSON text. Throws `RunFailure` with the first thing that is wrong. */
export function readSettings(json: string, file: string): RunSettings {
  let value: unknown;
  try {
    value = JSON.parse(json.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw runFailure('error.run-settings', { file, text: error instanceof Error ? error.message : String(error) });
  }
  const problem = checkSettings(value)[0];
  if (problem !== undefined) {
    throw runFailure(problem.code, { ...problem.args });
  }
  return value as RunSettings;
}
