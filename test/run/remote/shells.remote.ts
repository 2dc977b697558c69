import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { RunFailure } from '../../../src/run/failure';
import { RemoteShell } from '../../../src/run/remoteShell';
import { ARGUMENTS_AS_JSON, labHosts, NASTY, runToEnd } from '../lab/session';
import { addUser, startSshLab, type LabUser, type SshLab } from '../lab/sshLab';

const SHELLS = ['bash', 'zsh', 'dash', 'fish', 'tcsh'].map((name) => ({ name, file: [`/bin/${name}`, `/usr/bin/${name}`].find((file) => existsSync(file)) }));

describe('login shells', () => {
  let lab: SshLab;
  before(async () => { lab = await startSshLab(); });
  after(() => lab.dispose());

  for (const { name, file } of SHELLS) {
    describe(name, () => {
      let user: LabUser | undefined;
      before(function () {
        if (file === undefined || process.getuid?.() !== 0) {
          this.skip();
        }
        user = addUser(lab, `fl${name}`, file);
      });
      after(() => user?.remove());

      it('passes every argument on as it is', async () => {
        const shell = new RemoteShell(`lab-fl${name}`, { sshArguments: lab.sshArguments });
        const { exit, stdout, stderr } = await shell.exec([...ARGUMENTS_AS_JSON, ...NASTY]);
        assert.equal(exit, 0, stderr);
        assert.deepEqual(JSON.parse(stdout), NASTY);
        await shell.dispose();
      });

      it('runs scripts of any size, with input, and tells their exit code', async () => {
        const shell = new RemoteShell(`lab-fl${name}`, { sshArguments: lab.sshArguments });
        const long = `: '${'x'.repeat(300_000)}'\ncat; exit 255`;
        assert.deepEqual(await shell.run(long, { input: 'in\0put\n' }), { exit: 255, stdout: 'in\0put\n', stderr: '' });
        assert.equal((await shell.run('sh -c \'kill -s KILL $$\'')).exit, 137);
        await shell.dispose();
      });

      it('runs commands with nasty arguments, environment and working directory', async () => {
        const hosts = labHosts(lab);
        const host = `lab-fl${name}`;
        const workdir = `${user?.home ?? ''}/wörk $(id) 'x' "y"`;
        await hosts.shell(host).exec(['mkdir', '-p', workdir]);
        const env = Object.fromEntries(NASTY.map((value, i) => [`NASTY_${i}`, value]));
        const program = 'import os, sys, json; print(json.dumps([sys.argv[1:], [os.environ["NASTY_%d" % i] for i in range(len(sys.argv) - 1)], os.getcwd()]))';
        const { state, output } = await runToEnd(hosts, { host, launcher: 'command', command: 'python3', args: ['-c', program, ...NASTY], env, workdir });
        assert.equal(state.exit, 0, output);
        assert.deepEqual(JSON.parse(output.trim().split('\n').at(-1) ?? ''), [NASTY, NASTY, workdir]);
        await hosts.dispose();
      });
    });
  }

  it('keeps a script\'s own 255 and a lost connection apart', async () => {
    const shell = new RemoteShell('lab', { sshArguments: lab.sshArguments });
    assert.equal((await shell.run('exit 255')).exit, 255);
    const dying = shell.run('sleep 60');
    setTimeout(() => lab.killConnections(), 1500);
    await assert.rejects(dying, (error) => error instanceof RunFailure && /^error\.run-(connection|not-ssh)/.test(error.explanation.code));
    await shell.dispose();
  });
});
