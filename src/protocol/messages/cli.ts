/** Sentences of the `fuselens` command. Option names, commands and file formats stay as they are in every language. */
export const cliMessages: Readonly<Record<string, string>> = {
  'cli.help': `fuselens – see where a training step goes on Ascend NPUs and CUDA GPUs

  fuselens analyze PATH    figures of a profile: tables, --json, --md, --html FILE, --sarif FILE
  fuselens compare A B     two profiles: comparable or not, verdict, what changed: --json, --md, --fail-over
  fuselens export PATH     a plain trace for Perfetto: --perfetto FILE
  fuselens fuse FILE|DIR   swap in fused operators: --list, --diff, --write
  fuselens sample DIR      write the synthetic sample profile and its source
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
  --json            the report as JSON (schema fuselens/1), times in microseconds relative to baseNs
  --md              the report as Markdown, with the definition of every figure
  --html FILE       the report as one self-contained page
  --sarif FILE      problems and findings as SARIF 2.1.0
  --kernels FILE    one CSV row per kernel
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
  'cli.usage.no-perfetto': 'Say where to write: --perfetto FILE.',
  'cli.usage.no-folder': 'No folder was named: give the path to write the sample to.',
  'cli.usage.ranks': '--ranks takes a number from 1 to 16, not “{value}”.',
  'cli.failure.nothing-readable': '{file}: nothing in it could be read.',
  'cli.failure.sentence': '{sentence}',
  'cli.failure.write': '{file} could not be written ({reason}).',
  'cli.failure.overwrites-profile': '{file} belongs to the profile that is read: write to another file.',
  'cli.failure.not-empty': '{folder} is not empty: choose a new folder, so that nothing of yours is overwritten.',
  'cli.progress.reading': 'Reading {file}{share} ({megabytes} MB, {rate} MB/s)',
  'cli.export.done': 'Wrote {count} {count#event#events} to {file}; open it at ui.perfetto.dev.',
  'cli.sample.progress': 'Writing {what} ({done} of {total})',
  'cli.sample.done': 'Wrote the sample to {folder}.',
};
