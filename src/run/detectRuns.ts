/** Runs that a workspace already describes: `torchrun` in scripts, READMEs and launch.json, and XTuner configurations. Pure text. */
import { parse as parseJsonc } from 'jsonc-parser';
import { isRecord } from '../protocol/isRecord';
import type { RunSettings } from './runSettings';
import { shellCommands } from './shellWords';

export interface DetectedRun {
  /** How it is called in lists. */
  readonly name: string;
  readonly settings: RunSettings;
  /** Line from 1 where it stands. */
  readonly line: number;
}

/** `file` is workspace-relative, with `/`. */
export function detectRuns(file: string, text: string): readonly DetectedRun[] {
  const name = file.split('/').at(-1) ?? file;
  if (name === 'launch.json') {
    return inLaunchJson(text);
  }
  if (name.endsWith('.py')) {
    return inPython(file, text);
  }
  return unique(inShell(/\.(?:md|markdown|rst|txt)$/i.test(name) ? codeOf(text) : text));
}

/** Keeps the lines of fenced or indented code, and lines that begin with a prompt; the others become empty, so that numbers stay. */
function codeOf(text: string): string {
  let fence: string | undefined;
  return text.split(/\r?\n/).map((line) => {
    const [, mark] = /^\s*(```+|~~~+)/.exec(line) ?? [];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
      return '';
    }
    return fence !== undefined || /^(?: {4}|\t)|^\s*\$ /.test(line) ? line.trim() : '';
  }).join('\n');
}

function inShell(text: string): readonly DetectedRun[] {
  return shellCommands(text).flatMap(({ words, line }) => {
    const at = words.findIndex((word) => word === undefined || !/^[A-Za-z_]\w*=/.test(word));
    const env = Object.fromEntries(words.slice(0, Math.max(at, 0)).map((word): [string, string] => [(word ?? '').split('=', 1)[0], (word ?? '').replace(/^\w+=/, '')]));
    const run = at < 0 ? undefined : torchrun(words.slice(at), env);
    return run === undefined ? [] : [{ ...run, line }];
  });
}

/** Options of torchrun that take no value; all others take one. */
const FLAGS: ReadonlySet<string> = new Set(['standalone', 'no-python', 'run-path', 'use-env', 'm', 'module', 'virtual-local-rank', 'signals-to-handle-none', 'h', 'help']);

/** `torchrun …` or `python -m torch.distributed.run …`; undefined when it is something else, or its script or arguments are not known. */
function torchrun(words: readonly (string | undefined)[], env: Readonly<Record<string, string>>): Omit<DetectedRun, 'line'> | undefined {
  const after = launcherEnd(words);
  if (after === undefined) {
    return undefined;
  }
  const options = new Map<string, string | undefined>();
  let at = after;
  for (; at < words.length; at++) {
    const word = words[at];
    if (word === undefined || !word.startsWith('-') || word === '-m' || word === '--module') {
      break;
    }
    const [, option, value] = /^--?([\w-]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (option === undefined) {
      return undefined;
    }
    const key = option.replaceAll('_', '-');
    options.set(key, value ?? (FLAGS.has(key) ? '' : words[++at]));
  }
  const rest = words.slice(at);
  const module = rest[0] === '-m' || rest[0] === '--module';
  const target = rest[module ? 1 : 0];
  const args = rest.slice(module ? 2 : 1);
  // A program that is no Python is not ours; unknown arguments would make another run of it.
  if (target === undefined || options.has('no-python') || (!module && !target.endsWith('.py')) || args.includes(undefined)) {
    return undefined;
  }
  const procs = positive(options.get('nproc-per-node'));
  const nodes = positive(options.get('nnodes'));
  const command = module ? '-m' : target;
  return {
    name: module ? target : target.split('/').at(-1) ?? target,
    settings: {
      launcher: 'torchrun', command, ...withArguments([...(module ? [target] : []), ...(args as string[])]),
      ...(procs === undefined ? {} : { procs }), ...(nodes === undefined || nodes === 1 ? {} : { nodes }),
      ...(Object.keys(env).length === 0 ? {} : { env }),
    },
  };
}

/** Index of the first word after the launcher; undefined when no launcher stands there. */
function launcherEnd(words: readonly (string | undefined)[]): number | undefined {
  const first = words[0]?.split('/').at(-1);
  if (first === 'torchrun') {
    return 1;
  }
  const module = words.indexOf('-m');
  return first !== undefined && /^python[\d.]*$/.test(first) && module > 0 && /^torch\.distributed\.(?:run|launch)$/.test(words[module + 1] ?? '') ? module + 2 : undefined;
}

const positive = (value: string | undefined): number | undefined => (value !== undefined && /^[1-9]\d{0,5}$/.test(value) ? Number(value) : undefined);

const withArguments = (args: readonly string[]): Pick<RunSettings, 'args'> => (args.length === 0 ? {} : { args });

/** A configuration of the Python debugger that starts torchrun. Its variables (`${workspaceFolder}`) are VS Code's, and stay. */
function inLaunchJson(text: string): readonly DetectedRun[] {
  const parsed: unknown = parseJsonc(text, [], { allowTrailingComma: true });
  const configurations: unknown = isRecord(parsed) ? parsed.configurations : undefined;
  return (Array.isArray(configurations) ? configurations : []).flatMap((one: unknown): readonly DetectedRun[] => {
    if (!isRecord(one) || (one.type !== 'debugpy' && one.type !== 'python')) {
      return [];
    }
    const launcher = typeof one.module === 'string' && /^torch\.distributed\.(?:run|launch)$/.test(one.module) ? ['torchrun'] : typeof one.program === 'string' && /(?:^|\/)(?:torchrun|torch\/distributed\/(?:run|launch)\.py)$/.test(one.program) ? ['torchrun'] : undefined;
    if (launcher === undefined) {
      return [];
    }
    const args = typeof one.args === 'string' ? shellCommands(one.args)[0]?.words ?? [] : Array.isArray(one.args) ? one.args.map((argument: unknown) => (typeof argument === 'string' ? argument : undefined)) : [];
    const env = isRecord(one.env) ? Object.fromEntries(Object.entries(one.env).filter((entry): entry is [string, string] => typeof entry[1] === 'string')) : {};
    const run = torchrun([...launcher, ...args], env);
    const workdir = typeof one.cwd === 'string' && one.cwd !== '${workspaceFolder}' ? { workdir: one.cwd } : {};
    return run === undefined ? [] : [{ name: typeof one.name === 'string' ? one.name : run.name, settings: { ...run.settings, ...workdir }, line: lineOf(text, one.name) }];
  });
}

function lineOf(text: string, name: unknown): number {
  const at = typeof name === 'string' ? text.indexOf(JSON.stringify(name)) : -1;
  return at < 0 ? 1 : text.slice(0, at).split('\n').length;
}

/**
 * XTuner: a V1 configuration is a module whose variable `trainer` is a trainer's configuration (loaded by `Config.fromfile`);
 * a V0 one is mmengine's, with `train_cfg`. Forms of launch: XTuner's docs, `run_sft.sh`.
 */
function inPython(file: string, text: string): readonly DetectedRun[] {
  const line = (index: number): number => text.slice(0, index).split('\n').length;
  if (/^\s*(?:from|import)\s+xtuner\.v1\b/m.test(text)) {
    const trainer = /^trainer\s*(?::[^=\n]{1,200})?=\s*(\w{0,80})/m.exec(text);
    if (trainer === null) {
      return [];
    }
    const reinforced = /^RL|Colocate|Disaggregate/i.test(trainer[1]);
    const settings: RunSettings = reinforced
      ? { launcher: 'ray', command: 'python', args: ['-m', 'xtuner.v1.train.cli.rl', '--config', file] }
      : { launcher: 'torchrun', command: '-m', args: ['xtuner.v1.train.cli.sft', '--config', file], procs: 8 };
    return [{ name: `XTuner ${file}`, settings, line: line(trainer.index) }];
  }
  const old = /^\s*from xtuner\.(?!v1\b)/m.test(text) ? /^train_cfg\s*=/m.exec(text) : null;
  return old === null ? [] : [{ name: `XTuner ${file}`, settings: { launcher: 'command', command: 'xtuner', args: ['train', file], env: { NPROC_PER_NODE: '8' } }, line: line(old.index) }];
}

/** The same command twice in one file is one run. */
function unique(runs: readonly DetectedRun[]): readonly DetectedRun[] {
  const seen = new Set<string>();
  return runs.filter(({ settings }) => {
    const key = JSON.stringify(settings);
    return !seen.has(key) && seen.add(key) !== undefined;
  });
}
