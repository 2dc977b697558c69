import { FUNCTIONS } from './folderScripts';
import { containerKind, labelledPrefix } from './containerPrefix';
import { containedLines, containerLines, containerNotes, jobLines, type JobPlace } from './jobScript';
import { plainArgv } from './launchers';
import { bashArgv, quoteWord, quoteWords } from './posix';
import type { RunSettings } from './runSettings';

/** Options of `sbatch`, each a whole argument; the user's own come last, so that they win. See `man sbatch` (Slurm 20 or newer). */
export function sbatchOptions(settings: RunSettings, name: string, folder: string): readonly string[] {
  const { slurm = {}, nodes, procs } = settings;
  const count = typeof nodes === 'number' ? nodes : nodes?.length;
  return [
    `--job-name=${name}`,
    // `%` starts a pattern in the name of an output file.
    `--output=${folder.replaceAll('%', '%%')}/${slurm.array === undefined ? 'log' : 'slurm.%a'}`, '--open-mode=append', `--chdir=${folder}`,
    // A job that Slurm starts again would run twice.
    '--no-requeue',
    ...(Array.isArray(nodes) ? [`--nodelist=${nodes.join(',')}`] : []),
    ...(count === undefined ? [] : [`--nodes=${count}`]),
    ...(procs === undefined ? [] : [`--ntasks-per-node=${slurm.torchrun === true ? 1 : procs}`]),
    ...(slurm.partition === undefined ? [] : [`--partition=${slurm.partition}`]),
    ...(slurm.account === undefined ? [] : [`--account=${slurm.account}`]),
    ...(slurm.time === undefined ? [] : [`--time=${slurm.time}`]),
    ...(slurm.gpusPerNode === undefined ? [] : [`--gpus-per-node=${slurm.gpusPerNode}`]),
    ...(slurm.cpusPerTask === undefined ? [] : [`--cpus-per-task=${slurm.cpusPerTask}`]),
    ...(slurm.array === undefined ? [] : [`--array=${slurm.array}`]),
    ...(slurm.arguments ?? []),
  ];
}

/** Task numbers of an array specification such as `0-7%4` or `1,3,5-9:2`; undefined when it is none. At most 10 000. */
export function arrayTasks(array: string): readonly number[] | undefined {
  const tasks = new Set<number>();
  for (const part of array.replace(/%\d+$/, '').split(',')) {
    const found = /^(\d+)(?:-(\d+)(?::(\d+))?)?$/.exec(part.trim());
    const [first, last, step] = [Number(found?.[1]), Number(found?.[2] ?? found?.[1]), Number(found?.[3] ?? 1)];
    if (found === null || step < 1 || last < first || last - first > 10_000) {
      return undefined;
    }
    for (let task = first; task <= last; task += step) {
      tasks.add(task);
    }
  }
  return [...tasks].sort((a, b) => a - b);
}

/** The address of the first node as Slurm knows it, and a port from the job's number; what the user has set stays. */
const MASTER = String.raw`fl_head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
fl_address=$(scontrol show node "$fl_head" 2>/dev/null | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p' | head -n 1)
export MASTER_ADDR="${'$'}{MASTER_ADDR:-${'$'}{fl_address:-$fl_head}}" MASTER_PORT="${'$'}{MASTER_PORT:-$((20000 + SLURM_JOB_ID % 10000))}"
[ -n "$SLURM_CPUS_PER_TASK" ] && export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"
# Those of the batch step, which a task must not take for its own.
unset SLURM_PROCID SLURM_LOCALID SLURM_NODEID`;

/** What PyTorch's `env://` reads, from what Slurm gives each task. */
const RANKS = ['RANK="${SLURM_PROCID:-0}"', 'LOCAL_RANK="${SLURM_LOCALID:-0}"', 'WORLD_SIZE="${SLURM_NTASKS:-1}"', 'MASTER_ADDR="$MASTER_ADDR"', 'MASTER_PORT="$MASTER_PORT"'];

/** Slurm 22 and older tell a task in an OCI container (`--container`) nothing of its number: several would all be rank 0. */
const NUMBERED = `[ -n "$SLURM_PROCID" ] || [ "\${SLURM_NTASKS:-1}" = 1 ] || { echo 'fuselens: tasks in containers get no number from this Slurm' >&2; exit 94; }`;

/**
 * `command.sh` of a Slurm run. With `nodes` or `procs` the command runs once a task through `srun`, with RANK and the like set (or
 * once a node under torchrun); without, it runs once, in the batch step.
 */
