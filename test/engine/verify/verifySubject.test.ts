import assert from 'node:assert/strict';
import { planFusions } from '../../../src/engine/fuse/planFusions';
import { applyEdits } from '../../../src/engine/fuse/plan';
import { parsePython } from '../../../src/engine/python/parsePython';
import { moduleScope, ModuleSet } from '../../../src/engine/python/program';
import { verifySubject, type VerifyChoice } from '../../../src/engine/verify/verifySubject';
import { testParser } from '../pythonParser';
import { HEADER, SPELLINGS } from '../fuse/spellings';

const NORM = HEADER + SPELLINGS[0].python;

async function choose(text: string, line: number, fused?: string): Promise<VerifyChoice> {
  const parser = await testParser();
  const scope = (content: string): ReturnType<typeof moduleScope> => moduleScope('/project/model.py', 'model', content, parsePython(parser, content));
  const original = scope(text);
  return verifySubject(original, new ModuleSet([original]), parser, { backend: 'ascend', line, ...(fused === undefined ? {} : { fused: scope(fused) }) });
}

async function fusedText(text: string): Promise<string> {
  const parser = await testParser();
  const scope = moduleScope('/project/model.py', 'model', text, parsePython(parser, text));
  const [plan] = planFusions(scope, new ModuleSet([scope]), 'ascend', parser);
  return applyEdits(text, plan.edits);
}

const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split('\n').length;

describe('what a verification runs', () => {
  it('is the plan at the line, made in memory', async () => {
    const choice = await choose(NORM, lineOf(NORM, 'torch.rsqrt'));
    assert.ok('subject' in choice);
    const { subject } = choice;
    assert.deepEqual([subject.function, subject.fusion, subject.promise, subject.original], ['Case.forward', 'rms-norm', 'rounding', NORM]);
    assert.equal(subject.fused, await fusedText(NORM));
    assert.deepEqual([subject.roles.x, subject.roles.weight], ['hidden_states', 'self.weight']);
  });

  it('is refused, not denied, in a function too long to be read to its end', async function () {
    this.timeout(60_000);
    const long = (lines: number): string => `import torch\n\ndef case(x, w):\n${Array.from({ length: lines }, (_, i) => `    x = x * ${i}.5 + w\n`).join('')}    v = x.pow(2).mean(-1, keepdim=True)\n    return x * torch.rsqrt(v + 1e-6) * w\n`;
    for (const [lines, code] of [[500, undefined], [10_500, 'too-long-here']] as const) {
      const choice = await choose(long(lines), lines + 5);
      assert.equal('subject' in choice ? undefined : choice.code, code, `${lines} lines`);
    }
  });

  it('is the only form of the function that holds the line', async () => {
    const named = async (line: number): Promise<readonly unknown[]> => {
      const choice = await choose(NORM, line);
      return 'subject' in choice ? [choice.subject.fusion, choice.subject.function] : [choice.code];
    };
    const start = lineOf(NORM, 'def forward');
    assert.deepEqual(await named(start), ['rms-norm', 'Case.forward']);
    assert.deepEqual(await named(start - 1), ['nothing-here']);
    // What of the function is no part of the form.
    const before = NORM.replace('        input_dtype =', '        # the form begins below\n        input_dtype =');
    const choice = await choose(before, start + 1);
    assert.ok('subject' in choice);
    assert.deepEqual([choice.subject.fusion, choice.subject.function], ['rms-norm', 'Case.forward']);
    const compiled = await choose(NORM.replace('    def forward', '    @torch.compile\n    def forward'), start);
    assert.ok('code' in compiled);
    assert.deepEqual([compiled.code, compiled.reason], ['not-fusable', 'compiled']);
  });

  it('is found again after the fuse, by the function and what was written', async () => {
    const fused = await fusedText(NORM);
    const choice = await choose(NORM, lineOf(fused, 'torch_npu.npu_rms_norm'), fused);
    assert.ok('subject' in choice);
    assert.deepEqual([choice.subject.fusion, choice.subject.function, choice.subject.fused], ['rms-norm', 'Case.forward', fused]);
  });

  it('takes a change by hand as one, and promises of it what fused operators promise', async () => {
    const before = 'def case(x):\n    return x + x\n';
    const choice = await choose(before, 2, 'def case(x):\n    return 2 * x\n');
    assert.ok('subject' in choice);
    assert.deepEqual([choice.subject.fusion, choice.subject.function, choice.subject.promise], ['none', 'case', 'rounding']);
  });

  it('is nothing on a line without a form, with the reason where the form stays as it is', async () => {
    assert.deepEqual(await choose(NORM, 1), { code: 'nothing-here', reason: undefined });
    const compiled = NORM.replace('    def forward', '    @torch.compile\n    def forward');
    assert.deepEqual(await choose(compiled, lineOf(compiled, 'torch.rsqrt')), { code: 'not-fusable', reason: 'compiled' });
    assert.deepEqual(await choose(NORM, 1, await fusedText(NORM)), { code: 'no-function-here', reason: undefined });
  });
});
