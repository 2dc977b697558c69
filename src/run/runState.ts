import { MESSAGES } from '../protocol/text';
import type { ArrayTasks, QueueState, RunPhase, RunState } from './run';

const PHASES: readonly RunPhase[] = ['starting', 'queued', 'running', 'exited', 'lost'];

/** From the `key=value` lines of `fl_state`. What is not understood is left out; no phase at all is `starting`. */
export function parseState(text: string): RunState {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const at = line.indexOf('=');
    if (at > 0) {
      values.set(line.slice(0, at), line.slice(at + 1).trim());
    }
  }
  const number = (key: string): number | undefined => {
    const value = values.get(key);
    return value !== undefined && /^-?\d+$/.test(value) ? Number(value) : undefined;
  };
  const queue = queueOf(values, number('queue.ahead'));
  const told = PHASES.find((phase) => phase === values.get('phase')) ?? 'starting';
  // Ray's jobs wait while the one that stays with them runs.
  const phase = told === 'running' && queue !== undefined && /^(PENDING|SUBMITTING)$/.test(queue.state) ? 'queued' : told;
  const exit = number('exit');
  const pid = number('pid');
  const elapsed = number('elapsed');
  const total = number('tasks');
  return {
    phase, logBytes: number('bytes') ?? 0,
    ...(phase === 'exited' && exit !== undefined ? { exit } : {}),
    ...(values.get('stopped') === '1' ? { stopped: true } : {}),
    ...(pid === undefined ? {} : { pid }),
    ...(elapsed === undefined ? {} : { elapsedSeconds: Math.max(0, elapsed) }),
    ...(queue === undefined ? {} : { queue }),
    ...(total === undefined ? {} : { tasks: tasksOf(values, total, number('tasksRunning') ?? 0) }),
  };
}

function tasksOf(values: ReadonlyMap<string, string>, total: number, running: number): ArrayTasks {
  const numbered = (prefix: string): readonly (readonly [string, string])[] => [...values].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]);
  const exits = Object.fromEntries(numbered('task.').filter(([, value]) => /^\d+$/.test(value)).map(([task, value]) => [task, Number(value)]));
  const live = numbered('taskState.').filter(([task]) => !(task in exits)).map(([task, value]) => {
    const [state, nodes, reason] = value.split('|').map(known);
    return [task, { state: state ?? 'UNKNOWN', ...(nodes === undefined ? {} : { nodes }), ...reasonOf(reason) }] as const;
  });
  return { total, running, exits, live: Object.fromEntries(live) };
}

/** What Slurm writes where there is nothing to say. */
const known = (value: string | undefined): string | undefined => (value === undefined || value === '' || value === 'None' || value === 'N/A' || value === '(null)' ? undefined : value);

function reasonOf(reason: string | undefined): Pick<QueueState, 'reason' | 'explanation'> {
  const code = reason === undefined ? undefined : reasonCode(reason);
  return { ...(reason === undefined ? {} : { reason }), ...(code === undefined ? {} : { explanation: { code, args: {} } }) };
}

function queueOf(values: ReadonlyMap<string, string>, ahead: number | undefined): QueueState | undefined {
  const job = values.get('queue.job');
  if (job === undefined) {
    return undefined;
  }
  const said = (key: string): string | undefined => known(values.get(`queue.${key}`));
  const start = said('start');
  const nodes = said('nodes');
  return {
    job, state: said('state') ?? 'UNKNOWN',
    ...reasonOf(said('reason')),
    ...(ahead === undefined ? {} : { ahead }),
    ...(start === undefined ? {} : { startEstimate: start }),
    ...(nodes === undefined ? {} : { nodes }),
  };
}

/** Slurm's reasons come in families: `QOSMaxJobsPerUserLimit`, `AssocGrpCpuLimit`, `ReqNodeNotAvail, UnavailableNodes:n3`. */
function reasonCode(reason: string): string | undefined {
  const word = /^[A-Za-z]+/.exec(reason)?.[0] ?? '';
  const family = word.startsWith('QOS') ? 'QOS' : word.startsWith('Assoc') ? 'Association' : word;
  const code = `run.queue.${family}`;
  return code in MESSAGES ? code : undefined;
}

/** One state for a run over several hosts: it runs while one runs; it failed when one failed. */
export function worstState(states: readonly RunState[]): RunState {
  if (states.length === 1) {
    return states[0];
  }
  const order: readonly RunPhase[] = ['running', 'queued', 'starting', 'lost', 'exited'];
  const phase = order.find((one) => states.some((state) => state.phase === one)) ?? 'lost';
  // A node that failed takes the others with it by a signal; its own code tells more.
  const exits = states.flatMap(({ exit }) => (exit === undefined ? [] : [exit]));
  const exit = exits.find((code) => code !== 0 && code < 128) ?? exits.find((code) => code !== 0) ?? exits[0];
  const elapsed = states.flatMap(({ elapsedSeconds }) => (elapsedSeconds === undefined ? [] : [elapsedSeconds]));
  return {
    phase, logBytes: states.reduce((sum, state) => sum + state.logBytes, 0),
    ...(phase === 'exited' && exit !== undefined ? { exit } : {}),
    ...(states.some(({ stopped }) => stopped === true) ? { stopped: true } : {}),
    ...(elapsed.length === 0 ? {} : { elapsedSeconds: Math.max(...elapsed) }),
  };
}