export function slurmCommand(settings: RunSettings, place: JobPlace, argv: readonly string[], inside: JobPlace): string {
  const container = settings.exec;
  const kind = container === undefined ? undefined : containerKind(container);
  const inner = kind === undefined ? argv : bashArgv(containedLines(settings, inside, argv));
  const spread = settings.nodes !== undefined || settings.procs !== undefined || kind === 'srun';
  // What is meant for the job happens inside; out here only the container is started, on the node where it is.
  const { exec: _, ...bare } = settings;
  const outside = { settings: { ...bare, setup: [] }, place: { ...place, addition: {} } };
  if (!spread) {
    return container === undefined ? jobLines(settings, place, argv) : jobLines(outside.settings, outside.place, [], { end: containerLines(container, place.id, quoteWords([...labelledPrefix(container, place.id), ...inner]), containerNotes(container, inside, place.runFolder)) });
  }
  const srun = kind === 'srun' ? container?.prefix ?? [] : ['srun'];
  const start = container === undefined || kind === 'srun' ? 'exec "$@"' : containerLines(container, place.id, `${quoteWords(labelledPrefix(container, place.id))} env ${RANKS.join(' ')} "$@"`);
  const task = `${NUMBERED}; export ${RANKS.join(' ')}; ${start}`;
  const lines = kind === undefined ? { settings, place } : outside;
  return jobLines(lines.settings, lines.place, [...srun, '--kill-on-bad-exit=1', ...(settings.slurm?.torchrun === true ? ['--ntasks-per-node=1'] : []), 'sh', '-c', task, 'sh', ...inner], { before: MASTER });
}

/** argv a task runs: the command, or torchrun joining all nodes of the job. */
export function slurmArgv(settings: RunSettings): { readonly argv: readonly string[] } {
  const argv = plainArgv(settings);
  if (settings.slurm?.torchrun !== true) {
    return { argv };
  }
  const module = /(^|\/)python[\d.]*$/.test(argv[0]) ? [argv[0], '-m', 'torch.distributed.run'] : ['torchrun'];
  const rest = module.length > 1 ? argv.slice(1) : argv;
  const kind = /\.py$/.test(rest[0] ?? '') || rest[0] === '-m' ? [] : ['--no-python'];
  const words = `--nnodes "$SLURM_NNODES" --nproc-per-node ${settings.procs ?? 1} --rdzv-backend c10d --rdzv-id "$SLURM_JOB_ID" --rdzv-endpoint "$MASTER_ADDR:$MASTER_PORT" --rdzv-conf "is_host=$([ "\${SLURM_NODEID:-0}" = 0 ] && echo true || echo false)"`;
  return { argv: ['sh', '-c', `exec ${quoteWords(module)} ${words} "$@"`, 'sh', ...kind, ...rest] };
}

/**
 * `batch.sh`: like the supervisor, it writes the exit code, also after `scancel` (which a trap on EXIT alone would miss).
 * `contained`: the command ends what is in its container when TERM comes, and gets the time for it.
 */
export function batchScript(id: string, folder: string, login: boolean, isArray: boolean, contained: boolean): string {
  const run = `"$b" ${login ? '-l ' : ''}./command.sh`;
  const body = isArray
    ? String.raw`t=$SLURM_ARRAY_TASK_ID; x=exit.$t
mkfifo ".pipe.$t"; { tee "tasks.d/$t.log" < ".pipe.$t" | sed -u "s/^/[$t] /" >> log; } & o=$!
${run} > ".pipe.$t" 2>&1 & c=$!; wait $c`
    : `x=exit\n${run} & c=$!; wait $c`;
  // Until now it was the time of the request; an array begins with the task that is first.
  const began = isArray ? 'mkdir began.d 2>/dev/null && date +%s > began' : 'date +%s > began';
  return String.raw`#!/bin/sh
cd -- ${quoteWord(folder)} || exit 97
(umask 077; ${began})
id=${quoteWord(id)}; export FUSELENS_RUN_ID="$id"
${FUNCTIONS}
fl_end() {
  r=$?; trap - EXIT; trap '' TERM
  ${contained ? 'i=0; while kill -s 0 "$c" 2>/dev/null && [ $i -lt 75 ]; do sleep 0.2; i=$((i+1)); done' : ':'}
  ${isArray ? 'wait $o 2>/dev/null; rm -f ".pipe.$t"' : 'left=$(fl_mine); [ -n "$left" ] && { kill -s TERM $left; sleep 2; left=$(fl_mine); [ -n "$left" ] && kill -s KILL $left; } 2>/dev/null'}
  umask 077; echo "$r" > "$x.tmp" && mv "$x.tmp" "$x"; date +%s > ended
  exit "$r"
}
x=exit; trap fl_end EXIT; trap 'exit 143' TERM
b=$(command -v bash || command -v sh)
${body}`;
}

/** `stop.sh`: cancels and waits until Slurm has ended it. */
export const SLURM_STOP = String.raw`read -r j < job || exit 0
scancel --full "$j"; scancel "$j"
i=0; while [ $i -lt 120 ] && [ -n "$(squeue -h -j "$j" -o %i 2>/dev/null)" ]; do sleep 0.5; i=$((i+1)); done`;
