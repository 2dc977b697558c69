import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { RunFailure } from '../../../src/run/failure';
import { RemoteShell } from '../../../src/run/remoteShell';
import type { RunTools, SshPrompt } from '../../../src/run/tools';
import { freePort, startSshLab, type SshLab } from '../lab/sshLab';

/** What really comes of each way to fail, from the ssh that is installed. */
describe('failures of the connection', () => {
  let lab: SshLab;
  before(async () => {
    lab = await startSshLab();
    const { folder, port } = lab;
    const key = (name: string, passphrase: string): void => { execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-f', `${folder}/${name}`]); };
    key('stranger', '');
    key('locked', 'open sesame');
    writeFileSync(`${folder}/authorized`, execFileSync('cat', [`${folder}/id.pub`, `${folder}/locked.pub`]));
    cpSync(`${folder}/id`, `${folder}/loose`);
    chmodSync(`${folder}/loose`, 0o644);
    const known = (name: string): string => `[127.0.0.1]:${port} ${execFileSync('cat', [`${folder}/${name}.pub`], { encoding: 'utf8' }).split(' ').slice(0, 2).join(' ')}\n`;
    writeFileSync(`${folder}/known-other`, known('stranger'));
    writeFileSync(`${folder}/known-none`, '');
    const at = (name: string, lines: readonly string[]): string => [`Host ${name}`, ' HostName 127.0.0.1', ` Port ${port}`, ' IdentitiesOnly yes', ' GlobalKnownHostsFile /dev/null', ...lines.map((line) => ` ${line}`)].join('\n');
    const rest = [`IdentityFile ${folder}/id`, `UserKnownHostsFile ${folder}/known`, 'StrictHostKeyChecking yes'];
    lab.configure([
      at('changed', [`UserKnownHostsFile ${folder}/known-other`, 'StrictHostKeyChecking yes', rest[0]]),
      at('unknown', [`UserKnownHostsFile ${folder}/known-none`, 'StrictHostKeyChecking yes', rest[0]]),
      at('asking', [`UserKnownHostsFile ${folder}/known-new`, 'StrictHostKeyChecking ask', rest[0]]),
      at('stranger', [`IdentityFile ${folder}/stranger`, rest[1]]), at('nobody', ['User nosuchuser', ...rest]),
      at('loose', [`IdentityFile ${folder}/loose`, rest[1]]), at('missing', [`IdentityFile ${folder}/not-there`, rest[1]]), at('locked', [`IdentityFile ${folder}/locked`, rest[1]]),
      at('proxy', ['ProxyCommand no-such-proxy %h', ...rest]), at('jump', ['ProxyJump 127.0.0.1:1', ...rest]), at('long', ['ControlMaster auto', `ControlPath ${folder}/${'x'.repeat(120)}`, ...rest]),
    ].join('\n'));
  });
  after(() => lab.dispose());

  const failureOf = async (host: string, tools: RunTools = {}): Promise<RunFailure> => {
    const shell = new RemoteShell(host, { sshArguments: lab.sshArguments, connectTimeout: 3, ...tools });
    try {
      const result = await shell.run('true', { quiet: tools.prompt === undefined });
      throw new Error(`no failure: ${JSON.stringify(result)}`);
    } catch (error) {
      assert.ok(error instanceof RunFailure, String(error));
      return error;
    } finally {
      await shell.dispose();
    }
  };

  const CASES: readonly (readonly [what: string, host: string, code: string])[] = [
    ['a host key that changed', 'changed', 'error.run-host-key-changed'], ['an unknown host key', 'unknown', 'error.run-host-key-unknown'], ['an unknown host key nobody is asked about', 'asking', 'error.run-host-key-unknown'],
    ['a key that is not accepted', 'stranger', 'error.run-permission'], ['an unknown user', 'nobody', 'error.run-permission'], ['a key others can read', 'loose', 'error.run-key-permissions'],
    ['a key that is missing', 'missing', 'error.run-key-missing'], ['a key with a passphrase', 'locked', 'error.run-permission'], ['a name nobody knows', 'no-such-host.invalid', 'error.run-no-such-host'],
    ['a proxy command that is missing', 'proxy', 'error.run-proxy-command'], ['a jump host that refuses', 'jump', 'error.run-jump-host'], ['a control path that is too long', 'long', 'error.run-control-path'],
  ];
  for (const [what, host, code] of CASES) {
    it(what, async () => {
      const { explanation } = await failureOf(host);
      assert.equal(explanation.code, code, explanation.raw);
      assert.notEqual(explanation.raw, '');
    });
  }

  it('a host that looks like an option, before anything is started', () => {
    assert.throws(() => new RemoteShell('-oProxyCommand=true'), (error) => error instanceof RunFailure && error.explanation.code === 'error.run-host-name');
  });

  it('a port where nothing listens', async () => {
    const port = await freePort();
    const { explanation } = await failureOf('127.0.0.1', { sshArguments: [...lab.sshArguments, '-p', String(port)] });
    assert.equal(explanation.code, 'error.run-refused', explanation.raw);
    assert.equal(explanation.args.port, String(port));
  });

  const withServer = async (onConnection: (server: Server) => void, code: string): Promise<void> => {
    const server = createServer();
    onConnection(server);
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const address = server.address();
    try {
      const { explanation } = await failureOf('127.0.0.1', { sshArguments: [...lab.sshArguments, '-p', String(typeof address === 'object' ? address?.port : 0)] });
      assert.equal(explanation.code, code, explanation.raw);
    } finally {
      server.close();
    }
  };
  it('a server that is no ssh', () => withServer((server) => server.on('connection', (socket) => socket.end()), 'error.run-not-ssh'));
  it('a server that says nothing', () => withServer((server) => server.on('connection', (socket) => { socket.on('error', () => undefined); }), 'error.run-timeout'));

  it('a config with a mistake, and one that is missing', async () => {
    writeFileSync(`${lab.folder}/bad`, 'foobar yes\n');
    const bad = await failureOf('x', { sshArguments: ['-F', `${lab.folder}/bad`] });
    assert.deepEqual([bad.explanation.code, bad.explanation.args.line], ['error.run-config', '1'], bad.explanation.raw);
    assert.equal((await failureOf('x', { sshArguments: ['-F', `${lab.folder}/no-such`] })).explanation.code, 'error.run-config-missing');
  });

  it('an ssh that is not there', async () => {
    assert.equal((await failureOf('lab', { ssh: '/no/such/ssh' })).explanation.code, 'error.run-no-ssh');
  });

  it('asks for a passphrase and about a new host key, and takes no for an answer', async () => {
    const asked: SshPrompt[] = [];
    const answering = (answers: Readonly<Record<SshPrompt['kind'], string | undefined>>): RunTools => ({
      sshArguments: lab.sshArguments, prompt: (prompt) => { asked.push(prompt); return Promise.resolve(answers[prompt.kind]); },
    });
    const locked = new RemoteShell('locked', answering({ secret: 'open sesame', confirm: undefined }));
    assert.equal((await locked.run('echo in')).stdout, 'in\n');
    await locked.dispose();
    const fresh = new RemoteShell('asking', answering({ secret: undefined, confirm: 'yes' }));
    assert.equal((await fresh.run('echo in')).stdout, 'in\n');
    await fresh.dispose();
    assert.deepEqual(asked.map(({ kind }) => kind), ['secret', 'confirm']);
    assert.match(asked[0].text, /passphrase/);
    assert.match(asked[1].text, /fingerprint/);
    assert.equal((await failureOf('locked', answering({ secret: undefined, confirm: undefined }))).explanation.code, 'error.run-permission');
  });
});
