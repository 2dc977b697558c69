/** What a container prefix is: which program, in which of its ways, with which options. */
import type { ContainerSettings } from './runSettings';

export type ContainerKind = 'exec' | 'run' | 'srun';

/** Programs that have `run` and `exec`; the others only the latter. */
const ENGINES: ReadonlySet<string> = new Set(['docker', 'podman', 'nerdctl', 'docker-compose', 'podman-compose']);
const CLUSTERS: ReadonlySet<string> = new Set(['kubectl', 'oc']);
const name = (word: string): string => word.split('/').at(-1) ?? word;

interface Call {
  readonly program: string;
  /** Index of the program, and of its `run` or `exec` (-1: neither). */
  readonly at: number;
  readonly verbAt: number;
}

/** The container program in a prefix, behind `sudo`, `env` and the like; undefined where there is none that we know. */
function callOf(prefix: readonly string[]): Call | undefined {
  const at = prefix.findIndex((word) => ENGINES.has(name(word)) || CLUSTERS.has(name(word)));
  if (at < 0) {
    return undefined;
  }
  const verbAt = prefix.findIndex((word, i) => i > at && (word === 'run' || word === 'exec'));
  return { program: name(prefix[at]), at, verbAt };
}

/** `exec` starts a process in a container that is there; `run` makes one; `srun` leaves it to Slurm. */
export function containerKind({ prefix }: ContainerSettings): ContainerKind {
  const call = callOf(prefix);
  if (call !== undefined) {
    return ENGINES.has(call.program) && prefix[call.verbAt] === 'run' ? 'run' : 'exec';
  }
  return prefix.slice(0, 4).some((word) => name(word) === 'srun') ? 'srun' : 'exec';
}

/** The prefix with a label by which a made container is found again to be stopped. */
export function labelledPrefix(container: ContainerSettings, id: string): readonly string[] {
  return containerKind(container) === 'run' ? afterVerb(container.prefix, ['--label', `fuselens.run=${id}`]) : container.prefix;
}

/** The program that lists and stops containers, with everything before it (`sudo docker --context x`). Compose has no such command: its engine has. */
export function containerProgram({ prefix }: ContainerSettings): readonly string[] {
  const call = callOf(prefix);
  if (call === undefined || call.verbAt < 0) {
    return prefix.slice(0, 1);
  }
  const words = prefix.slice(0, call.verbAt);
  const compose = words.indexOf('compose');
  const engine = words[call.at].replace(/-compose$/, '');
  return [...words.slice(0, call.at), engine, ...(engine === words[call.at] ? words.slice(call.at + 1, compose < 0 ? undefined : compose) : [])];
}

/** The prefix with stdin open: without `-i` these programs give the process an empty one. */
export function withInput({ prefix }: ContainerSettings): readonly string[] {
  const options = optionsOf(prefix);
  // Compose opens it by itself.
  return options === undefined || isCompose(prefix) || options.some((word) => /^-[a-z]*i[a-z]*$|^--(interactive|stdin)$/.test(word)) ? prefix : afterVerb(prefix, ['-i']);
}

const isCompose = (prefix: readonly string[]): boolean => prefix.some((word) => word === 'compose' || name(word).endsWith('-compose'));

/** Options with which a run could not be followed: a terminal, which runs do not have, and going on in the background. */
export function uselessOption({ prefix }: ContainerSettings): string | undefined {
  return optionsOf(prefix)?.find((word) => /^-[dit]*[dt][dit]*$|^--(tty|detach)(=true)?$/.test(word));
}

/** Words after `run` or `exec` that are options or could be; those of the command behind `--` are none. */
function optionsOf(prefix: readonly string[]): readonly string[] | undefined {
  const call = callOf(prefix);
  if (call === undefined || call.verbAt < 0) {
    return undefined;
  }
  const end = prefix.indexOf('--', call.verbAt);
  return prefix.slice(call.verbAt + 1, end < 0 ? undefined : end);
}

function afterVerb(prefix: readonly string[], words: readonly string[]): readonly string[] {
  const at = (callOf(prefix)?.verbAt ?? -1) + 1;
  return at === 0 ? prefix : [...prefix.slice(0, at), ...words, ...prefix.slice(at)];
}

/** Where the files of a run lie where its folder is not seen: in a container, on a Ray worker. */
export const hiddenFolder = (id: string): string => `/tmp/fuselens-${id}`;
