import type { MessageArguments } from '../engine/profile/problems';

/** One way to fail, known by what programs print. `find` gives the arguments of its sentence, or undefined. */
export interface KnownFailure {
  readonly code: string;
  /** The sentence where no host is involved. */
  readonly here?: string;
  /** True: ssh's own; such words in a job's log mean something else. */
  readonly transport?: true;
  readonly find: (text: string, exit: number | undefined) => MessageArguments | undefined;
}

/** Found by a pattern; its named groups are the arguments. */
function says(code: string, pattern: RegExp, options: { readonly transport?: true; readonly exits?: readonly number[]; readonly here?: string } = {}): KnownFailure {
  const { exits, ...rest } = options;
  return {
    code, ...rest,
    find: (text, exit) => {
      const found = exits === undefined || (exit !== undefined && exits.includes(exit)) ? pattern.exec(text) : null;
      return found === null ? undefined : { ...found.groups };
    },
  };
}

const ssh = (code: string, pattern: RegExp): KnownFailure => says(code, pattern, { transport: true });

/** ssh's words are English whatever the locale; those of the C library need not be. The first that fits is taken, so causes stand before consequences. */
const SSH: readonly KnownFailure[] = [
  ssh('error.run-host-key-changed', /REMOTE HOST IDENTIFICATION HAS CHANGED[^]*?Offending \S+ key in (?<file>.+):(?<line>\d+)/),
  ssh('error.run-host-key-changed-somewhere', /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed/),
  ssh('error.run-host-key-unknown', /No \S+ host key is known for|Host key verification failed/),
  ssh('error.run-key-permissions', /UNPROTECTED PRIVATE KEY FILE[^]*?Load key "(?<file>.+?)": bad permissions/),
  ssh('error.run-key-missing', /Identity file (?<file>.+?) not accessible[^]*Permission denied/),
  ssh('error.run-key-missing', /no such identity: (?<file>.+?): No such file[^]*Permission denied/),
  ssh('error.run-proxy-command', /exec: (?<file>.+?): (?:command )?not found[^]*UNKNOWN port/),
  ssh('error.run-config', /^(?<file>.+?): line (?<line>\d+): (?<text>.*)$/m),
  ssh('error.run-config-bad', /^(?<file>.+): terminating, \d+ bad configuration options/m),
  ssh('error.run-config-missing', /Can't open user config file (?<file>.+?): /),
  ssh('error.run-control-path', /ControlPath too long|unix_listener: path .* too long/),
  ssh('error.run-host-name', /hostname contains invalid characters/),
  ssh('error.run-jump-host', /connect to host (?<jump>\S+) port (?<port>\d+): (?<text>[^\n]*)[^]*UNKNOWN port 65535/),
  ssh('error.run-too-many-logins', /Too many authentication failures/),
  ssh('error.run-password', /Permission denied \((?<methods>[^)]*(?:password|keyboard-interactive)[^)]*)\)/),
  ssh('error.run-permission', /Permission denied \((?<methods>[^)]*)\)/),
  ssh('error.run-permission', /Permission denied, please try again|No supported authentication methods/),
  ssh('error.run-no-such-host', /Could not resolve hostname (?<name>[^:\s]+)/),
  ssh('error.run-refused', /connect to host (?<address>\S+) port (?<port>\d+): Connection refused/),
  ssh('error.run-network-down', /Network is (?:unreachable|down)/),
  ssh('error.run-unreachable', /connect to host (?<address>\S+) port (?<port>\d+): (?:No route to host|Host is down)/),
  ssh('error.run-timeout', /timed out during banner exchange|Operation timed out|Connection timed out/),
  ssh('error.run-forward', /bind \[?(?<address>[^\]\s]+)\]?:(?<port>\d+): Address already in use|Could not request local forwarding/),
  ssh('error.run-connection-closed', /Timeout, server \S+ not responding|Connection to \S+ closed by remote host|client_loop: send disconnect|Broken pipe|Connection reset by|Connection to \S+ closed/),
  ssh('error.run-not-ssh', /kex_exchange_identification|Connection closed by \S+ port \d+|ssh_exchange_identification|Bad packet length/),
  ssh('error.run-algorithms', /Unable to negotiate with .*: (?<text>[^\n]*)/),
  ssh('error.run-account', /This account is currently not available|nologin/),
  ssh('error.run-remote-command', /Cannot execute command-line and remote command/),
];

