import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { FuseBackend } from '../../../src/engine/fusions/fusion';
import { isMet, packageFolders, readInstalled, sitePackagesOf, type Installed } from '../../../src/engine/fuse/installed';
import { switchesFor } from '../../../src/engine/fuse/switches';
import { moduleScope } from '../../../src/engine/python/program';
import { nodeFilePort } from '../../../src/node/filePort';
import { MESSAGES } from '../../../src/protocol/text';

describe('what is installed', () => {
  let folder: string;
  const port = nodeFilePort();
  beforeEach(() => { folder = mkdtempSync(path.join(os.tmpdir(), 'fuselens-installed-')); });
  afterEach(() => { rmSync(folder, { recursive: true }); });

  const write = (name: string, content = ''): string => {
    const file = path.join(folder, ...name.split('/'));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  const read = async (): Promise<Installed> => readInstalled(port, await packageFolders(port, folder));

  it('is read from every kind of metadata, names compared as PEP 503 says', async () => {
    write('lib/python3.11/site-packages/torch-2.6.0+cu124.dist-info/METADATA', 'Name: torch\nVersion: 2.6.0+cu124\n');
    write('lib/python3.11/site-packages/liger_kernel-0.8.2.dist-info/METADATA');
    write('lib/python3.11/site-packages/torch_npu-2.1.0.post8-py3.11.egg-info/PKG-INFO');
    write('lib/python3.11/site-packages/own.egg-info/PKG-INFO', 'Metadata-Version: 2.1\nName: own\nVersion: 3.1rc1\n');
    write('lib/python3.11/site-packages/nothing.dist-info/METADATA', 'no version here\n');
    write('lib/python3.11/site-packages/torch/version.py', '__version__ = "9.9"\n');
    const { versions } = await read();
    assert.deepEqual(Object.fromEntries(versions), { torch: '2.6.0+cu124', 'liger-kernel': '0.8.2', 'torch-npu': '2.1.0.post8', own: '3.1rc1' });
  });

  it('is found beside an interpreter, in an environment, on Windows, and nowhere', async () => {
    const site = path.dirname(write('env/lib/python3.12/site-packages/x-1.dist-info'));
    write('env/bin/python3');
    assert.deepEqual(await packageFolders(port, path.join(folder, 'env', 'bin', 'python3')), [site]);
    assert.deepEqual(await packageFolders(port, path.join(folder, 'env')), [site]);
    const windows = path.dirname(write('win/Lib/site-packages/x-1.dist-info'));
    assert.deepEqual(await packageFolders(port, path.join(folder, 'win')), [windows]);
    assert.deepEqual(await packageFolders(port, path.join(folder, 'nowhere', 'bin', 'python')), []);
    assert.equal(sitePackagesOf('/a/site-packages/b/c.py'), '/a/site-packages');
    assert.equal(sitePackagesOf('C:\\a\\dist-packages\\b.py'), 'C:\\a\\dist-packages');
    assert.equal(sitePackagesOf('/a/my-site-packages-notes/b.py'), undefined);
  });

  it('is compared by release, and unknown where nothing is known', () => {
    const installed = (version: string): Installed => ({ folders: [], versions: new Map([['torch', version]]) });
    const cases: readonly (readonly [string, boolean])[] = [['2.4', true], ['2.4.0', true], ['2.10.1', true], ['2.3.1+cpu', false], ['2.4.0rc1', true], ['1.13', false], ['3', true], ['2', false]];
    cases.forEach(([version, met]) => assert.equal(isMet('torch 2.4', installed(version)), met, version));
    assert.equal(isMet('torch_npu 2.1', installed('2.4')), undefined);
    assert.equal(isMet('our_ops', installed('2.4')), undefined);
  });

  describe('switches of frameworks', () => {
    const SITE = 'lib/python3.11/site-packages';
    const settings = async (file: string, fusion: string, backend: FuseBackend, workspace: Readonly<Record<string, string>> = {}): Promise<readonly string[]> => {
      const scopes = Object.entries(workspace).map(([at, content]) => moduleScope(at, 'x', content, { body: [], errors: [] }));
      const found = (await switchesFor(port, file, backend, await read(), scopes)).get(fusion) ?? [];
      assert.ok(found.every(({ note }) => note === undefined || `fuse.switch.note.${note}` in MESSAGES));
      return found.map(({ distribution, version, setting }) => `${distribution} ${version ?? '-'}: ${setting}`);
    };

    it('are named where their string stands in the installed source, for the code they change', async () => {
      const llama = write(`${SITE}/transformers/models/llama/modeling_llama.py`);
      write(`${SITE}/transformers-5.1.0.dist-info/METADATA`);
      assert.deepEqual(await settings(llama, 'attention', 'cuda'), []);
      write(`${SITE}/transformers/modeling_utils.py`, 'kwargs.pop("attn_implementation"); kwargs.pop("experts_implementation")\n');
      assert.deepEqual(await settings(llama, 'attention', 'cuda'), ['transformers 5.1.0: from_pretrained(…, attn_implementation="sdpa")']);
      assert.deepEqual(await settings(llama, 'moe-expert-loop', 'ascend'), ['transformers 5.1.0: from_pretrained(…, experts_implementation="grouped_mm")']);
      assert.deepEqual(await settings(llama, 'rms-norm', 'cuda'), [], 'this version has no use_kernels');
      assert.deepEqual(await settings(write(`${SITE}/other/models/llama/modeling_llama.py`), 'attention', 'cuda'), [], 'another package');
    });

    it('of Liger are named for the models it has', async () => {
      write(`${SITE}/liger_kernel/transformers/monkey_patch.py`, 'def apply_liger_kernel_to_llama(rope=True):\n    pass\n');
      write(`${SITE}/liger_kernel-0.8.2.dist-info/METADATA`);
      assert.deepEqual(await settings(write(`${SITE}/transformers/models/llama/modeling_llama.py`), 'swiglu', 'cuda'), ['liger-kernel 0.8.2: apply_liger_kernel_to_llama()']);
      assert.deepEqual(await settings(write(`${SITE}/transformers/models/bloom/modeling_bloom.py`), 'swiglu', 'cuda'), []);
      assert.deepEqual(await settings(write(`${SITE}/transformers/models/llama/modeling_llama.py`), 'swiglu', 'torch'), []);
    });

    it('of MindSpeed change Megatron\'s code on Ascend alone', async () => {
      write(`${SITE}/mindspeed/features.py`, 'parser.add_argument("--use-fused-rmsnorm"); parser.add_argument("--use-fused-rotary-pos-emb")\n');
      const norm = write(`${SITE}/megatron/core/norm.py`);
      assert.deepEqual(await settings(norm, 'rms-norm', 'ascend'), ['mindspeed -: --use-fused-rmsnorm']);
      assert.deepEqual(await settings(norm, 'rope', 'ascend'), ['mindspeed -: --use-fused-rotary-pos-emb']);
      assert.deepEqual([await settings(norm, 'swiglu', 'ascend'), await settings(norm, 'rms-norm', 'cuda')], [[], []]);
    });

    it('are found in a checkout that lies in the workspace', async () => {
      const model = '/project/VeOmni/veomni/models/qwen/modeling.py';
      assert.deepEqual(await settings(model, 'rms-norm', 'ascend'), []);
      assert.deepEqual(await settings(model, 'rms-norm', 'ascend', { '/project/VeOmni/veomni/arguments.py': 'rms_norm_implementation: str = "eager"\n' }), ['veomni -: model.ops_implementation.rms_norm_implementation: npu']);
      assert.deepEqual(await settings('/project/xtuner/v1/loss/ce_loss.py', 'cross-entropy', 'torch', { '/project/xtuner/v1/loss/ce_loss.py': 'mode: Literal["eager", "chunk", "liger"]\n' }), ['xtuner -: loss_cfg.mode = "chunk"']);
    });
  });
});
