/** Sentences of the `fuselens` command. Option names, commands and file formats stay as they are in every language. */
export const cliMessages: Readonly<Record<string, string>> = {
  'cli.help': `fuselens – see where a training step goes on Ascend NPUs and CUDA GPUs

  fuselens analyze PATH    figures of a profile: tables, --json, --md, --html FILE, --sarif FILE
  fuselens compare A B     two profiles: comparable or not, verdict, what changed: --json, --md, --fail-over
  fuselens export PATH     a plain trace for Perfetto: --perfetto FILE
  fuselens fuse FILE|DIR   swap in fused operators: --list, --diff, --write
  fuselens capture -- CMD  run a training command and record chosen steps
  fuselens inspect FOLDER  what a capture left, and what is missing
  fuselens sample DIR      write the synthetic sample profile and its source
  fuselens run -- CMD      run a training command here or on a host; runs, attach, stop: those there are
  fuselens push, fetch     sources to a host, profiles back; columns PATH: open a profile elsewhere
  fuselens verify PLACE    FILE:LINE: the function and its fused form side by side: --python, --host, --json

  fuselens COMMAND --help  the options of a command
  fuselens --version

PATH is a torch_npu profiler folder, a Kineto trace (.json, .json.gz, .zip, .tar), a profiler database,
an Nsight Systems .sqlite, or a folder of ranks. Nothing is ever written beside a profile.`,
  'cli.help.analyze': `fuselens analyze PATH [options]

Prints the figures of a profile; progress goes to stderr.

  --rank R          only this rank: its number or its name; repeat for more
  --step S          only this step: its number or its name
  --source DIR      where the model's Python source lies; repeat for more: chains and kernels get their lines
  --map FROM=TO     paths of the run that begin with FROM lie below TO here; repeat for more
  --stacks PATH     a second profile of the same code, recorded with Python stacks: its lines are carried over
  --fusions DIR     fusions of your own are in DIR/.fuselens/fusions; repeat for more
  --all-ranks       every rank in the tables over ranks, where many are summed up otherwise
  --json            the report as JSON (schema fuselens/1), times in microseconds relative to baseNs
  --md              the report as Markdown, with the definition of every figure
  --html FILE       the report as one self-contained page
  --sarif FILE      problems and findings as SARIF 2.1.0
  --kernels FILE    one CSV row per kernel; per operator of the CPU where the run had no device
  --fail-on LEVEL   exit with 1 when a problem or finding is at least this severe: info, warning, error
  --prefer FORMAT   text or db, where a folder holds both exports
  --no-cache        do not keep columns in the cache folder ($XDG_CACHE_HOME/fuselens)
  --lang LANG       en or zh-cn

Exit codes: 0 done, 1 --fail-on met, 2 not a profile or unreadable, 3 wrong usage.`,
  'cli.help.export': `fuselens export PATH --perfetto FILE [options]

Writes a plain trace that Perfetto and chrome://tracing open: streams, host threads, Python frames,
steps, and an arrow from each launch to its kernels. Overlapping kernels get tracks of their own.

  --rank R          only this rank: its number or its name; repeat for more
  --no-cache        do not keep columns in the cache folder
  --lang LANG       en or zh-cn`,
  'cli.help.capture': `fuselens capture [options] -- COMMAND [ARGUMENT…]

Runs a training command unchanged, records chosen optimizer steps of chosen ranks, and says what it left and where.
With --stacks it runs the command twice: for durations without stacks, then for source lines with them.

  --steps S         optimizer steps to record, from 1: 5, 3-5, or 3,5 with a recording each (default: 5)
  --warmup N        steps before the first with the profiler on and thrown away (default: 1)
  --stacks          Python stacks; --shapes input shapes; --memory allocations
  --level L         level of the Ascend profiler: 0, 1 or 2 (default: 1)
  --ranks R,R       only these ranks
  --one-pass        with --stacks: one run, whose durations include what recording stacks costs
  --method METHOD   helper (default), xtuner (switches in a copy of its config), dynamic (torch_npu's PROF_CONFIG_PATH),
                    nsys (Nsight Systems in front of the command)
  --out DIR         where the profile goes (default: outputs/RUN); the run with stacks goes to DIR-stacks
  --host HOST       run there over ssh and fetch the profile; --workdir DIR is the folder there
  --setup LINE      shell line run before the command, such as “source set_env.sh”; repeat for more
  --json            the outcome as JSON
  --lang LANG       en or zh-cn

Exit codes: 0 recorded as asked, 1 recorded but something is missing, 2 nothing recorded, 3 wrong usage.`,
  'cli.usage.capture-command': 'Put the training command behind --, as in: fuselens capture --steps 3-5 -- python train.py',
  'cli.usage.capture-steps': '--steps takes steps and ranges from 1, such as 3, 3-5 or 3,5, not “{value}”.',
  'cli.usage.capture-level': '--level takes 0, 1 or 2, not {value}.',
  'cli.usage.capture-ranks': '--ranks takes ranks with commas between them, such as 0,3, not “{value}”.',
  'cli.usage.capture-method': '--method takes {known}, not “{value}”.',
  'cli.usage.capture-out': 'With --host, --out takes an absolute path there, not “{value}”.',
  'cli.help.sample': `fuselens sample DIR [options]

Writes two synthetic runs in the format of a real profiler folder, plainly marked synthetic: DIR/baseline and
DIR/optimized, and DIR/workspace with the model's source.

  --ranks N         write only the first N of 16 ranks
  --lang LANG       en or zh-cn`,
  'cli.usage.help': 'Try: fuselens{command} --help',
  'cli.usage.unknown-command': 'There is no command “{command}”.',
  'cli.usage.unknown-option': 'There is no option “{option}”.',
  'cli.usage.option-value': 'The option “{option}” was given without its value, or with one it does not take.',
  'cli.usage.no-path': 'No profile was named: give the path of a profiler folder or trace.',
  'cli.usage.one-path': 'One path at a time: “{option}” is one too many.',
  'cli.usage.one-format': 'Choose one of --json and --md.',
  'cli.usage.language': 'There is no language “{value}”; known are {known}.',
  'cli.usage.fail-on': '--fail-on takes {known}, not “{value}”.',
  'cli.usage.prefer': '--prefer takes text or db, not “{value}”.',
  'cli.usage.no-such-rank': 'There is no rank “{rank}” in this profile; there are {known}.',
  'cli.usage.no-such-step': 'There is no step “{step}” in this profile; there are {known}.',
  'cli.usage.map': '--map takes FROM=TO, the beginning of a path in the run and where it lies here, not “{value}”.',
  'cli.usage.no-perfetto': 'Say where to write: --perfetto FILE.',
  'cli.usage.no-folder': 'No folder was named: give the path to write the sample to.',
  'cli.usage.ranks': '--ranks takes a number from 1 to 16, not “{value}”.',
  'cli.failure.nothing-readable': '{file}: nothing in it could be read.',
  'cli.failure.sentence': '{sentence}',
  'cli.stopped': 'stopped.',
  'error.write': '{file} could not be written ({reason}).',
  'error.write-denied': '{file} could not be written: you may not write there ({reason}). Name another place, or change the rights of that one.',
  'error.write-read-only': '{file} could not be written: that disk is read-only. Name another place.',
  'error.write-full': '{file} could not be written: the disk is full, or your share of it ({reason}). Make room, or name another place.',
  'error.write-in-the-way': '{file} could not be written: a file stands where a folder has to be. Name another place.',
  'error.write-folder': '{file} could not be written: it is a folder. Name a file in it.',
  'error.write-nowhere': '{file} could not be written: the folder it lies in is not there, or takes nothing new. Name another place.',
  'error.write-name': '{file} could not be written: the name is too long. Choose a shorter one.',
  'cli.failure.overwrites-profile': '{file} belongs to the profile that is read: write to another file.',
  'cli.failure.not-empty': '{folder} is not empty: choose a new folder, so that nothing of yours is overwritten.',
  'cli.operators': 'This run had no device: the rows of {file} are operators of the CPU, with their threads in the place of streams.',
  'cli.progress.reading': 'Reading {file}{share} ({megabytes} MB, {rate} MB/s)',
  'cli.export.done': 'Wrote {count} {count#event#events} to {file}; open it at ui.perfetto.dev.',
  'cli.sample.progress': 'Writing {what} ({done} of {total})',
  'cli.sample.done': 'Wrote the sample to {folder}.',
};
