import { containerKind, containerProgram, labelledPrefix } from './containerPrefix';
import { bashArgv, exportLines, quoteWord, quoteWords, writeFileLines } from './posix';
import type { RunAddition, RunFile } from './run';
import type { ContainerSettings, RunSettings } from './runSettings';
import { containerStop } from './stopScript';

/** Where a job runs and what it is given; paths are absolute, as the job sees them. */
export interface JobPlace {
  readonly id: string;
  /** The run folder; undefined where the job cannot see it (in a container, on a Ray worker). */
  readonly runFolder: string | undefined;
  readonly workdir: string;
  readonly filesFolder: string;
  readonly files: readonly RunFile[];
  readonly addition: RunAddition;
}

/** Variables that change how fast or how training runs; others may hold secrets and stay out of the record. */
const TELLING = '^(OMP|MKL|KMP|NCCL|HCCL|HCCL|ASCEND|TASK_QUEUE|CPU_AFFINITY|COMBINED|TORCH|TORCHINDUCTOR|PYTORCH|CUDA|CUBLAS|HIP|ROCR|HSA|TRITON|XTUNER|VLLM|LIGER|FLASH|DS|GLOO|MASTER|WORLD_SIZE|SLURM_(NNODES|NTASKS|JOB_ID)|CONDA_DEFAULT_ENV|VIRTUAL_ENV)[A-Z0-9_]*=';
const PACKAGES = ['torch', 'torch_npu', 'torchvision', 'transformers', 'xtuner', 'mmengine', 'liger_kernel', 'flash_attn', 'triton', 'triton_ascend', 'accelerate', 'deepspeed', 'numpy'];

/** Python one-liner without single quotes, so that it stands in them; it imports nothing heavy. */
const VERSIONS = `import sys, importlib.metadata as m
print("python=" + sys.version.split()[0])
for n in "${PACKAGES.join(' ')}".split():
    try: print(n + "=" + m.version(n))
    except Exception: pass`;

/** Writes versions and telling variables as `key=value` to stdout. Quick, and never fails the run. */
function environmentScript(python: string | undefined): string {
  const found = python === undefined ? '' : `${quoteWord(python)} `;
  return String.raw`printf 'hostname=%s\n' "$(hostname 2>/dev/null || uname -n)"; printf 'system=%s\n' "$(uname -srm)"
env | grep -E ${quoteWord(TELLING)} | sort
for fl_y in ${found}python3 python; do command -v "$fl_y" >/dev/null 2>&1 && { "$fl_y" -c ${quoteWord(VERSIONS)}; break; }; done
command -v nvidia-smi >/dev/null 2>&1 && timeout 10 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1 | sed 's/^/gpu=/'
for fl_y in "$ASCEND_TOOLKIT_HOME" /usr/local/Ascend/ascend-toolkit/latest; do [ -n "$fl_y" ] && [ -r "$fl_y/version.cfg" ] && sed -n 's/.*\[\([0-9][^]:]*\).*/cann=\1/p' "$fl_y/version.cfg" | head -n 1 && break; done
[ -r /usr/local/Ascend/driver/version.info ] && sed -n 's/^Version=/npuDriver=/p' /usr/local/Ascend/driver/version.info
:`;
}

/** The exit code of the command is what it gave; an end that looks well before the command is none. */
const SETUP_ENDED = `trap 'fl_r=$?; [ "$fl_r" != 0 ] || { echo "fuselens: setup ended before the command" >&2; fl_r=93; }; exit "$fl_r"' EXIT`;

