import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../src/host/api';
import { runCli } from '../../src/host/runCli';
import type { ProfileNode } from '../../src/host/views/profileNodes';
import { closeEverything, eventually, extensionApi, temporaryFolder } from './support';

const shared = path.resolve(process.env['FUSELENS_ROOT'] ?? '.', '../shared/data');

describe('real and hostile profiles in the editor', function () {
  this.timeout(60000);
  const folder = temporaryFolder();
  let api: ExtensionApi;

  before(async function () {
    if (!fs.existsSync(shared)) {
      this.skip();
    }
    api = await extensionApi();
  });

  afterEach(() => closeEverything(api));

  const children = (node?: ProfileNode): Promise<readonly ProfileNode[]> => api.tree.children(node);
  const label = (node: ProfileNode): string => {
    const { label: text } = api.tree.item(node);
    return typeof text === 'string' ? text : (text?.label ?? '');
  };

  it('say of ranks without kernels what is missing, show what is left of them, and read the others', async () => {
    assert.equal(await api.openProfile(path.join(shared, 'ascend/msinsight-qwen3-4rank')), true);
    const [root] = await children();
    const ranks = (await children(root)).filter(({ kind }) => kind === 'rank');
    assert.deepEqual(ranks.map(label), ['Rank 0', 'Rank 1', 'Rank 2', 'Rank 3']);
    const descriptions = ranks.map((node) => String(api.tree.item(node).description));
    assert.match(descriptions[1], /^kernels unknown.*kernel_details\.csv/);
    assert.ok(!descriptions[1].includes('0 kernels'));
    assert.ok(!descriptions[1].includes(shared), 'the path to the profile is left out');
    assert.equal((await children(ranks[0])).filter(({ kind }) => kind === 'step').length, 1);
    assert.equal(api.profiles()[0].ranks[0].loaded?.kernels, 2463);
    assert.equal((await children(ranks[1])).filter(({ kind }) => kind === 'step').length, 1, 'the step of step_trace_time.csv');
    const files = (await children(ranks[1])).find(({ kind }) => kind === 'files');
    const listed = (await children(files)).map((node) => `${label(node)}: ${String(api.tree.item(node).description)}`);
    assert.ok(listed.some((line) => /^kernel_details\.csv: Missing/.test(line)) && listed.some((line) => /communication\.json: .*figures/.test(line)), listed.join('\n'));
    await vscode.commands.executeCommand('fuselens.showProblems');
    const problems = (await children(root)).find(({ kind }) => kind === 'problems');
    assert.ok(problems);
    const [problem] = await children(problems);
    assert.equal((await children(problem)).length, 1, 'its effect on the figures');
  });

  it('name what an unanalysed recording needs', async () => {
    assert.equal(await api.openProfile(path.join(shared, 'hostile/s10-ascend-not-analysed')), true);
    assert.deepEqual(api.views(), [], 'there is nothing to draw');
    const [root] = await children();
    const problems = (await children(root)).find(({ kind }) => kind === 'problems');
    assert.ok(problems);
    assert.match(label((await children(problems))[0]), /analyse/);
  });

  it('open each hostile input, or refuse it, within seconds', async () => {
    const inputs = fs.readdirSync(path.join(shared, 'hostile')).filter((name) => !name.startsWith('g01') && name !== 'README.md');
    const empty = fs.readdirSync(path.join(shared, 'hostile/e01-empty')).map((name) => path.join('e01-empty', name));
    for (const input of [...inputs, ...empty]) {
      const file = path.join(shared, 'hostile', input);
      const opened = await api.openProfile(file);
      assert.equal(api.profiles().length, opened ? 1 : 0, input);
      if (opened) {
        const [root] = await children();
        for (const rank of (await children(root)).filter(({ kind }) => kind === 'rank')) {
          assert.ok(Array.isArray(await children(rank)), input);
        }
      }
      api.closeProfile(file);
    }
  });

  it('switch between a text export and a database side by side, and remember it', async () => {
    const both = path.join(folder, 'rank0_ascend_pt');
    const alexnet = path.join(shared, 'ascend/msinsight-alexnet');
    fs.cpSync(path.join(alexnet, 'text/level1/rank0_ascend_pt'), both, { recursive: true });
    fs.copyFileSync(path.join(alexnet, 'db/level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db'), path.join(both, 'ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db'));
    await api.openProfile(both);
    const context = async (): Promise<string> => String(api.tree.item((await children())[0]).contextValue);
    const before = await context();
    const [first, second] = before.includes('db') ? ['useTextExport', 'useDatabaseExport'] : ['useDatabaseExport', 'useTextExport'];
    await vscode.commands.executeCommand(`fuselens.${first}`);
    const after = await eventually('the other export is in use', context, (value) => value !== before);
    assert.match(after, /\b(text|db)\b/);
    await vscode.commands.executeCommand(`fuselens.${second}`);
    await eventually('the first export is back', context, (value) => value === before);
    assert.equal(api.views().length, 1, 'the Overview follows');
  });

  it('open a kernel table in the optional editor', async () => {
    const table = path.join(shared, 'ascend/msinsight-qwen3-4rank/rank_0_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv');
    await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(table), 'fuselens.profile');
    await eventually('the editor reads the table', () => api.profiles()[0]?.ranks[0]?.loaded?.kernels, (kernels) => kernels === 2463);
  });

  it('are exported by the tool in a process of its own', async () => {
    const extensionPath = vscode.extensions.getExtension('fuselens.fuselens')?.extensionPath ?? '';
    const target = path.join(folder, 'out.json');
    const written = await runCli(extensionPath, ['export', path.join(shared, 'ascend/msinsight-qwen3-4rank'), '--perfetto', target, '--rank', '0']);
    assert.equal(written.code, 0, written.lastWords);
    assert.ok((JSON.parse(fs.readFileSync(target, 'utf8')) as { readonly traceEvents: readonly unknown[] }).traceEvents.length >= 2463);
    const refused = await runCli(extensionPath, ['export', path.join(folder, 'nothing'), '--perfetto', target]);
    assert.equal(refused.code, 2);
    assert.match(refused.lastWords, /nothing/);
  });
});
