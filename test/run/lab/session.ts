import { Hosts, startRun, type Run, type RunState, type StartOptions } from '../../../src/run/run';
import type { RunSettings } from '../../../src/run/runSettings';
import type { RunTools } from '../../../src/run/tools';
import type { SshLab } from './sshLab';

/** Hosts of a lab with short waits; run folders lie in a path that has to be quoted. */
export function labHosts(lab: SshLab, more: RunTools = {}): Hosts {
  return new Hosts({ sshArguments: lab.sshArguments, runsFolder: "it's $x/runs", connectTimeout: 5, ...more });
}

export interface Finished {
  readonly run: Run;
  readonly state: RunState;
  readonly output: string;
}

/** Starts a run and follows it to its end. */
export async function runToEnd(hosts: Hosts, settings: RunSettings, options: StartOptions = {}): Promise<Finished> {
  const run = await startRun(hosts, settings, options);
  return { run, ...(await followToEnd(run)) };
}

export async function followToEnd(run: Run): Promise<{ readonly state: RunState; readonly output: string }> {
  const chunks: Uint8Array[] = [];
  const state = await run.follow({ onOutput: ({ bytes }) => { chunks.push(bytes); } });
  return { state, output: Buffer.concat(chunks).toString() };
}

/** Arguments that some shell, somewhere, gets wrong. */
export const NASTY = [
  'plain', '', ' ', 'a b', ' lead', 'trail ', 'tab\there', 'line\nbreak', '\n', 'it\'s', '"double"', '\'', '"', '`id`', '$(id)', '$HOME', '${HOME}', '\\', '\\\\', '\\n', 'a\\', '*', '?', '[a]', '{a,b}',
  '~', '~root', '!!', '!ls', '=ls', '#no', ';id', '&', '&&', '|', '>', '<', '(x)', '%s', '%', '^', '-n', '--', '-e', '漢字', 'emoji 🚀', 'é', '\u00a0', 'a\rb', '\u0001', 'EOF', 'FUSELENS_EOF', 'x'.repeat(5000),
] as const;

/** A program that prints its arguments as JSON, so that nothing is guessed about them. Needs python3. */
export const ARGUMENTS_AS_JSON = ['python3', '-c', 'import sys, json; print(json.dumps(sys.argv[1:]))'] as const;
