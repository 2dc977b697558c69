import assert from 'node:assert/strict';
import type { Parser } from 'web-tree-sitter';
import { importedFiles } from '../../../src/engine/attribution/importedFiles';
import { parsePython } from '../../../src/engine/python/parsePython';
import { moduleScope, ModuleSet, type ModuleScope } from '../../../src/engine/python/program';
import { pythonParser } from './parser';

const FILES: Readonly<Record<string, string>> = {
  'app/model.py': 'import torch\nfrom app.layers import (\n    Attention,  # attends\n    Mlp as Perceptron,\n)\nimport app.tools\nfrom .nothing import here\n',
  'app/layers/__init__.py': 'from .attention import Attention\nfrom .parts import Mlp, Norm\nfrom .unused import Unused\n',
  'app/layers/attention.py': 'from .parts import Norm\nfrom . import rotary\n',
  'app/layers/parts/__init__.py': 'from .mlp import Mlp\nfrom .norm import Norm\n',
  'app/layers/parts/mlp.py': 'from ..attention import Attention\n',
  'app/layers/parts/norm.py': '',
  'app/layers/rotary.py': '',
  'app/layers/unused.py': '',
  'app/tools.py': 'import app.model\n',
};

describe('files a file builds on', () => {
  let parser: Parser;
  before(async () => {
    parser = await pythonParser();
  });

  it('are those it takes names from, through packages that hand them on', () => {
    const scopes = Object.entries(FILES).map(([file, text]) => moduleScope(file, file.replace(/(\/__init__)?\.py$/, '').replaceAll('/', '.'), text, parsePython(parser, text)));
    const set = new ModuleSet(scopes);
    const from = (file: string): readonly string[] => importedFiles(set, scopes.find((scope): scope is ModuleScope => scope.file === file) ?? scopes[0]).map((scope) => scope.file).sort();
    assert.deepEqual(from('app/model.py'), ['app/layers/attention.py', 'app/layers/parts/mlp.py', 'app/layers/parts/norm.py', 'app/layers/rotary.py', 'app/tools.py']);
    assert.deepEqual(from('app/layers/rotary.py'), []);
  });
});