const FOLDER_SCRIPTS: readonly KnownFailure[] = [
  says('error.run-disk-full', /(?<file>[^\s:'"]+)?['"]?: (?:cannot create|write error|write failed)?:? ?(?:No space left on device|Disk quota exceeded)|(?:No space left on device|Disk quota exceeded|ENOSPC|EDQUOT)/, { here: 'error.run-disk-full-here' }),
  says('error.run-no-workdir', /fuselens: no folder (?<folder>.+)$/m, { exits: [96] }),
  says('error.run-setup-ended', /fuselens: setup ended before the command/, { exits: [93] }),
  says('error.run-no-run-folder', /[^]*/, { exits: [97] }),
];

const BATCH: readonly KnownFailure[] = [
  says('error.run-no-slurm', /\b(?:sbatch|srun|squeue|scancel|scontrol)\b.*not found|Could not establish a configuration source|Unable to process configuration file/),
  says('error.run-slurm-down', /Unable to contact slurm controller|Socket timed out on send\/recv/),
  says('error.run-slurm-partition', /[Ii]nvalid partition name specified/),
  says('error.run-slurm-gres', /Invalid generic resource \(gres\) specification/),
  says('error.run-slurm-account', /Invalid account or account\/partition combination|Invalid qos specification/),
  says('error.run-slurm-nodes', /Requested node configuration is not available|Node count specification invalid|More processors requested than permitted/),
  says('error.run-slurm-time', /Requested time limit is invalid|Invalid --time specification|time limit/i, { exits: [1] }),
  says('error.run-slurm-limit', /Job violates accounting\/QOS policy|AssocMax|QOSMax/),
  says('error.run-slurm-option', /(?:sbatch|srun): (?:unrecognized option|invalid option(?: --)?) '?(?<option>[^'\s]+)/),
  says('error.run-slurm-numbers', /fuselens: tasks in containers get no number/),
  says('error.run-slurm-launch', /srun: error: Task launch for \S+ failed on node (?<node>\S+): (?<text>[^\n]*)/),
  says('error.run-slurm', /(?:sbatch|srun): (?:fatal|error): (?<text>[^\n]*)/, { exits: [94] }),
  says('error.run-no-ray', /\bray\b: (?:command )?not found|(?:exec|line \d+): ray: (?:command )?not found|No module named '?ray'?/),
  says('error.run-ray-down', /Failed to connect to Ray at address:? ?(?<address>\S*?)\.?(?:\s|$)|ConnectionError.*8265/),
  says('error.run-ray', /RuntimeError: Request failed with status code (?<text>[^\n]*)/),
];

/** Docker 20 to 28, Podman 4, crun and runc 1; the words of later ones after their sources. */
const CONTAINERS: readonly KnownFailure[] = [
  says('error.run-container-gone', /No such container:? ?(?<container>\S*)|no container with name or ID "?(?<name>[^"\s]+)"?|[Cc]ontainer (?<idle>\S+) is (?:not running|paused|restarting)|container state improper/),
  says('error.run-container-allowed', /permission denied while trying to connect to the docker|rootless containerd not running|cannot access containerd socket/i),
  says('error.run-container-daemon', /Cannot connect to the Docker daemon|failed to connect to the docker API|Cannot connect to Podman|unable to connect to Podman socket/i),
  says('error.run-container-terminal', /the input device is not a TTY\b(?!\. The)/),
  says('error.run-container-no-shell', /exec: \\?"sh\\?": (?:executable file not found|stat)|executable file [`']?sh[`']? not found|"sh": no such file or directory/),
  says('error.run-container-name', /container name "\/?(?<name>[^"]+)" is already in use/),
  says('error.run-container-image', /Unable to find image '(?<image>[^']+)' locally[^]*?(?:Error response from daemon|docker: )/, { exits: [125] }),
  says('error.run-container-image', /initializing source docker:\/\/(?<image>[^\s:]+(?::[^\s:/]+)?): /, { exits: [125] }),
  says('error.run-container-image', /short-name "(?<image>[^"]+)" did not resolve/, { exits: [125] }),
  says('error.run-container-image', /(?<image>\S+): image not known/, { exits: [125] }),
  says('error.run-container-device', /(?<text>error gathering device information while adding custom device [^\n]*|could not select device driver [^\n]*|[Uu]nknown (?:or invalid )?runtime (?:specified|name:?) [^\n]*|OCI runtime "[^"\n]+" not found[^\n]*|unresolvable CDI devices [^\n]*|failed to discover GPU vendor [^\n]*|nvidia-container-cli: [^\n]*|stat \/dev\/\S+: no such file or directory)/, { exits: [1, 125, 126, 127] }),
  says('error.run-container-mount', /statfs (?<folder>\S.*): no such file or directory/, { exits: [125] }),
  says('error.run-container-mount', /bind source path does not exist: (?<folder>[^\n]*?)\.?$/m, { exits: [125] }),
  says('error.run-container-user', /unable to find user (?<user>\S+?): no matching entries/),
  says('error.run-pod-gone', /Error from server \((?:NotFound|Forbidden|BadRequest)\): (?<text>[^\n]*)/),
  says('error.run-container', /Error response from daemon: (?<text>[^\n]*)/),
  says('error.run-container', /OCI runtime (?:exec|create) failed: (?<text>[^\n]*)/),
  // Podman's own; a job that ends with one of these codes need not be.
  says('error.run-container', /^Error: (?<text>[^\n]*)(?:\nSee 'podman [^\n]*)?\s*$/, { exits: [125, 126, 127, 255] }),
  says('error.run-container', /(?<text>unknown (?:shorthand )?flag: [^\n]*)/, { exits: [125] }),
];

const JOB: readonly KnownFailure[] = [
  says('error.run-device-memory', /(?:OutOfMemoryError|CUDA out of memory|NPU out of memory|HIP out of memory)[^\n]*/),
  says('error.run-no-torch-npu', /ModuleNotFoundError: No module named '(?<module>torch_npu)'/),
  says('error.run-no-torch', /(?:ModuleNotFoundError: No module named '|Error while finding module specification for '|No module named )torch(?=['.\s]|$)/),
  says('error.run-no-module', /ModuleNotFoundError: No module named '(?<module>[^']+)'/),
  says('error.run-port', /(?:EADDRINUSE|Address already in use|errno: 98)/),
  says('error.run-host-memory', /oom[-_]kill|Cannot allocate memory|^MemoryError|DefaultCPUAllocator: can't allocate memory|Out of memory: Killed/m),
  says('error.run-rank-failed', /Root Cause[^]*?rank\s*:\s*(?<rank>\d+) \(local_rank: \d+\)\s+exitcode\s*:\s*(?<code>(?!-9\b)-?\d+)/),
  says('error.run-rank-killed', /Root Cause[^]*?rank\s*:\s*(?<rank>\d+) \(local_rank: \d+\)\s+exitcode\s*:\s*-9\b/),
  says('error.run-rank-killed', /rank\s*:\s*(?<rank>\d+) \(local_rank: \d+\)\s+exitcode\s*:\s*-9\b/),
  says('error.run-rank-killed-process', /Signal 9 \(SIGKILL\) received by PID (?<process>\d+)|exitcode\s*:\s*-9 \(pid: (?<pid>\d+)\)/),
  says('error.run-rendezvous', /RendezvousTimeoutError|RendezvousConnectionError|RendezvousClosedError|TCPStore[^\n]*(?:timed out|timeout)|client socket has timed out/),
  says('error.run-collective', /Watchdog caught collective operation timeout|HCCL[^\n]*timeout|EI0006|Timed out waiting \d+ms for/),
  says('error.run-no-device', /No CUDA GPUs are available|Torch not compiled with CUDA enabled|Found no NVIDIA driver|no NPU device|aclrtSetDevice failed/i),
  says('error.run-no-torchrun', /torchrun: (?:command )?not found|exec: torchrun: not found|No module named 'torch\.distributed\.run'/),
  says('error.run-no-python', /\bpython[\d.]*: (?:command )?not found|exec: python[\d.]*: not found|python[\d.]*'?: No such file or directory/),
  says('error.run-no-script', /can't open file '(?<file>[^']+)'/),
  says('error.run-no-command', /(?:exec|line \d+|\d+): (?<file>[^\n:]+): (?:command )?not found/, { exits: [127] }),
  says('error.run-no-command', /[^\n]*: (?<file>[^\n:]+): No such file or directory/, { exits: [127] }),
  says('error.run-not-executable', /(?<file>[^\n:]+): Permission denied/, { exits: [126] }),
  says('error.run-setup', /module: (?:command )?not found|(?<file>[^\s:]+\.(?:sh|bash)): No such file or directory/),
  says('error.run-rank-failed', /rank\s*:\s*(?<rank>\d+) \(local_rank: \d+\)\s+exitcode\s*:\s*(?<code>-?\d+)/),
];

const SIGNALS: Readonly<Record<number, string>> = { 129: 'SIGHUP', 130: 'SIGINT', 131: 'SIGQUIT', 132: 'SIGILL', 134: 'SIGABRT', 135: 'SIGBUS', 136: 'SIGFPE', 139: 'SIGSEGV', 141: 'SIGPIPE', 143: 'SIGTERM' };

const EXITS: readonly KnownFailure[] = [
  { code: 'error.run-killed', find: (_text, exit) => (exit === 137 ? {} : undefined) },
  { code: 'error.run-signal', find: (_text, exit) => (exit !== undefined && exit in SIGNALS ? { signal: SIGNALS[exit] } : undefined) },
  {
    code: 'error.run-python',
    find: (text) => {
      // The last exception of the last traceback; ranks and log prefixes may stand before it.
      const errors = text.includes('Traceback (most recent call last)') ? [...text.matchAll(/^(?:\[[^\]\n]*\]:? ?)*(?<error>[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning)(?:: [^\n]*)?)$/gm)] : [];
      const last = errors.filter((found) => !/ChildFailedError/.test(found[0])).at(-1)?.groups?.error;
      return last === undefined ? undefined : { text: last };
    },
  },
];

export const FAILURES: readonly KnownFailure[] = [...SSH, ...FOLDER_SCRIPTS, ...BATCH, ...CONTAINERS, ...JOB, ...EXITS];
