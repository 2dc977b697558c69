import { Cancelled } from '../engine/profile/problems';
import { explainRunFailure, runFailure, RunFailure } from './failure';
import { followScript, stateScript } from './folderScripts';
import { absoluteThere, hostFacts } from './hostFacts';
import type { Hosts } from './hosts';
import { isConnectionLoss } from './remoteShell';
import type { FollowOptions, Run, RunRecord, RunState, StopResult } from './run';
import { parseState, worstState } from './runState';
import { stopScript } from './stopScript';

/** torchrun gives its ranks 30 s before it kills them; a kill before that leaves them orphaned. */
const GRACE_SECONDS = 40;
const POLL_SECONDS = 5;
const LONGEST_PAUSE_SECONDS = 30;

/** Name of the run folder on the host with this number: hosts of a cluster often share a home folder. */
export function memberFolder(id: string, node: number): string {
  return node === 0 ? id : `${id}.${node}`;
}

/** A handle on a run that is there. `folder` is that on the first host; on the others it lies below their own home. */
export function runHandle(hosts: Hosts, record: RunRecord, folder: string): Run {
  const members: readonly (string | undefined)[] = record.hosts === undefined ? [record.settings.host] : record.hosts.map((host) => (host === '' ? undefined : host));
  const folderOn = async (index: number): Promise<string> => (index === 0 ? folder : `${absoluteThere((await hostFacts(hosts.shell(members[index]))).home, hosts.tools.runsFolder ?? '.fuselens/runs')}/${memberFolder(record.id, index)}`);

  const memberState = async (index: number, signal: AbortSignal | undefined, quiet: boolean): Promise<RunState> => {
    const host = members[index];
    const { exit, stdout, stderr } = await hosts.shell(host).run(stateScript(await folderOn(index), record.id), { quiet, ...(signal === undefined ? {} : { signal }) });
    if (exit === 97) {
      throw runFailure('error.run-folder-gone', { id: record.id, host: host ?? '' }, stderr);
    }
    if (exit !== 0) {
      throw new RunFailure(explainRunFailure(stderr, exit, { transport: false, ...(host === undefined ? {} : { host }) }));
    }
    return parseState(stdout);
  };

  const state: Run['state'] = async ({ signal, quiet = false } = {}) => worstState(await Promise.all(members.map((_, index) => memberState(index, signal, quiet))));

  const followMember = async (index: number, options: FollowOptions): Promise<void> => {
    const host = members[index];
    const { signal, onOutput, onConnection, giveUpAfterSeconds = Infinity } = options;
    let offset = options.offsets?.[host ?? ''] ?? 0;
    let lostAt: number | undefined;
    let pause = 1;
    for (;;) {
      try {
        const { exit, stderr } = await hosts.shell(host).run(followScript(await folderOn(index), record.id, offset), {
          ...(signal === undefined ? {} : { signal }),
          onStdout: async (bytes) => {
            const at = offset;
            offset += bytes.length;
            if (lostAt !== undefined) {
              lostAt = undefined;
              pause = 1;
              onConnection?.({ host, reconnected: true });
            }
            await onOutput({ host, offset: at, bytes });
          },
        });
        if (exit === 0) {
          if (lostAt !== undefined) {
            onConnection?.({ host, reconnected: true });
          }
          return;
        }
        if (exit === 97) {
          throw runFailure('error.run-folder-gone', { id: record.id, host: host ?? '' }, stderr);
        }
        // The follower itself was killed: as good as a lost connection.
      } catch (error) {
        if (!isConnectionLoss(error) || !(error instanceof Error)) {
          throw error;
        }
        if (lostAt === undefined) {
          lostAt = Date.now();
          onConnection?.({ host, reconnected: false, failure: error });
        } else if (Date.now() - lostAt > giveUpAfterSeconds * 1000) {
          throw error;
        }
      }
      await sleep(pause, signal);
      pause = Math.min(LONGEST_PAUSE_SECONDS, pause * 2);
    }
  };

  /** A connection may be lost between the last output and the question how it ended: it is asked again, as output is. */
  const patiently = async <T>(ask: () => Promise<T>, { signal, giveUpAfterSeconds = Infinity }: FollowOptions): Promise<T> => {
    const since = Date.now();
    for (let pause = 1; ; pause = Math.min(LONGEST_PAUSE_SECONDS, pause * 2)) {
      try {
        return await ask();
      } catch (error) {
        if (!isConnectionLoss(error) || Date.now() - since > giveUpAfterSeconds * 1000) {
          throw error;
        }
      }
      await sleep(pause, signal);
    }
  };

  const stopMember = async (index: number, graceSeconds: number, signal: AbortSignal | undefined): Promise<StopResult> => {
    const host = members[index];
    const { exit, stdout, stderr } = await hosts.shell(host).run(stopScript(await folderOn(index), record.id, graceSeconds), signal === undefined ? {} : { signal });
    if (exit !== 0) {
      throw exit === 97 ? runFailure('error.run-folder-gone', { id: record.id, host: host ?? '' }, stderr) : new RunFailure(explainRunFailure(stderr, exit, { transport: false, ...(host === undefined ? {} : { host }) }));
    }
    return parseStop(stdout);
  };

  /** Hosts that wait for one that has failed would wait for long: they get the time of a stop, and are ended. */
  const endWithIt = async (index: number, ended: ReadonlySet<number>, options: FollowOptions): Promise<void> => {
    const { signal } = options;
    if (members.length === 1 || (await patiently(() => memberState(index, signal, false), options)).exit === 0) {
      return;
    }
    for (let seconds = 0; seconds < GRACE_SECONDS && ended.size < members.length; seconds++) {
      await sleep(1, signal);
    }
    await Promise.all(members.map(async (_, other) => (ended.has(other) ? undefined : stopMember(other, 5, signal))));
  };

  const follow: Run['follow'] = async (options) => {
    const stopPolling = new AbortController();
    const polling = options.onState === undefined ? undefined : poll(options.onState, () => state({ quiet: true, signal: stopPolling.signal }), stopPolling.signal);
    try {
      const ended = new Set<number>();
      await Promise.all(members.map(async (_, index) => {
        await followMember(index, options);
        ended.add(index);
        await endWithIt(index, ended, options);
      }));
      return await patiently(() => state(options.signal === undefined ? {} : { signal: options.signal }), options);
    } finally {
      stopPolling.abort();
      await polling;
    }
  };

  const stop: Run['stop'] = async ({ graceSeconds = GRACE_SECONDS, signal } = {}) => {
    const results = await Promise.all(members.map((_, index) => stopMember(index, graceSeconds, signal)));
    return { exit: results[0].exit, killed: results.flatMap(({ killed }) => killed), left: results.flatMap(({ left }) => left) };
  };

  return { id: record.id, hosts: members, folder, record, state, follow, stop };
}

async function poll(onState: (state: RunState) => void, ask: () => Promise<RunState>, signal: AbortSignal): Promise<void> {
  let before = '';
  while (!signal.aborted) {
    try {
      const now = await ask();
      const { phase, queue, tasks } = now;
      const key = JSON.stringify({ phase, queue, tasks });
      if (key !== before && !signal.aborted) {
        before = key;
        onState(now);
      }
    } catch {
      // Following tells of lost connections; a poll only misses one turn.
    }
    await sleep(POLL_SECONDS, signal).catch(() => undefined);
  }
}

function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer);
      reject(new Cancelled());
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, seconds * 1000);
    if (signal?.aborted === true) {
      aborted();
    }
    signal?.addEventListener('abort', aborted, { once: true });
  });
}

function parseStop(stdout: string): StopResult {
  const value = (key: string): string => new RegExp(`^${key}=(.*)$`, 'm').exec(stdout)?.[1] ?? '';
  const numbers = (key: string): readonly number[] => value(key).split(' ').filter((word) => /^\d+$/.test(word)).map(Number);
  return { exit: value('exit') === '' ? undefined : Number(value('exit')), killed: [...numbers('killed'), ...numbers('inside')], left: [...numbers('left'), ...numbers('insideLeft')] };
}
