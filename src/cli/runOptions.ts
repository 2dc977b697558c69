import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { readSettings } from '../run/settingsFile';
import type { RunSettings } from '../run/runSettings';
import type { ParsedCommand } from './commandLine';
import { CommandFailure, UsageError } from './io';

export const RUN_OPTIONS = {
  settings: { type: 'string' }, host: { type: 'string' }, launcher: { type: 'string' }, workdir: { type: 'string' }, env: { type: 'string', multiple: true }, setup: { type: 'string', multiple: true },
  nodes: { type: 'string' }, procs: { type: 'string' }, rendezvous: { type: 'string' }, container: { type: 'string', multiple: true }, 'container-path': { type: 'string' },
  partition: { type: 'string' }, account: { type: 'string' }, time: { type: 'string' }, gpus: { type: 'string' }, cpus: { type: 'string' }, array: { type: 'string' }, 'slurm-torchrun': { type: 'boolean' },
  'slurm-argument': { type: 'string', multiple: true }, 'ray-address': { type: 'string' }, 'ray-cpus': { type: 'string' }, 'ray-gpus': { type: 'string' },
  push: { type: 'boolean' }, ignore: { type: 'string', multiple: true },
} as const;

const SLURM_ONLY = ['partition', 'account', 'time', 'gpus', 'cpus', 'array', 'slurm-torchrun', 'slurm-argument'] as const;
const RAY_ONLY = ['ray-address', 'ray-cpus', 'ray-gpus'] as const;

/** Run settings from `--settings`, flags over them, and the command behind `--`. Values are checked where all settings are: in `startRun`. */
export async function runSettingsOf(command: ParsedCommand, argv: readonly string[]): Promise<RunSettings> {
  const file = command.value('settings');
  const base: Partial<RunSettings> = file === undefined ? {} : readSettings(await readFile(file, 'utf8').catch(() => { throw new CommandFailure('error.not-found', { file: path.resolve(file) }); }), file);
  if (argv.length === 0 && base.command === undefined) {
    throw new UsageError('cli.usage.run-command', { option: '' });
  }
  const set = <K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> => (value === undefined ? {} : { [key]: value } as Partial<Record<K, V>>);
  const number = (name: string): number | undefined => {
    const value = command.value(name);
    if (value !== undefined && !/^\d+(\.\d+)?$/.test(value)) {
      throw new UsageError('cli.usage.option-value', { option: `--${name}` });
    }
    return value === undefined ? undefined : Number(value);
  };
  const nodes = command.value('nodes');
  const lines = (name: string): readonly string[] | undefined => (command.values(name).length === 0 ? undefined : command.values(name));
  const slurm = { ...base.slurm, ...set('partition', command.value('partition')), ...set('account', command.value('account')), ...set('time', command.value('time')), ...set('gpusPerNode', number('gpus')), ...set('cpusPerTask', number('cpus')), ...set('array', command.value('array')), ...(command.flag('slurm-torchrun') ? { torchrun: true } : {}), ...set('arguments', lines('slurm-argument')) };
  const ray = { ...base.ray, ...set('address', command.value('ray-address')), ...set('cpus', number('ray-cpus')), ...set('gpus', number('ray-gpus')) };
  const given = (names: readonly string[]): boolean => names.some((name) => command.flag(name) || command.values(name).length > 0);
  const launcher = command.value('launcher') ?? base.launcher ?? (given(SLURM_ONLY) ? 'slurm' : given(RAY_ONLY) ? 'ray' : 'command');
  const prefix = lines('container');
  const sync = { ...base.sync, ...(command.flag('push') ? { push: true } : {}), ...set('ignore', lines('ignore')) };
  return {
    ...base, launcher: launcher as RunSettings['launcher'],
    command: argv[0] ?? base.command ?? '', ...(argv.length === 0 ? {} : { args: argv.slice(1) }),
    ...set('host', command.value('host')), ...set('workdir', command.value('workdir')), ...set('setup', lines('setup')), ...set('rendezvous', command.value('rendezvous')),
    ...(command.values('env').length === 0 ? {} : { env: { ...base.env, ...environmentOf(command.values('env')) } }),
    ...(nodes === undefined ? {} : { nodes: /^\d+$/.test(nodes) ? Number(nodes) : nodes.split(',') }), ...set('procs', number('procs')),
    ...(prefix === undefined ? {} : { exec: { prefix, ...set('path', command.value('container-path')) } }),
    ...(Object.keys(slurm).length === 0 ? {} : { slurm }), ...(Object.keys(ray).length === 0 ? {} : { ray }), ...(Object.keys(sync).length === 0 ? {} : { sync }),
  };
}

function environmentOf(values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(values.map((value) => {
    const at = value.indexOf('=');
    if (at <= 0) {
      throw new UsageError('cli.usage.run-env', { value });
    }
    return [value.slice(0, at), value.slice(at + 1)];
  }));
}

/** `…options -- COMMAND…`, split. */
export function splitCommand(args: readonly string[]): { readonly own: readonly string[]; readonly argv: readonly string[] } {
  const at = args.indexOf('--');
  return at < 0 ? { own: args, argv: [] } : { own: args.slice(0, at), argv: args.slice(at + 1) };
}
