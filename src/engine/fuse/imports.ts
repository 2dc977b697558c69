import type { ModuleScope } from '../python/program';
import type { TextEdit } from './plan';

/** How the file spells `torch.nn.functional`; undefined when nothing in it leads there. */
export function functionalName(scope: ModuleScope, taken: ReadonlySet<string>): string | undefined {
  let torch: string | undefined;
  for (const [name, top] of scope.names) {
    if (top.kind !== 'import' || top.level > 0 || taken.has(name)) {
      continue;
    }
    const path = top.name === undefined ? top.module : `${top.module}.${top.name}`;
    if (path === 'torch.nn.functional') {
      return name;
    }
    if (path === 'torch.nn' || path === 'torch') {
      const reached = path === 'torch' ? `${name}.nn.functional` : `${name}.functional`;
      torch = torch === undefined || reached.length < torch.length ? reached : torch;
    }
  }
  return torch;
}

/** Code that names another device's parts may be imported where `torch_npu` is not installed. */
export const runsElsewhere = (text: string): boolean => /\b(cuda|xpu|mps|triton|flash_attn|is_torch_npu_available)\b/.test(text);

/** Adds `import torch_npu` below the imports of torch, inside a guard where the file also runs elsewhere. */
export function importEdit(scope: ModuleScope, module: string, guarded: boolean): TextEdit | undefined {
  if (scope.names.has(module)) {
    return undefined;
  }
  const { body } = scope.module;
  const imports = body.filter((statement) => statement.kind === 'import' || statement.kind === 'importFrom');
  const ofTorch = imports.filter((statement) => (statement.kind === 'import' ? statement.names.some(({ module: name }) => /^torch\b/.test(name)) : statement.kind === 'importFrom' && statement.level === 0 && /^torch\b/.test(statement.module)));
  const guardedOnes = [...imports].filter((statement) => statement.kind === 'importFrom' && statement.module === '__future__');
  const after = guarded ? imports.at(-1) : ofTorch.at(-1) ?? imports.at(-1) ?? guardedOnes.at(-1) ?? docstring(scope);
  const newline = lineEnd(scope.text);
  const statement = guarded ? ['try:', `    import ${module}`, 'except ImportError:', `    ${module} = None`, ''] : [`import ${module}`];
  if (after === undefined) {
    const at = /^(#.*(\r?\n|$))*/.exec(scope.text)?.[0].length ?? 0;
    return { start: at, end: at, text: `${statement.join(newline)}${newline}` };
  }
  const stop = scope.text.slice(after.end).search(/[\r\n]/);
  const at = stop < 0 ? scope.text.length : after.end + stop;
  const lines = guarded ? ['', ...statement.slice(0, -1)] : statement;
  return { start: at, end: at, text: `${newline}${lines.join(newline)}` };
}

function docstring({ module }: ModuleScope): { readonly end: number } | undefined {
  const [first] = module.body;
  return first?.kind === 'expression' && first.value.kind === 'string' ? first : undefined;
}

/** The line end that the file uses. */
export const lineEnd = (text: string): string => /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
