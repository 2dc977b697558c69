/** A finding's remedy, applied to a copy of the settings of a run. The user's own task is never changed by it. */
import type { RunSettings } from './runSettings';
import { shellCommands } from './shellWords';

export type RunRemedy =
  | { readonly kind: 'environment'; readonly name: string; readonly value: string }
  /** Further arguments of the command: flags, or overrides of its configuration. */
  | { readonly kind: 'arguments'; readonly words: readonly string[] }
  /** Settings of the launch itself. */
  | { readonly kind: 'launch'; readonly change: Pick<RunSettings, 'procs' | 'setup'> }
  /** The code was edited; the settings stay as they are. */
  | { readonly kind: 'edit' };

/**
 * What one writes for a remedy: `NAME=value` is an environment variable, `--flag value` arguments, `key.path=value` an override
 * of the configuration (also an argument). Undefined where it is none of them, such as a line of Python.
 */
export function readRemedy(text: string): RunRemedy | undefined {
  const commands = shellCommands(`x ${text.trim()}`);
  const words = commands.length === 1 ? commands[0].words.slice(1) : [];
  if (words.length === 0 || !words.every((word): word is string => word !== undefined && !word.includes('\0'))) {
    return undefined;
  }
  const [first] = words;
  const variable = /^([A-Z_][A-Z0-9_]*)=([\s\S]*)$/.exec(first);
  if (variable !== null) {
    return words.length === 1 ? { kind: 'environment', name: variable[1], value: variable[2] } : undefined;
  }
  return /^--?[A-Za-z]/.test(first) || (words.length === 1 && /^[A-Za-z_][\w.-]*=./.test(first)) ? { kind: 'arguments', words } : undefined;
}

/** A copy with the remedy in it. A flag that was given already is replaced, not doubled. */
export function withRemedy(settings: RunSettings, remedy: RunRemedy): RunSettings {
  switch (remedy.kind) {
    case 'environment': return { ...settings, env: { ...settings.env, [remedy.name]: remedy.value } };
    case 'arguments': return { ...settings, args: withArguments(settings.args ?? [], remedy.words) };
    case 'launch': return { ...settings, ...remedy.change, ...(remedy.change.setup === undefined ? {} : { setup: [...(settings.setup ?? []), ...remedy.change.setup] }) };
    case 'edit': return settings;
  }
}

function withArguments(args: readonly string[], words: readonly string[]): readonly string[] {
  const key = words[0].split('=')[0];
  const at = args.findIndex((word) => word === key || word.startsWith(`${key}=`));
  if (at < 0) {
    return [...args, ...words];
  }
  // `--flag value` takes its value along; `--flag=value` and a flag without value are one word.
  const takesNext = args[at] === key && args[at + 1] !== undefined && !args[at + 1].startsWith('-') && words.length > 1;
  return [...args.slice(0, at), ...words, ...args.slice(at + (takesNext ? 2 : 1))];
}

/** How it is called beside the run's name. */
export function remedyName(remedy: RunRemedy): string {
  switch (remedy.kind) {
    case 'environment': return `${remedy.name}=${remedy.value}`;
    case 'arguments': return remedy.words.join(' ');
    case 'launch': return remedy.change.procs === undefined ? (remedy.change.setup ?? []).join('; ') : `procs=${remedy.change.procs}`;
    case 'edit': return '';
  }
}

/**
 * The order of runs of an A/B: base and candidate in turn, the pair turned round each time (ABBA…), so that a machine that grows
 * warm or busy falls on both alike.
 */
export function interleaved(times: number): readonly ('base' | 'candidate')[] {
  return Array.from({ length: times }, (_, i): readonly ('base' | 'candidate')[] => (i % 2 === 0 ? ['base', 'candidate'] : ['candidate', 'base'])).flat();
}
