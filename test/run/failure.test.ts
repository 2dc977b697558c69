import assert from 'node:assert/strict';
import { MESSAGES } from '../../src/protocol/text';
import { explainRunFailure } from '../../src/run/failure';
import { FAILURES } from '../../src/run/failureTable';

/** Texts as programs really print them: ssh 9.2, Slurm 22.05, torch 2.13, Docker 20 and 28, Podman 4.3 with crun 1.8, CPython 3.11. */
const TRANSPORT: readonly (readonly [code: string, text: string, args?: Readonly<Record<string, string>>])[] = [
  ['error.run-refused', 'ssh: connect to host 127.0.0.1 port 2999: Connection refused\r\n', { address: '127.0.0.1', port: '2999' }],
  ['error.run-no-such-host', 'ssh: Could not resolve hostname no-such-host.invalid: Name or service not known', { name: 'no-such-host.invalid' }],
  ['error.run-timeout', 'ssh: connect to host 10.99.0.2 port 2222: Connection timed out'],
  ['error.run-unreachable', 'ssh: connect to host 10.99.0.2 port 2222: No route to host', { address: '10.99.0.2' }],
  ['error.run-network-down', 'ssh: connect to host 10.99.0.2 port 2222: Network is unreachable'],
  ['error.run-host-key-unknown', 'No ED25519 host key is known for [127.0.0.1]:2222 and you have requested strict checking.\r\nHost key verification failed.'],
  ['error.run-host-key-unknown', 'Host key verification failed.'],
  ['error.run-host-key-changed', '@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nOffending ED25519 key in /home/me/.ssh/known hosts:12\nHost key for [h]:2222 has changed and you have requested strict checking.\nHost key verification failed.', { file: '/home/me/.ssh/known hosts', line: '12' }],
  ['error.run-permission', 'root@127.0.0.1: Permission denied (publickey).', { methods: 'publickey' }],
  ['error.run-password', 'me@h: Permission denied (publickey,password,keyboard-interactive).'],
  ['error.run-key-permissions', '@         WARNING: UNPROTECTED PRIVATE KEY FILE!          @\nPermissions 0644 for \'/k\' are too open.\nLoad key "/k": bad permissions\r\nroot@h: Permission denied (publickey).', { file: '/k' }],
  ['error.run-key-missing', 'Warning: Identity file /k not accessible: No such file or directory.\nroot@h: Permission denied (publickey).', { file: '/k' }],
  ['error.run-config', '/c: line 1: Bad configuration option: foobar\r\n/c: terminating, 1 bad configuration options', { file: '/c', line: '1' }],
  ['error.run-config-missing', 'Can\'t open user config file /x: No such file or directory', { file: '/x' }],
  ['error.run-jump-host', 'ssh: connect to host jump port 22: Connection refused\nkex_exchange_identification: Connection closed by remote host\nConnection closed by UNKNOWN port 65535', { jump: 'jump', text: 'Connection refused' }],
  ['error.run-proxy-command', '/bin/bash: line 1: exec: nc2: not found\nkex_exchange_identification: Connection closed by remote host\nConnection closed by UNKNOWN port 65535', { file: 'nc2' }],
  ['error.run-not-ssh', 'kex_exchange_identification: Connection closed by remote host'],
  ['error.run-connection-closed', 'kex_exchange_identification: read: Connection reset by peer'],
  ['error.run-timeout', 'Connection timed out during banner exchange'],
  ['error.run-connection-closed', 'Timeout, server 10.99.0.2 not responding.'],
  ['error.run-connection-closed', 'Connection to 10.99.0.2 closed by remote host.'],
  ['error.run-forward', 'bind [127.0.0.1]:2222: Address already in use\nchannel_setup_fwd_listener_tcpip: cannot listen to port: 2222\nCould not request local forwarding.', { port: '2222' }],
  ['error.run-control-path', 'ControlPath too long (\'/x\' >= 108 bytes)'],
  ['error.run-host-name', 'hostname contains invalid characters'],
  ['error.run-connection-ended', ''],
  ['error.run-ssh', 'something nobody has heard of'],
];

