import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { FUSE_BACKENDS, type FuseBackend } from '../../src/engine/fusions/fusion';
import { FUSIONS } from '../../src/engine/fusions';
import { planFusions } from '../../src/engine/fuse/planFusions';
import { parsePython } from '../../src/engine/python/parsePython';
import { moduleScope, ModuleSet } from '../../src/engine/python/program';
import { scopeOf } from '../../src/engine/python/sourceIndex';
import { verifySubject } from '../../src/engine/verify/verifySubject';
import type { VerifyReport, VerifySubject } from '../../src/protocol/verify';
import { openShell, type Shell } from '../../src/run/shell';
import { importedTexts } from '../../src/run/verify/importedTexts';
import { hostPython, localPython } from '../../src/run/verify/pythonRunner';
import { runVerify } from '../../src/run/verify/runVerify';
import { HEADER, SPELLINGS } from '../engine/fuse/spellings';
import { testParser } from '../engine/pythonParser';

/** Every fusion, backend and spelling through `fuselens verify`'s own path; operators of packages that are not here by their references. */
const PYTHON = process.env.FUSELENS_PYTHON ?? 'python3';

interface Case {
  readonly name: string;
  readonly subject: VerifySubject;
}

async function subjects(backend: FuseBackend): Promise<readonly Case[]> {
  const parser = await testParser();
  return SPELLINGS.flatMap(({ python, fusion, name }, index) => {
    const text = HEADER + python;
    // A module of its own: all are imported by one interpreter.
    const scope = moduleScope(`/project/case_${index}.py`, `case_${index}`, text, parsePython(parser, text));
    const program = new ModuleSet([scope]);
    const places = planFusions(scope, program, backend, parser).filter((plan) => plan.edits.length > 0);
    return places.map((plan) => {
      const choice = verifySubject(scope, program, parser, { backend, line: plan.startLine });
      assert.ok('subject' in choice, `${backend} ${fusion} ${name}`);
      return { name: `${backend} ${fusion} ${name}`, subject: choice.subject };
    });
  });
}

const run = async (cases: readonly Case[]): Promise<readonly VerifyReport[]> => runVerify(cases.map(({ subject }) => ({ subject })), localPython(PYTHON), { timeoutMs: 600_000 });

const wrong = (cases: readonly Case[], reports: readonly VerifyReport[]): readonly unknown[] => reports.flatMap(({ verdict, rows, failure }, i) => (verdict === 'verified' ? [] : [{ case: cases[i].name, verdict, failure, rows: rows.filter(({ within }) => !within) }]));

