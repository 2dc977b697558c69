import assert from 'node:assert/strict';
import { functionsOf, traceFunction } from '../../../src/engine/fuse/functionTrace';
import { planFusions } from '../../../src/engine/fuse/planFusions';
import { ModuleSet, type ModuleScope } from '../../../src/engine/python/program';
import { scopeOf } from '../../../src/engine/python/sourceIndex';
import { pythonParser } from '../../../src/node/pythonParser';

const NORM = '    v = x.pow(2).mean(-1, keepdim=True)\n    return x * torch.rsqrt(v + 1e-6) * w\n';

/** Helpers that call one another twice each: 2^depth calls when all are followed. */
function helpers(depth: number): string {
  let text = 'import torch\n\ndef h0(x):\n    return x * 2\n';
  for (let i = 1; i <= depth; i++) {
    text += `\ndef h${i}(x):\n    return h${i - 1}(x) + h${i - 1}(x)\n`;
  }
  return `${text}\ndef norm(x, w):\n    x = h${depth}(x)\n${NORM}`;
}

describe('helpers of helpers', () => {
  let parse: (text: string) => ModuleScope;
  let parser: Awaited<ReturnType<typeof pythonParser>>;
  before(async () => {
    parser = await pythonParser();
    parse = (text) => scopeOf('/project/model.py', '/project', text, parser);
  });

  const traced = (scope: ModuleScope, name: string): ReturnType<typeof traceFunction>['graph'] => {
    const found = functionsOf(scope).find(({ definition }) => definition.name === name);
    assert.ok(found !== undefined);
    return traceFunction(new ModuleSet([scope]), scope, found.definition, found.owner).graph;
  };

  it('take work by their depth, not by the number of ways through them', () => {
    // Counted, not timed: what the lowering of the root has made.
    const work = [10, 20, 30].map((depth) => {
      const { nodes, calls } = traced(parse(helpers(depth)), 'norm');
      return nodes.length + calls.length;
    });
    assert.ok(work.every((count) => count < 5000), work.join());
    // Ten more helpers cost as much as the ten before.
    assert.ok(Math.abs(work[2] - work[1] - (work[1] - work[0])) <= 0.2 * (work[1] - work[0]), work.join());
  });

  it('do not hide the form of the function that calls them', () => {
    for (const depth of [3, 15, 30]) {
      const scope = parse(helpers(depth));
      const plans = planFusions(scope, new ModuleSet([scope]), 'torch', parser, {});
      assert.deepEqual(plans.map(({ fusion, functionName }) => [fusion.id, functionName]), [['rms-norm', 'norm']], `${depth} deep`);
    }
  });

  it('are followed as often as they are written in the function itself', () => {
    const uses = 100;
    const { calls } = traced(parse(`import torch\n\ndef twice(x):\n    return x * 2\n\ndef norm(x, w):\n${'    x = twice(x)\n'.repeat(uses)}${NORM}`), 'norm');
    assert.equal(calls.length, uses);
  });
});