/** The lines from the working directory to the very command; the command replaces the shell. */
export function jobLines(settings: RunSettings, place: JobPlace, argv: readonly string[], options: { readonly before?: string; readonly end?: string } = {}): string {
  const { addition } = place;
  const env = exportLines({ ...settings.env });
  const python = pythonOf(argv);
  // In a container that stays it is fetched from there when all is over.
  const folder = place.runFolder === undefined ? quoteWord(place.filesFolder) : '"$FUSELENS_RUN_FOLDER"';
  const known = place.runFolder !== undefined || (settings.exec !== undefined && containerKind(settings.exec) !== 'srun');
  const made = place.runFolder === undefined ? `(umask 077; mkdir -p -- ${folder}) && ` : '';
  const record = known ? `[ "\${SLURM_PROCID:-0}" = 0 ] && ${made}{ { ${environmentScript(python)}
} > ${folder}/environment.tmp; mv -f ${folder}/environment.tmp ${folder}/environment; } 2>/dev/null </dev/null` : '';
  return [
    `export FUSELENS_RUN_ID=${quoteWord(place.id)}`,
    place.runFolder === undefined ? '' : `export FUSELENS_RUN_FOLDER=${quoteWord(place.runFolder)}`,
    // Where the run folder is seen, `start` has written them.
    place.runFolder === undefined ? filesLines(place) : '',
    `cd -- ${quoteWord(place.workdir)} 2>/dev/null || { printf 'fuselens: no folder %s\\n' ${quoteWord(place.workdir)} >&2; exit 96; }`,
    env,
    // An open here-document takes in all that follows, and the shell ends well without having run it.
    ...((settings.setup ?? []).length > 0 ? [SETUP_ENDED, ...settings.setup ?? [], 'trap - EXIT'] : []),
    // Once more: what the user set by name wins over what a setup script sets in passing.
    (settings.setup ?? []).length > 0 ? env : '',
    // By this the run is found again, and ended: it is nobody's to set.
    `export FUSELENS_RUN_ID=${quoteWord(place.id)}`,
    ...(addition.setup ?? []),
    exportLines({ ...addition.env }),
    record,
    ...Object.entries(addition.prependPaths ?? {}).map(([name, value]) => `export ${name}=${quoteWord(value)}"\${${name}:+:$${name}}"`),
    options.before ?? '',
    options.end ?? `exec ${quoteWords(argv)}`,
  ].filter((line) => line !== '').join('\n');
}

function filesLines({ files, filesFolder }: JobPlace): string {
  if (files.length === 0) {
    return '';
  }
  return [
    `(umask 077; mkdir -p -- ${quoteWord(filesFolder)})`,
    ...files.map(({ path, content }) => `${folderLine(`${filesFolder}/${path}`)}${writeFileLines(`${filesFolder}/${path}`, content)}`),
  ].join('\n');
}

function folderLine(file: string): string {
  return `mkdir -p -- ${quoteWord(file.slice(0, file.lastIndexOf('/')))}\n`;
}

/** The files of a run, as lines that write them below the run folder. */
export function runFileLines(folder: string, files: readonly RunFile[]): string {
  return files.map(({ path, content }) => `${folderLine(`${folder}/files/${path}`)}${writeFileLines(`${folder}/files/${path}`, content)}`).join('\n');
}

/**
 * The last lines of a job in a container that was made for it. There its shell is process 1, which TERM does not end unless it is
 * handled, and nor would it end the command, had that taken the shell's place: so the shell stays, and passes on what it is told.
 */
function firstProcess(argv: readonly string[]): string {
  const command = quoteWords(argv);
  return String.raw`[ "$$" = 1 ] || exec ${command}
fl_pass() { trap '' "$1"; kill -s "$1" 0; fl_told=1; trap "fl_pass $1" "$1"; }
for fl_s in TERM INT HUP; do trap "fl_pass $fl_s" "$fl_s"; done
(trap - TERM INT QUIT HUP; exec ${command}) <&0 & fl_c=$!
exec 2>/dev/null
wait "$fl_c"; fl_r=$?
while [ -n "$fl_told" ]; do fl_told=; wait "$fl_c"; fl_r=$?; done
exit "$fl_r"`;
}