if (process.env.FUSELENS_TORCH === '1') {
  describe('fused edits under PyTorch, as fuselens verify runs them', function () {
    this.timeout(600_000);
    const verified = new Set<string>();

    for (const backend of FUSE_BACKENDS) {
      it(`hold what they promise on ${backend}: values and gradients, three dtypes, three layouts`, async () => {
        const cases = await subjects(backend);
        assert.ok(cases.length >= 10, String(cases.length));
        const reports = await run(cases);
        assert.deepEqual(wrong(cases, reports), []);
        reports.forEach((report, i) => {
          verified.add(`${backend} ${report.fusion}`);
          assert.ok(new Set(report.rows.map(({ dtype }) => dtype)).size === 3, `${cases[i].name}: ${JSON.stringify(report.skipped)}`);
          assert.ok(report.rows.some(({ layout }) => layout !== 'contiguous') && report.rows.every(({ gradient }) => gradient !== null), cases[i].name);
        });
      });
    }

    it('cover every fusion that has an edit on some backend', () => {
      const wanted = FUSIONS.flatMap(({ id, replacements }) => FUSE_BACKENDS.filter((backend) => replacements?.[backend] !== undefined).map((backend) => `${backend} ${id}`));
      assert.deepEqual(wanted.filter((one) => !verified.has(one)), []);
    });

    it('see what is wrong: another eps, the weight without its one, a lost rounding, one bad row, a changed dtype', async () => {
      const [first] = (await subjects('torch')).filter(({ name }) => name.endsWith('rms-norm round, then multiply'));
      const [centred] = (await subjects('torch')).filter(({ name }) => name.includes('zero-centred'));
      const change = ({ name, subject }: Case, from: RegExp, to: string): Case => {
        assert.match(subject.fused, from);
        return { name: `${name}: ${to}`, subject: { ...subject, fused: subject.fused.replace(from, to) } };
      };
      const broken = [
        change(first, /self\.eps\)/, 'self.eps + 0.05)'),
        change(centred, /1\.0 \+ /, ''),
        change(first, /return ([^\n]*)/, 'return ($1).bfloat16().to(torch.float32)'),
        change(first, /return ([^\n]*)/, 'out = $1\n        return torch.cat([out[:, :1] * 1.5, out[:, 1:]], dim=1)'),
        change(first, /return ([^\n]*)/, 'return ($1).double()'),
        change(first, /return ([^\n]*)/, 'return ($1).detach()'),
        change(first, /return ([^\n]*)/, 'return nothing'),
      ];
      const reports = await run(broken);
      assert.deepEqual(reports.map(({ verdict }) => verdict), broken.map(() => 'differs'));
      assert.deepEqual(reports.slice(4).map(({ rows }) => rows.find(({ within }) => !within)?.worst?.why), ['dtype', 'missing', 'stopped']);
    });

    it('say in one word why a function cannot be run', async () => {
      const [{ subject }] = await subjects('torch');
      const failing = async (change: Partial<VerifySubject>): Promise<string | undefined> => (await run([{ name: '', subject: { ...subject, ...change } }]))[0].failure?.code;
      assert.equal(await failing({ original: `import nowhere_at_all\n${subject.original}` }), 'import-missing');
      assert.equal(await failing({ original: `raise ValueError('no')\n${subject.original}` }), 'import-failed');
      assert.equal(await failing({ original: `def (\n${subject.original}` }), 'not-python');
      assert.equal(await failing({ fused: subject.original }), 'nothing-changed');
      assert.equal(await failing({ function: 'Elsewhere.forward' }), 'no-function');
      assert.equal(await failing({ original: subject.original.replace('def forward(self, ', 'def forward(self, graph_cache, '), fused: subject.fused.replace('def forward(self, ', 'def forward(self, graph_cache, ') }), undefined);
    });

    it('run the replaced lines alone where the rest of a function asks for what nobody can make', async () => {
      const parser = await testParser();
      const text = `${HEADER}def case(routing_labels, x, weight, eps: float):\n    for label in routing_labels:\n        print(label.name)\n    h = x.float()\n    h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)\n    y = weight * h.to(x.dtype)\n    return y * len(routing_labels)\n`;
      const scope = moduleScope('/project/lines.py', 'lines', text, parsePython(parser, text));
      const choice = verifySubject(scope, new ModuleSet([scope]), parser, { backend: 'torch', line: 10 });
      assert.ok('subject' in choice);
      const [report] = await run([{ name: '', subject: choice.subject }]);
      assert.deepEqual([report.verdict, report.whole, report.failure], ['verified', false, null]);
    });

    it('need nothing of the workspace on a host: the module and what it imports of its package are sent', async () => {
      const parser = await testParser();
      const folder = mkdtempSync(path.join(os.tmpdir(), 'fuselens-package-'));
      try {
        const files = { '__init__.py': '', 'sizes.py': 'from . import deeper\nEPS = deeper.VALUE\n', 'deeper.py': 'VALUE = 1e-6\n', 'model.py': `${HEADER}from .sizes import EPS\n\n\nclass Norm(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n        self.eps = EPS\n        self.weight = nn.Parameter(torch.ones(dim))\n\n    def forward(self, x):\n        h = x.float()\n        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)\n        return self.weight * h.to(x.dtype)\n` };
        const scopes = Object.entries(files).map(([name, content]) => {
          const file = path.join(folder, 'pkg', name);
          mkdirSync(path.dirname(file), { recursive: true });
          writeFileSync(file, content);
          return scopeOf(file, folder, content, parser);
        });
        const model = scopes[3];
        const program = new ModuleSet(scopes);
        const line = model.text.slice(0, model.text.indexOf('torch.rsqrt')).split('\n').length;
        const choice = verifySubject(model, program, parser, { backend: 'ascend', line });
        assert.ok('subject' in choice);
        const texts = importedTexts(model, program);
        assert.deepEqual([...texts.keys()].map((file) => path.basename(file)).sort(), ['__init__.py', 'deeper.py', 'model.py', 'sizes.py']);
        rmSync(path.join(folder, 'pkg', 'deeper.py'));
        const here = openShell(undefined);
        const shell: Shell = { host: 'elsewhere', run: here.run.bind(here), exec: here.exec.bind(here), dispose: here.dispose.bind(here) };
        const [report] = await runVerify([{ subject: choice.subject, texts }], hostPython(shell, PYTHON, ['export SETUP=1']), { timeoutMs: 600_000 });
        assert.deepEqual([report.verdict, report.host, report.failure], ['verified', 'elsewhere', null]);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    it('use no stand-in where none is wanted', async () => {
      const [{ subject }] = await subjects('ascend');
      const [report] = await runVerify([{ subject }], localPython(PYTHON), { timeoutMs: 600_000, reference: false });
      assert.equal(report.failure?.code, 'absent');
    });
  });
}
