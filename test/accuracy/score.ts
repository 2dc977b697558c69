/**
 * Scores attribution by alignment against recorded runs:
 *
 *     tsx test/accuracy/score.ts TRANSFORMERS MODE RUN_DIR…
 *
 * TRANSFORMERS is the installed package; MODE is the workspace: `own` (the model's folder, ten unlike models, helpers),
 * `all` (all of models/, helpers), `absent` (as `own` or, with ABSENT=all, as `all`, without the true files), `bare` (as
 * `own` without helpers). A kernel is right when the answer lies in the recorded statement of the innermost indexed frame,
 * weighted by device time; a statement with the same text elsewhere counts as the same answer, and `unique` says how much
 * lies in the very file (`judge.ts`, which also scores the whole call path). MISSES=n prints the costliest misses, JSON=file appends the results.
 */
import path from 'node:path';
import { Language, Parser } from 'web-tree-sitter';
import { CandidateIndex, candidatesOf, type Candidate } from '../../src/engine/attribution/candidates';
import { FileScope, ModuleSet, type ModuleScope } from '../../src/engine/python/program';
import { indexSources } from '../../src/engine/python/sourceIndex';
import { nodeFilePort } from '../../src/node/filePort';
import { framesOf, judge, truthOf } from './judge';

const UNLIKE = ['bert', 'gpt2', 't5', 'mamba2', 'bloom', 'gemma2', 'gpt_oss', 'falcon_mamba', 'rwkv', 'qwen3_next', 'opt', 'deepseek_v3'];
const HELPERS = ['activations.py', 'masking_utils.py', 'modeling_layers.py', 'modeling_rope_utils.py', 'cache_utils.py', 'pytorch_utils.py', 'loss/loss_utils.py', 'integrations/moe.py', 'integrations/sdpa_attention.py'];

async function main(): Promise<void> {
  const [root, mode, ...runs] = process.argv.slice(2);
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(path.resolve('node_modules/tree-sitter-python/tree-sitter-python.wasm')));
  const port = nodeFilePort();
  const parsed = new Map<string, readonly ModuleScope[]>();
  const relative = (file: string): string => path.relative(root, file).split(path.sep).join('/');
  const scopesOf = async (part: string): Promise<readonly ModuleScope[]> => {
    let known = parsed.get(part);
    if (known === undefined) {
      const index = await indexSources(port, [path.join(root, part)], parser);
      known = index.scopes.filter((scope) => /(^|\/)(modeling_\w+|activations|masking_utils|cache_utils|pytorch_utils|loss_utils|moe|sdpa_attention)\.py$/.test(scope.file)).map((scope) => new FileScope(scope.file, `transformers.${relative(scope.file).replace(/\.py$/, '').split('/').join('.')}`, scope.source));
      parsed.set(part, known);
    }
    return known;
  };
  const lowered = new Map<string, readonly Candidate[]>();
  let wide: { readonly scopes: readonly ModuleScope[]; readonly candidates: Pick<CandidateIndex, 'like'> } | undefined;
  for (const run of runs) {
    const rows = truthOf(run);
    const own = new Set([...rows.values()].flatMap((row) => framesOf(row.frames).map((frame) => frame.file)).filter((file) => file.startsWith('models/')));
    const folders = mode === 'all' || process.env.ABSENT === 'all' ? ['models'] : [...new Set([...own].map((file) => path.dirname(file))), ...UNLIKE.map((name) => `models/${name}`).filter((folder) => ![...own].some((file) => path.dirname(file) === folder)).slice(0, 10)];
    let scopes: readonly ModuleScope[] = [];
    for (const part of [...folders, ...(mode === 'bare' ? [] : HELPERS)]) {
      scopes = [...scopes, ...(await scopesOf(part))];
    }
    if (mode === 'absent') {
      scopes = scopes.filter((scope) => !own.has(relative(scope.file)));
    }
    let candidates: Pick<CandidateIndex, 'like'>;
    if (mode === 'all' && wide !== undefined) {
      ({ scopes, candidates } = wide);
    } else if (mode === 'all' || process.env.ABSENT === 'all') {
      scopes.forEach((scope) => scope.values.clear());
      candidates = new CandidateIndex(new ModuleSet(scopes), scopes);
      wide = { scopes, candidates };
    } else {
      // Folders do not import each other's models, so each is lowered once for all runs.
      const lists = [];
      const helpers = mode === 'bare' ? [] : (await Promise.all(HELPERS.map(scopesOf))).flat();
      for (const part of [...folders, ...(mode === 'bare' ? [] : ['helpers'])]) {
        const files = part === 'helpers' ? helpers : await scopesOf(part);
        let list = lowered.get(part);
        if (list === undefined) {
          const program = [...new Set([...helpers, ...files])];
          list = candidatesOf(new ModuleSet(program), files, 4, (file) => program.find((scope) => scope.file === file)?.text);
          lowered.set(part, list);
        }
        lists.push(list.filter((candidate) => scopes.includes(candidate.scope)));
      }
      const all = lists.flat();
      candidates = { like: () => all };
    }
    await judge({ root, run, mode, rows, scopes, candidates, parser, relative });
  }
}

void main();
