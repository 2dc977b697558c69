/** Sentences of `fuselens run`, `runs`, `attach`, `stop`, `push`, `fetch` and `columns`. Options and states stay as they are in every language. */
export const cliRunMessages: Readonly<Record<string, string>> = {
  'cli.help.run': `fuselens run [options] -- COMMAND [ARGUMENT…]

Starts a training run here or on a host, in a run folder of its own, and prints its output. The run goes on when the
terminal closes or the network drops (attach again); Ctrl+C stops it.

  --settings FILE       run settings as JSON, the fields of a fuselens task; options below win over them
  --host HOST           a name that ssh accepts; absent: this machine
  --launcher NAME       command, torchrun, slurm or ray
  --workdir DIR         on the host; relative to the home folder there
  --env NAME=VALUE      repeat for more
  --setup LINE          a shell line run first, such as “source set_env.sh”; repeat for more
  --nodes N|A,B         nodes, or for torchrun the hosts
  --procs N             processes a node
  --rendezvous H:PORT   where hosts of torchrun meet
  --container WORD      the container prefix, word by word: --container docker --container exec --container NAME
  --container-path DIR  the working directory inside
  --partition, --account, --time, --gpus, --cpus, --array, --slurm-torchrun, --slurm-argument ARG
  --ray-address URL, --ray-cpus N, --ray-gpus N
  --push                send this folder first; --ignore RULE adds rules to .gitignore's
  --name NAME           how lists call it
  --detach              print the run's id and leave
  --dry-run             print the settings, and with --push what would be sent
  --json                print id, host and folder as JSON
  --lang LANG           en or zh-cn

Exit codes: 0 the run succeeded, 1 it failed, 2 it could not be started, 3 wrong usage, 130 stopped or detached.`,
  'cli.help.runs': `fuselens runs [--host HOST] [--json]

Lists the runs on a host (or here), newest first: id, state, time, commit, name.`,
  'cli.help.attach': `fuselens attach RUN [--host HOST] [--from BYTE|end]

Prints a run's output, from the beginning or from a byte on, until it has ended. RUN is an id, its beginning or end, or a name.
Ctrl+C stops the run; closing the terminal does not. Where RUN is the first pass of a capture in two, the second one follows, once,
in the folder of the first; then what both left is fetched into outputs/ here, and named.`,
  'cli.help.stop': `fuselens stop RUN [--host HOST] [--grace SECONDS]

Ends every process of a run, on all its hosts and in containers; what has not ended after the grace time (40 s) is killed.`,
  'cli.help.push': `fuselens push [DIR] --host HOST [options]

Sends sources to a host: what is new or changed there. Nothing is ever deleted there.

  --to DIR       on the host; absent: fuselens/NAME in the home folder
  --ignore RULE  as in .gitignore, after the rules of .gitignore and .fuselensignore; repeat for more
  --dry-run      only say what would be sent
  --json         the plan as JSON`,
  'cli.help.fetch': `fuselens fetch [RUN] --host HOST [options]

Brings what a profiler wrote, compressed; goes on where it was cut off.

  --from DIR     on the host; absent: the output folder of a run that captured
  --to DIR       absent: outputs/RUN
  --what KIND    analysis: what analysis needs (default); trace: everything; columns: analyse there, bring the columns
  --json         what came, as JSON`,
  'cli.help.columns': `fuselens columns PATH --out DIR [--rank R] [--no-cache]

Writes what a profile was read into, so that it can be opened elsewhere: copy DIR and open it like a profile.`,
  'cli.usage.run-command': 'Put the command behind --, as in: fuselens run --host HOST -- python train.py',
  'cli.usage.run-env': '--env takes NAME=VALUE, not “{value}”.',
  'cli.usage.runs': 'runs takes no arguments but --host and --json.',
  'cli.usage.attach': 'Name one run, as in: fuselens attach RUN --host HOST --from 0; fuselens runs lists them.',
  'cli.usage.stop': 'Name one run, as in: fuselens stop RUN --host HOST --grace 40; fuselens runs lists them.',
  'cli.usage.push': 'Name a folder and a host, as in: fuselens push . --host HOST',
  'cli.usage.fetch': 'Name a run or a folder, as in: fuselens fetch RUN --host HOST --what analysis (or trace, or columns)',
  'cli.usage.fetch-from': 'Run {id} captured nothing, so say where its profile lies: --from FOLDER',
  'cli.usage.columns-out': 'Say where the columns go: --out DIR',

  'run.started': 'Run {id} started on {host}.',
  'run.started-here': 'Run {id} started.',
  'run.connection-lost': 'The connection to {host} was lost; run {id} goes on, trying again …',
  'run.reconnected': 'Connected to {host} again.',
  'run.detached': 'Run {id} goes on; fuselens attach {id} shows it again, fuselens stop {id} ends it.',
  'run.stopping': 'Stopping run {id} …',
  'run.stopped': 'Run {id} was stopped.',
  'run.stopped-left': 'Run {id} was stopped, but these processes do not end: {left}.',
  'run.ended': 'Run {id} ended with exit code {exit}.',
  'run.queue': 'waiting (job {job}, {state})',
  'run.queue-place': 'queued at place {place} (job {job}, {state})',
  'run.queue-why': '{queue}: {reason}',
  'run.queue-start': 'start expected at {time}',
  'run.none': 'There are no runs on {host}.',
  'run.none-here': 'There are no runs here.',
  'run.phase.starting': 'starting',
  'run.phase.queued': 'queued',
  'run.phase.running': 'running',
  'run.phase.exited': 'exit {exit}',
  'run.phase.stopped': 'stopped',
  'run.phase.lost': 'lost',
  'run.push-plan': '{count} {count#file#files} ({size}) to {host}:{folder}, {unchanged} unchanged:',
  'run.push-newer': '! {count} {count#file is#files are} newer on {host}: look there for edits before sending.',
  'run.push-large': 'Not sent, since it is large: {file} ({size}).',
  'run.push-link-outside': 'Not sent, since it is a link that leads out of the folder: {file}.',
  'run.push-link-to-folder': 'Not sent, since it is a link to a folder: {file}.',
  'run.push-link-to-nothing': 'Not sent, since it is a link that leads nowhere: {file}.',
  'run.push-special': 'Not sent, since it is a socket, a pipe or a device: {file}.',
  'run.fetched': '{count} {count#file#files} ({size} MB, {received} MB over the wire) in {folder}; {kept} already here, {left} left there.',
};