/** What runs inside a container. Its two outputs are one there, as they are in the log: the engine would mix up their lines. */
export function containedLines(settings: RunSettings, place: JobPlace, argv: readonly string[]): string {
  const made = settings.exec !== undefined && containerKind(settings.exec) === 'run';
  return `exec 2>&1\n${jobLines(settings, place, argv, made ? { end: firstProcess(argv) } : {})}`;
}

/**
 * Lines that start `words` (shell text) in a container and end with its code. TERM to the program outside ends nothing inside: it is
 * ended there first.
 */
export function containerLines(container: ContainerSettings, id: string, words: string, { during = '', after = '' }: ContainerNotes = {}): string {
  const stop = containerStop(container, id);
  if (stop === undefined) {
    return `exec ${words}`;
  }
  return String.raw`fl_end() { trap '' TERM HUP; GRACE="${'$'}{GRACE:-10}"; (${stop}) >/dev/null 2>&1 </dev/null; exit "${'$'}{fl_r:-143}"; }
trap fl_end TERM
${words} & fl_c=$!
${during === '' ? ':' : during}
wait "$fl_c"; fl_r=$?
${after === '' ? ':' : after}
exit "$fl_r"`;
}

interface ContainerNotes {
  readonly during?: string;
  readonly after?: string;
}

/**
 * Lines that take out of a container what the job noted there, and clean up. From one that is there this is done when all is over; one
 * that was made for the run takes all with it, so it is asked while it runs (one that is gone at once leaves nothing).
 */
export function containerNotes(container: ContainerSettings, { id, filesFolder }: JobPlace, runFolder: string | undefined): ContainerNotes {
  const keep = (read: string): string => `fl_x=$(${read})${runFolder === undefined ? '' : `; [ -z "$fl_x" ] || printf '%s\\n' "$fl_x" > ${quoteWord(`${runFolder}/environment`)}`}`;
  switch (containerKind(container)) {
    case 'exec':
      return { after: keep(`${quoteWords([...container.prefix, 'sh', '-c', 'cat "$1/environment"; rm -rf -- "$1"', 'sh', filesFolder])} 2>/dev/null </dev/null`) };
    case 'run': {
      const program = quoteWords(containerProgram(container));
      const read = `${program} exec "$fl_n" ${quoteWords(['sh', '-c', 'while ! [ -e "$1/environment" ]; do sleep 0.2; done; cat "$1/environment"', 'sh', filesFolder])}`;
      return runFolder === undefined ? {} : {
        during: `{ while kill -s 0 "$fl_c"; do fl_n=$(${program} ps -q --filter ${quoteWord(`label=fuselens.run=${id}`)} | head -n 1); [ -n "$fl_n" ] && break; sleep 0.5; done; [ -z "$fl_n" ] || ${keep(read)}; } >/dev/null 2>&1 </dev/null &`,
      };
    }
    case 'srun':
      return {};
  }
}

/** What the supervisor runs: the job itself, or the container that runs it. `hostRunFolder` undefined: nobody would read what is written there. */
export function commandScript(settings: RunSettings, place: JobPlace, argv: readonly string[], hostWorkdir: string, hostRunFolder: string | undefined): string {
  const container = settings.exec;
  if (container === undefined) {
    return jobLines(settings, place, argv);
  }
  const inside = quoteWords([...labelledPrefix(container, place.id), ...bashArgv(containedLines(settings, place, argv))]);
  return [
    `export FUSELENS_RUN_ID=${quoteWord(place.id)}`,
    // Compose files and the like are looked up from here; the job's own folder is inside.
    `cd -- ${quoteWord(hostWorkdir)} 2>/dev/null || :`,
    containerLines(container, place.id, inside, containerNotes(container, place, hostRunFolder)),
  ].join('\n');
}

/** The Python a command starts, where it says so. */
export function pythonOf(argv: readonly string[]): string | undefined {
  return argv.find((word) => /(^|\/)python[\d.]*$/.test(word));
}
