import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import * as path from 'node:path';
import { shortTemporaryFolder } from './temporaryFolder';
import type { SshPrompt } from './tools';

/** Runs in a process that ssh starts; the prompt is argv, the answer goes to stdout. Exit 1 tells ssh that the user gave up. */
const ASK = `const s=require('net').connect(process.env.FUSELENS_ASKPASS_SOCKET,()=>s.write(JSON.stringify({token:process.env.FUSELENS_ASKPASS_TOKEN,text:process.argv.slice(1).join(' ')})+'\\n'));
let a='';s.on('data',d=>a+=d).on('end',()=>{const r=a?JSON.parse(a):{};if(r.answer===undefined)process.exit(1);process.stdout.write(r.answer+'\\n')}).on('error',()=>process.exit(1));`;

/** The environment that makes ssh ask us, and only us; nothing asked or answered is kept. */
export interface Askpass {
  readonly environment: NodeJS.ProcessEnv;
  readonly close: () => void;
}

/** Starts to listen for ssh's questions (OpenSSH 8.4 or newer; older ones ask so when they have no terminal). */
export async function openAskpass(host: string, prompt: (prompt: SshPrompt) => Promise<string | undefined>): Promise<Askpass> {
  const folder = mkdtempSync(path.join(shortTemporaryFolder(), 'fl-ask-'));
  const token = randomBytes(16).toString('hex');
  const windows = process.platform === 'win32';
  const socketPath = windows ? `\\\\.\\pipe\\fuselens-${token}` : path.join(folder, 's');
  const helper = path.join(folder, windows ? 'ask.cmd' : 'ask.sh');
  writeFileSync(path.join(folder, 'ask.js'), ASK, { mode: 0o600 });
  const line = windows ? '@"%FUSELENS_ASKPASS_NODE%" "%~dp0ask.js" %*\r\n' : '#!/bin/sh\nexec "$FUSELENS_ASKPASS_NODE" "${0%/*}/ask.js" "$@"\n';
  writeFileSync(helper, line, { mode: 0o700 });
  const server = createServer((socket) => { answer(socket, token, host, prompt); });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  // It must not keep a command from ending.
  server.unref();
  return {
    environment: {
      SSH_ASKPASS: helper, SSH_ASKPASS_REQUIRE: 'force', DISPLAY: process.env.DISPLAY ?? ':0', ELECTRON_RUN_AS_NODE: '1',
      FUSELENS_ASKPASS_NODE: process.execPath, FUSELENS_ASKPASS_SOCKET: socketPath, FUSELENS_ASKPASS_TOKEN: token,
    },
    close: () => { closeAll(server, folder); },
  };
}

function answer(socket: Socket, token: string, host: string, prompt: (prompt: SshPrompt) => Promise<string | undefined>): void {
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (!text.includes('\n')) {
      return;
    }
    let asked: { token?: unknown; text?: unknown } = {};
    try {
      asked = JSON.parse(text) as typeof asked;
    } catch {
      // Not from our helper.
    }
    if (asked.token !== token || typeof asked.text !== 'string') {
      socket.end();
      return;
    }
    const kind = /\(yes\/no/.test(asked.text) ? 'confirm' : 'secret';
    prompt({ host, text: asked.text, kind }).then(
      (given) => { socket.end(JSON.stringify(given === undefined ? {} : { answer: given })); },
      () => { socket.end('{}'); },
    );
  });
}

function closeAll(server: Server, folder: string): void {
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
