import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { FUSE_BACKENDS } from '../../src/engine/fusions/fusion';
import { WORKSPACE_FILES } from '../../src/engine/sample/workspace/files';
import { cli } from '../cli/runCli';
import { assertTrainsAlike, trainWorkspace, type Trained } from './trainWorkspace';

/** The sample's workspace after `fuselens fuse --write` parses, and trains as before. */
const PYTHON = process.env.FUSELENS_PYTHON ?? 'python3';

if (process.env.FUSELENS_TORCH === '1') {
  describe('sample: the fused workspace under PyTorch', function () {
    this.timeout(300_000);
    const folders: string[] = [];
    const workspace = (): string => {
      const folder = mkdtempSync(path.join(os.tmpdir(), 'fuselens-fused-'));
      folders.push(folder);
      WORKSPACE_FILES.forEach(([name, text]) => writeFileSync(path.join(folder, name), text));
      return folder;
    };
    let eager: Trained;
    before(() => { eager = trainWorkspace(PYTHON, workspace()); });
    after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

    for (const backend of FUSE_BACKENDS) {
      it(`parses and trains alike on ${backend}`, async () => {
        const folder = workspace();
        assert.equal((await cli(['fuse', folder, '--write', '--backend', backend])).code, 0);
        const edited = readFileSync(path.join(folder, 'q35_npu_old.py'), 'utf8');
        assert.notEqual(edited, WORKSPACE_FILES.find(([name]) => name === 'q35_npu_old.py')?.[1]);
        const parsed = spawnSync(PYTHON, ['-c', 'import ast, pathlib, sys\nfor file in pathlib.Path(sys.argv[1]).glob("*.py"): ast.parse(file.read_text())', folder], { encoding: 'utf8' });
        assert.equal(parsed.status, 0, parsed.stderr);
        const trained = trainWorkspace(PYTHON, folder);
        assertTrainsAlike(eager, trained);
        assert.deepEqual(trained.references, backend === 'ascend' ? ['torch_npu'] : []);
      });
    }
  });
}
