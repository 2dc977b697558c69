import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { VerifyReport } from '../../src/protocol/verify';
import { HEADER, SPELLINGS } from '../engine/fuse/spellings';
import { eventually, extensionApi, temporaryFolder } from './support';

const TEXT = HEADER + SPELLINGS[0].python;
const LINE = TEXT.slice(0, TEXT.indexOf('torch.rsqrt')).split('\n').length;

/** The answer of a helper that measured something; what it means is computed for real. */
const RAN = {
  python: '3.12.0', torch: '2.13.0', device: 'cpu', cases: [{
    name: '0', status: 'ran', whole: true, inputsFrom: 'roles', references: [], inputs: [{ name: 'hidden_states', shape: [2, 24, 128] }], skipped: [],
    results: [{ dtype: 'bfloat16', layout: 'contiguous', variant: 'fused', error: null, tensors: [{ name: 'output', missing: false, before: 'bfloat16', after: 'bfloat16', sameShape: true, finite: true, maxAbs: 0.0078, maxRel: 0.004, normRel: 0.002 }] }],
  }],
};

describe('Verify Fusion', () => {
  const folder = temporaryFolder();
  const setting = (value: string | undefined): Thenable<void> => vscode.workspace.getConfiguration('fuselens').update('python.path', value, vscode.ConfigurationTarget.Global);
  const verify = async (document: vscode.TextDocument, line = LINE): Promise<VerifyReport | undefined> => vscode.commands.executeCommand<VerifyReport | undefined>('fuselens.verify', { uri: document.uri.toString(), line });
  const lenses = async (document: vscode.TextDocument): Promise<readonly string[]> => (await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', document.uri, 100)).flatMap(({ command }) => (command === undefined ? [] : [command.title]));
  const open = async (name: string, content = TEXT): Promise<vscode.TextDocument> => {
    const file = path.join(folder, name);
    fs.writeFileSync(file, content);
    const document = await vscode.workspace.openTextDocument(file);
    await vscode.window.showTextDocument(document);
    return document;
  };
  let interpreter: string;

  before(async () => {
    await extensionApi();
    interpreter = path.join(folder, 'interpreter');
    fs.writeFileSync(`${interpreter}.json`, JSON.stringify(RAN));
    fs.writeFileSync(interpreter, `#!/bin/sh\ncp "$5" '${interpreter}.asked'\ncat '${interpreter}.json'\n`, { mode: 0o755 });
  });

  after(async () => {
    await setting(undefined);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('runs what is at the line, shows what came out, and drops it with the next edit', async function () {
    this.timeout(60_000);
    await setting(interpreter);
    const document = await open('verified.py');
    const report = await verify(document);
    assert.deepEqual([report?.verdict, report?.fusion, report?.function], ['verified', 'rms-norm', 'Case.forward']);
    const shown = (titles: readonly string[]): boolean => titles.some((title) => /verified: max abs 0\.0078, max rel 0\.004 \(bf16\), promised within bf16 rounding/.test(title));
    await eventually('the lens shows the result', () => lenses(document), shown);
    const [hover] = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', document.uri, new vscode.Position(LINE - 1, 10));
    assert.match(hover.contents.map((content) => (typeof content === 'string' ? content : content.value)).join(), /within/);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), '# changed\n');
    await vscode.workspace.applyEdit(edit);
    await eventually('the result is gone', () => lenses(document), (titles) => !titles.some((title) => title.includes('verified')));
    assert.equal(fs.readFileSync(document.uri.fsPath, 'utf8'), TEXT, 'the file was written');
  });

  it('takes unsaved text, and where the cursor is', async function () {
    this.timeout(60_000);
    await setting(interpreter);
    const document = await open('unsaved.py', '# nothing yet\n');
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(1, 0), TEXT);
    await vscode.workspace.applyEdit(edit);
    const editor = vscode.window.activeTextEditor;
    assert.ok(editor !== undefined);
    editor.selection = new vscode.Selection(LINE, 8, LINE, 8);
    const report = await vscode.commands.executeCommand<VerifyReport | undefined>('fuselens.verify');
    assert.equal(report?.verdict, 'verified');
    const asked = JSON.parse(fs.readFileSync(`${interpreter}.asked`, 'utf8')) as { readonly cases: readonly { readonly original: string }[] };
    assert.equal(asked.cases[0].original, `# nothing yet\n${TEXT}`);
    assert.equal(fs.readFileSync(document.uri.fsPath, 'utf8'), '# nothing yet\n');
  });

  it('says in one sentence that there is no Python', async function () {
    this.timeout(60_000);
    await setting(path.join(folder, 'nowhere'));
    const document = await open('no-python.py');
    const report = await verify(document);
    assert.deepEqual([report?.verdict, report?.failure?.code], ['failed', 'no-python']);
    await eventually('the lens says so', () => lenses(document), (titles) => titles.some((title) => title.includes('could not be verified')));
  });

  it('runs nothing where nothing can be fused', async function () {
    this.timeout(60_000);
    await setting(interpreter);
    fs.rmSync(`${interpreter}.asked`, { force: true });
    const document = await open('nothing.py', 'import torch\n');
    assert.equal(await verify(document, 1), undefined);
    assert.equal(fs.existsSync(`${interpreter}.asked`), false);
  });

  it('runs on the host that is set, by the ssh of the run settings', async function () {
    this.timeout(60_000);
    // Stands in for ssh: answers for its configuration, and runs here what the host should.
    const ssh = path.join(folder, 'ssh');
    fs.writeFileSync(ssh, `#!/bin/sh\nprintf '%s\\n' "$*" >> '${ssh}.log'\nfor word; do case $word in -G|-O) exit 0;; esac; last=$word; done\nexec sh -c "$last"\n`, { mode: 0o755 });
    const set = (values: Readonly<Record<string, unknown>>): Promise<unknown> => Promise.all(Object.entries(values).map(([name, value]) => vscode.workspace.getConfiguration('fuselens').update(name, value, vscode.ConfigurationTarget.Global)));
    await set({ 'run.sshPath': ssh, 'run.sshArguments': ['-F', '/nowhere with blanks'], 'verify.host': { name: 'box', python: interpreter } });
    try {
      const report = await verify(await open('onHost.py'));
      assert.deepEqual([report?.verdict, report?.host], ['verified', 'box']);
      assert.match(fs.readFileSync(`${ssh}.log`, 'utf8'), /^-F \/nowhere with blanks -T .* -- box /m);
    } finally {
      await set({ 'run.sshPath': undefined, 'run.sshArguments': undefined, 'verify.host': undefined });
    }
  });
});
