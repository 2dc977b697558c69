import { bashArgv, exportLines, quoteWord, quoteWords, writeFileLines } from './posix';
import type { RunAddition, RunFile } from './run';
import type { ContainerSettings, RunSettings } from './runSettings';

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

/** The lines from the working directory to the very command; the command replaces the shell. */
export function jobLines(settings: RunSettings, place: JobPlace, argv: readonly string[], options: { readonly before?: string } = {}): string {
  const { addition } = place;
  const env = exportLines({ ...settings.env });
  const python = pythonOf(argv);
  const record = place.runFolder === undefined ? '' : `[ "\${SLURM_PROCID:-0}" = 0 ] && { ${environmentScript(python)}
} > "$FUSELENS_RUN_FOLDER/environment" 2>/dev/null </dev/null`;
  return [
    `export FUSELENS_RUN_ID=${quoteWord(place.id)}`,
    place.runFolder === undefined ? '' : `export FUSELENS_RUN_FOLDER=${quoteWord(place.runFolder)}`,
    // Where the run folder is seen, `start` has written them.
    place.runFolder === undefined ? filesLines(place) : '',
    `cd -- ${quoteWord(place.workdir)} 2>/dev/null || { printf 'fuselens: no folder %s\\n' ${quoteWord(place.workdir)} >&2; exit 96; }`,
    env,
    ...(settings.setup ?? []),
    // Once more: what the user set by name wins over what a setup script sets in passing.
    (settings.setup ?? []).length > 0 ? env : '',
    ...(addition.setup ?? []),
    exportLines({ ...addition.env }),
    record,
    ...Object.entries(addition.prependPaths ?? {}).map(([name, value]) => `export ${name}=${quoteWord(value)}"\${${name}:+:$${name}}"`),
    options.before ?? '',
    `exec ${quoteWords(argv)}`,
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

export type ContainerKind = 'exec' | 'run' | 'srun';

/** `exec` starts a process in a container that is there; `run` makes one; `srun` leaves it to Slurm. */
export function containerKind({ prefix }: ContainerSettings): ContainerKind {
  const words = prefix.map((word) => word.split('/').at(-1) ?? word);
  return words[0] === 'srun' ? 'srun' : words.includes('run') && /^(docker|podman|nerdctl|sudo)$/.test(words[0] ?? '') ? 'run' : 'exec';
}

/** The prefix with a label by which a made container is found again to be stopped. */
export function labelledPrefix(container: ContainerSettings, id: string): readonly string[] {
  if (containerKind(container) !== 'run') {
    return container.prefix;
  }
  const at = container.prefix.indexOf('run');
  return [...container.prefix.slice(0, at + 1), '--label', `fuselens.run=${id}`, ...container.prefix.slice(at + 1)];
}

/** The program that makes containers, with everything before `run` (`sudo docker`). */
export function containerProgram({ prefix }: ContainerSettings): readonly string[] {
  return prefix.slice(0, Math.max(1, prefix.indexOf('run')));
}

/** What the supervisor runs: the job itself, or the container that runs it. */
export function commandScript(settings: RunSettings, place: JobPlace, argv: readonly string[], hostWorkdir: string, hostRunFolder: string): string {
  const container = settings.exec;
  if (container === undefined || containerKind(container) === 'srun') {
    return jobLines(settings, place, argv);
  }
  const inside = bashArgv(jobLines(settings, place, argv));
  const lines = [
    `export FUSELENS_RUN_ID=${quoteWord(place.id)}`,
    // Compose files and the like are looked up from here; the job's own folder is inside.
    `cd -- ${quoteWord(hostWorkdir)} 2>/dev/null || :`,
  ];
  if (containerKind(container) === 'exec') {
    lines.push(`${quoteWords([...container.prefix, ...bashArgv(environmentScript(pythonOf(argv)))])} > ${quoteWord(`${hostRunFolder}/environment`)} 2>/dev/null </dev/null`);
  }
  return [...lines, `exec ${quoteWords([...labelledPrefix(container, place.id), ...inside])}`].join('\n');
}

/** The Python a command starts, where it says so. */
export function pythonOf(argv: readonly string[]): string | undefined {
  return argv.find((word) => /(^|\/)python[\d.]*$/.test(word));
}
