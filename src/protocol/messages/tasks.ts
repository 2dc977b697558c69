/** Sentences about the settings of a run: what is wrong in a `fuselens` task, and what to do. */
export const taskMessages: Readonly<Record<string, string>> = {
  'cli.help.inspect': `fuselens inspect FOLDER [options]

Looks through what a capture left: missing ranks, lost steps, no device events, stacks asked for and not there.

  --json            the same as JSON
  --lang LANG       en or zh-cn`,
  'cli.usage.inspect': 'Name one folder: the output folder of a capture, or one inside it.',
  'error.inspect-no-capture': '{file} is not the output of a capture by FuseLens: look for the folder below outputs that is named after the run.',
  'task.problem.not-settings': 'A run needs an object of settings, not {given}.',
  'task.problem.type': '“{setting}” must be {expected}, not {given}.',
  'task.problem.enum': '“{setting}” is “{given}”; it must be one of {expected}.',
  'task.problem.minimum': '“{setting}” is {given}; it must be at least {minimum}.',
  'task.problem.length': '“{setting}” must have {count} entries, not {given}.',
  'task.problem.empty': '“{setting}” is empty: fill it in or leave it out.',
  'task.problem.nul': '“{setting}” holds a zero byte, which no command can be given: remove it.',
  'task.problem.host': '“{setting}” is “{given}”; a host is a name that ssh accepts, without blanks and without a dash in front.',
  'task.problem.missing': '“{setting}” is missing: add it to the task.',
  'task.problem.unknown': '“{setting}” is no setting of a run; known are {known}.',
  'task.problem.options-of-other': '“{setting}” is only for the launcher {other}, and this run starts with {launcher}: change “launcher” or remove it.',
  'task.problem.nodes-list': '“nodes” names hosts, which only the launcher torchrun starts; for {launcher} give a number of nodes.',
  'task.problem.nodes-hosts': 'torchrun on more than one node needs their names: write “nodes” as a list of hosts, or use the launcher slurm.',
  'task.problem.nodes-command': 'A plain command runs on one node: use the launcher torchrun, slurm or ray for more.',
  'task.problem.nodes-ray': 'Ray places the work itself: leave “nodes” out and ask for “ray.cpus” or “ray.gpus”.',
  'task.problem.procs-command': 'A plain command is one process: use the launcher torchrun or slurm for more, or leave “procs” out.',
  'task.problem.nodes-without-host': '“host” is {host}, which “nodes” does not name: add it there, or leave “host” out.',
  'task.problem.push-here': '“sync.push” sends files to a host, and this run stays on this machine: set “host” or remove it.',
  'task.problem.rendezvous': '“rendezvous” is where several hosts meet: name them in “nodes”, or remove it.',
  'task.problem.container-terminal': '“exec.prefix” asks for a terminal ({option}), which a run does not have: write -i, or leave it out.',
  'task.problem.container-detached': '“exec.prefix” leaves the container to itself ({option}), so the run could not be followed: leave it out, the run goes on without you all the same.',
  'task.problem.container-srun': 'The launcher {launcher} does not start containers through srun: use the launcher slurm.',
  'task.problem.env-name': '“{setting}” is no name of an environment variable: use letters, digits and underscores.',
  'task.problem.steps-order': '“capture.steps” runs from {first} to {last}: the first step must not come after the last.',
  'task.problem.steps-text': '“capture.steps” is “{given}”: write two numbers, as in [3, 5], or steps and ranges from 1, as in "3,5" or "3-5,9".',
  'task.problem.steps-one-range': '“capture.steps” has several ranges, and the method “{method}” records one: ask for one range, or use the method “helper”.',
  'task.problem.warmup': '“capture.warmup” is {warmup}, but only the steps before step {first} can warm up: profile a later step or warm up less.',
  'task.problem.two-pass': '“capture.twoPass” makes a second pass for stacks: set “capture.stacks” to true, or remove it.',
  'task.problem.level-nsys': '“capture.level” belongs to the Ascend profiler, which nsys does not use: remove one of the two.',
  'task.problem.stacks-xtuner': 'XTuner’s own profiler records no stacks: set “capture.method” to helper, or “capture.stacks” to false.',
  'task.problem.ranks-twice': '“capture.ranks” names a rank twice: name each once.',
};
