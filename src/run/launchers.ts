import { createHash } from 'node:crypto';
import { pythonOf } from './jobScript';
import type { RunSettings } from './runSettings';

/** Rendezvous of torchrun over several hosts. */
export interface Rendezvous {
  readonly id: string;
  /** `address:port` of the first host, as the others see it. */
  readonly endpoint: string;
  readonly nodes: number;
  readonly node: number;
}

/** The user's command as argv, as typed. */
export function plainArgv({ command, args }: RunSettings): readonly string[] {
  return [command, ...(args ?? [])];
}

/**
 * argv of torchrun for the user's command. A command that is a Python runs `-m torch.distributed.run` of that very Python; one that
 * is no script (`xtuner`, a binary) is started as a program. See `torchrun --help` of PyTorch 2.
 */
export function torchrunArgv(settings: RunSettings, argv: readonly string[], rendezvous?: Rendezvous, processes: number | string = settings.procs ?? 1): readonly string[] {
  const isPython = pythonOf(argv.slice(0, 1)) !== undefined;
  const launcher = isPython ? [argv[0], '-m', 'torch.distributed.run'] : ['torchrun'];
  const rest = isPython ? argv.slice(1) : argv;
  const nodes = rendezvous === undefined
    ? ['--standalone']
    : [
      '--nnodes', String(rendezvous.nodes), '--rdzv-backend', 'c10d', '--rdzv-id', rendezvous.id, '--rdzv-endpoint', rendezvous.endpoint,
      // Said outright: matching host names by itself fails where a host does not know its own address.
      '--rdzv-conf', `is_host=${rendezvous.node === 0 ? 'true' : 'false'}`,
    ];
  const isScript = /\.py$/.test(rest[0] ?? '');
  // `-m module` is torchrun's own, too.
  const kind = isScript || rest[0] === '-m' ? [] : ['--no-python'];
  return [...launcher, ...nodes, '--nproc-per-node', String(processes), ...kind, ...rest];
}

/** A port that runs on one machine seldom share, from the run's id; below the range systems give out. */
export function portOf(id: string): number {
  return 20000 + createHash('sha256').update(id).digest().readUInt16BE(0) % 10000;
}