const SUMMARY = (code: number): string => `Root Cause (first observed failure):
[0]:
  time      : 2026-11-30_02:00:00
  host      : node
  rank      : 1 (local_rank: 1)
  exitcode  : ${code} (pid: 4711)
  error_file: <N/A>`;

const JOBS: readonly (readonly [code: string, exit: number, text: string, args?: Readonly<Record<string, string>>])[] = [
  ['error.run-disk-full', 1, 'OSError: [Errno 28] No space left on device'],
  ['error.run-disk-full', 1, 'cp: error writing \'x\': Disk quota exceeded'],
  ['error.run-no-python', 127, './command.sh: line 7: exec: python: not found'],
  ['error.run-no-python', 127, 'sh: 1: python3: not found'],
  ['error.run-no-torch', 1, 'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\n    import torch\nModuleNotFoundError: No module named \'torch\''],
  ['error.run-no-torch', 1, '/usr/bin/python3: Error while finding module specification for \'torch.distributed.run\' (ModuleNotFoundError: No module named \'torch\')'],
  ['error.run-no-torch-npu', 1, 'ModuleNotFoundError: No module named \'torch_npu\''],
  ['error.run-no-module', 1, 'ModuleNotFoundError: No module named \'xtuner\'', { module: 'xtuner' }],
  ['error.run-no-torchrun', 127, './command.sh: line 9: exec: torchrun: not found'],
  ['error.run-device-memory', 1, 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.'],
  ['error.run-device-memory', 1, 'RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity)'],
  ['error.run-host-memory', 1, 'RuntimeError: [enforce fail at alloc_cpu.cpp:118] . DefaultCPUAllocator: can\'t allocate memory: you tried to allocate 1 bytes.'],
  ['error.run-host-memory', 1, 'slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch. Some of the step tasks have been OOM Killed.'],
  ['error.run-rank-killed', 1, SUMMARY(-9), { rank: '1' }],
  ['error.run-rank-failed', 1, SUMMARY(3), { rank: '1', code: '3' }],
  ['error.run-port', 1, '[W socket.cpp:464] The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).'],
  ['error.run-rendezvous', 1, 'torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError'],
  ['error.run-collective', 134, '[rank1]:[E ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=5)'],
  ['error.run-no-device', 1, 'RuntimeError: No CUDA GPUs are available'],
  ['error.run-no-script', 2, 'python: can\'t open file \'/w/train.py\': [Errno 2] No such file or directory', { file: '/w/train.py' }],
  ['error.run-no-command', 127, './command.sh: line 9: exec: nosuchprog: not found', { file: 'nosuchprog' }],
  ['error.run-not-executable', 126, './command.sh: line 9: /w/run.sh: Permission denied'],
  ['error.run-no-workdir', 96, 'fuselens: no folder /w/it\'s here', { folder: '/w/it\'s here' }],
  ['error.run-no-slurm', 94, './submit.sh: line 2: exec: sbatch: not found'],
  ['error.run-no-slurm', 94, 'sbatch: fatal: Could not establish a configuration source'],
  ['error.run-no-slurm', 94, 'sbatch: error: s_p_parse_file: unable to status file /x: No such file or directory, retrying in 1sec up to 60sec\nsbatch: fatal: Unable to process configuration file'],
  ['error.run-slurm-down', 94, 'sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)'],
  ['error.run-slurm-partition', 94, 'sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed: Invalid partition name specified'],
  ['error.run-slurm-gres', 94, 'sbatch: error: Invalid generic resource (gres) specification'],
  ['error.run-slurm-account', 94, 'sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified'],
  ['error.run-slurm', 94, 'sbatch: error: Batch job submission failed: Something new', { text: 'Batch job submission failed: Something new' }],
  ['error.run-ray-down', 94, 'Failed to connect to Ray at address: http://127.0.0.1:8265.', { address: 'http://127.0.0.1:8265' }],
  ['error.run-no-ray', 127, 'ray: not found'],
  ['error.run-container-gone', 1, 'Error response from daemon: No such container: train', { container: 'train' }],
  ['error.run-container-gone', 125, 'Error: no container with name or ID "train" found: no such container', { name: 'train' }],
  ['error.run-container-gone', 255, 'Error: can only create exec sessions on running containers: container state improper'],
  ['error.run-container-gone', 1, 'Error response from daemon: Container d41efaaf is not running', { idle: 'd41efaaf' }],
  ['error.run-container-gone', 1, 'Error response from daemon: Container live is paused, unpause the container before exec'],
  ['error.run-container-daemon', 1, 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?'],
  ['error.run-container-allowed', 1, 'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "http://%2Fvar%2Frun%2Fdocker.sock/v1.24/containers/x/json": dial unix /var/run/docker.sock: connect: permission denied'],
  ['error.run-container-terminal', 1, 'the input device is not a TTY'],
  ['error.run-container-no-shell', 126, 'OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": executable file not found in $PATH: unknown'],
  ['error.run-container-no-shell', 127, 'docker: Error response from daemon: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "sh": executable file not found in $PATH: unknown.'],
  ['error.run-container-no-shell', 127, 'Error: crun: executable file `sh` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found'],
  ['error.run-container-name', 125, 'docker: Error response from daemon: Conflict. The container name "/live" is already in use by container "fa93". You have to remove (or rename) that container to be able to reuse that name.\nSee \'docker run --help\'.', { name: 'live' }],
  ['error.run-container-name', 125, 'Error: creating container storage: the container name "live" is already in use by 93e7. You have to remove that container to be able to reuse that name: that name is already in use', { name: 'live' }],
  ['error.run-container-image', 125, 'Unable to find image \'no.such.invalid/image:1\' locally\ndocker: Error response from daemon: Get "https://no.such.invalid/v2/": dial tcp: lookup no.such.invalid: no such host.\nSee \'docker run --help\'.', { image: 'no.such.invalid/image:1' }],
  ['error.run-container-image', 125, 'Trying to pull no.such.invalid/image:1...\nError: initializing source docker://no.such.invalid/image:1: pinging container registry no.such.invalid: Get "https://no.such.invalid/v2/": dial tcp: no such host', { image: 'no.such.invalid/image:1' }],
  ['error.run-container-image', 125, 'Error: short-name "no-such-image" did not resolve to an alias and no unqualified-search registries are defined in "/etc/containers/registries.conf"', { image: 'no-such-image' }],
  ['error.run-container-device', 127, 'docker: Error response from daemon: error gathering device information while adding custom device "/dev/davinci0": no such file or directory.', { text: 'error gathering device information while adding custom device "/dev/davinci0": no such file or directory.' }],
  ['error.run-container-device', 125, 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].'],
  ['error.run-container-device', 125, 'docker: Error response from daemon: Unknown runtime specified ascend.'],
  ['error.run-container-device', 125, 'Error: default OCI runtime "ascend" not found: invalid argument'],
  ['error.run-container-device', 126, 'Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all'],
  ['error.run-container-device', 125, 'Error: stat /dev/davinci0: no such file or directory'],
  ['error.run-container-mount', 125, 'Error: statfs /no/such folder: no such file or directory', { folder: '/no/such folder' }],
  ['error.run-container-mount', 125, 'docker: Error response from daemon: invalid mount config for type "bind": bind source path does not exist: /no/such folder.', { folder: '/no/such folder' }],
  ['error.run-container-user', 126, 'unable to find user nobodyxx: no matching entries in passwd file', { user: 'nobodyxx' }],
  ['error.run-container', 126, 'OCI runtime exec failed: exec failed: unable to start container process: chdir to cwd ("/nofolder") set in config.json failed: no such file or directory: unknown', { text: 'exec failed: unable to start container process: chdir to cwd ("/nofolder") set in config.json failed: no such file or directory: unknown' }],
  ['error.run-container', 125, 'unknown flag: --no-such-option\nSee \'docker run --help\'.', { text: 'unknown flag: --no-such-option' }],
  ['error.run-slurm-launch', 139, 'srun: error: Task launch for StepId=1.0 failed on node n1: No such file or directory\nsrun: error: Application launch failed: Resource temporarily unavailable\nsrun: Job step aborted', { node: 'n1', text: 'No such file or directory' }],
  ['error.run-slurm-option', 255, 'srun: unrecognized option \'--container-image=x\'\nTry "srun --help" for more information', { option: '--container-image=x' }],
  ['error.run-pod-gone', 1, 'Error from server (NotFound): pods "train-0" not found', { text: 'pods "train-0" not found' }],
  ['error.run-python', 1, '[rank0]: Traceback (most recent call last):\n[rank0]:   File "train.py", line 3, in <module>\n[rank0]: ValueError: batch must be even', { text: 'ValueError: batch must be even' }],
  ['error.run-killed', 137, 'step 7 loss 3.1'],
  ['error.run-signal', 139, '', { signal: 'SIGSEGV' }],
  ['error.run-exit', 3, 'something nobody has heard of'],
];

describe('explaining failures', () => {
  for (const [code, text, args = {}] of TRANSPORT) {
    it(`of the connection: ${code} from “${text.split('\n')[0].trim()}”`, () => {
      const found = explainRunFailure(text, 255, { host: 'cluster', transport: true });
      assert.equal(found.code, code);
      assert.deepEqual({ ...found.args, ...args }, { ...found.args }, JSON.stringify(found.args));
      assert.equal(found.raw, text.replace(/\r/g, '').trim());
    });
  }
  for (const [code, exit, text, args = {}] of JOBS) {
    it(`of a job: ${code} from “${text.split('\n')[0]}”`, () => {
      const found = explainRunFailure(`before\n${text}\n`, exit, { host: 'cluster', transport: false });
      assert.equal(found.code, code);
      assert.deepEqual({ ...found.args, ...args }, { ...found.args }, JSON.stringify(found.args));
      assert.ok(found.raw.includes(text.trim()));
    });
  }

  it('leaves a job its own words: what a script prints is no failure of a container', () => {
    for (const [exit, text] of [[1, 'Error: no data in /data'], [1, 'unknown flag: --lr'], [1, 'the input device is not a TTY. The --tty and --interactive flags might not work properly']] as const) {
      assert.equal(explainRunFailure(text, exit, { host: 'cluster', transport: false }).code, 'error.run-exit', text);
    }
    const podman = explainRunFailure('Error: something new of podman', 125, { transport: false });
    assert.deepEqual([podman.code, podman.args.text], ['error.run-container', 'something new of podman']);
  });

  it('has a sentence for each, whose every placeholder is filled', () => {
    for (const { code, here } of FAILURES) {
      assert.ok(code in MESSAGES, code);
      assert.ok(here === undefined || here in MESSAGES, here);
    }
    for (const [code, text] of TRANSPORT) {
      const { args } = explainRunFailure(text, 255, { host: 'cluster', transport: true });
      const open = [...(MESSAGES[code] ?? '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name).filter((name) => !(name in args));
      assert.deepEqual(open, [], code);
    }
  });

  it('takes ssh\'s words for ssh\'s only where ssh failed', () => {
    assert.equal(explainRunFailure('curl: Connection timed out', 7, { transport: false }).code, 'error.run-exit');
    assert.equal(explainRunFailure('No space left on device', 1, { transport: false }).code, 'error.run-disk-full-here');
  });
});
