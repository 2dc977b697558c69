/**
 * Fusions that a workspace adds by itself: `.fuselens/fusions/*.json`, each with a snippet, its roles and the text that
 * replaces it. Only trusted workspaces are asked. A file that is wrong adds nothing and is named.
 */
import type { Parser } from 'web-tree-sitter';
import { isRecord } from '../../protocol/isRecord';
import { lowerForm } from '../chains/patterns';
import { readSmallText, type FilePort } from '../port';
import type { Message } from '../profile/problems';
import { parsePython } from '../python/parsePython';
import { FUSE_BACKENDS, SNIPPET_PRELUDE, type BoundForm, type EagerForm, type FuseBackend, type Fusion, type Replacement, type Written } from './fusion';
import { operand } from './write';

export interface WorkspaceFusions {
  readonly fusions: readonly Fusion[];
  /** `fuse.workspace.<problem>` with the file. */
  readonly problems: readonly Message[];
  /** Folders that hold no file of this kind. */
  readonly empty: readonly string[];
}

const FAMILIES: ReadonlySet<string> = new Set(['matmul', 'linearAttention', 'norm', 'elementwise', 'glue', 'loss', 'optimizer', 'other']);
const PROMISES = ['exact', 'rounding', 'fp32Inside'] as const;
const LARGEST = 64 * 1024;
const MOST_FILES = 200;

/** Folder of a workspace's own fusions. */
const fusionFolder = (port: FilePort, workspace: string): string => port.join(workspace, '.fuselens', 'fusions');

export async function readWorkspaceFusions(port: FilePort, workspaces: readonly string[], parser: Parser, taken: readonly string[]): Promise<WorkspaceFusions> {
  const fusions: Fusion[] = [];
  const problems: Message[] = [];
  const empty: string[] = [];
  for (const workspace of workspaces) {
    const folder = fusionFolder(port, workspace);
    const entries = (await port.list(folder)).filter(({ kind, name }) => kind === 'file' && name.endsWith('.json')).slice(0, MOST_FILES);
    if (entries.length === 0) {
      empty.push(folder);
    }
    for (const entry of entries) {
      const file = port.join(folder, entry.name);
      const text = await readSmallText(port, file, LARGEST);
      const made = text === undefined ? 'unreadable' : fusionOf(text, parser);
      if (typeof made === 'string') {
        problems.push({ code: `fuse.workspace.${made}`, args: { file } });
      } else if (taken.includes(made.id) || fusions.some(({ id }) => id === made.id)) {
        problems.push({ code: 'fuse.workspace.taken', args: { file, id: made.id } });
      } else {
        fusions.push(made);
      }
    }
  }
  return { fusions, problems, empty };
}

/** One file's fusion, or what is wrong with it. */
function fusionOf(text: string, parser: Parser): Fusion | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return 'no-json';
  }
  if (!isRecord(json) || typeof json.id !== 'string' || !/^[a-z][a-z0-9-]*$/.test(json.id)) {
    return 'no-id';
  }
  const forms = Array.isArray(json.forms) ? json.forms.map((form, i) => formOf(form, i)) : [];
  if (forms.length === 0 || forms.some((form) => form === undefined)) {
    return 'no-forms';
  }
  const eager = forms.filter((form): form is EagerForm => form !== undefined);
  const roles = eager.map((form) => rolesOf(form, parser));
  if (roles.some((each) => each === undefined)) {
    return 'form-not-understood';
  }
  const named = isRecord(json.replacements) ? Object.entries(json.replacements) : [];
  const replacements: Partial<Record<FuseBackend, Replacement>> = {};
  for (const [name, value] of named) {
    const backend = FUSE_BACKENDS.find((known) => known === name);
    const replacement = backend === undefined ? undefined : replacementOf(value, roles.flatMap((each) => each ?? []), roles, parser);
    if (backend === undefined || replacement === undefined) {
      return 'replacement-not-understood';
    }
    replacements[backend] = replacement;
  }
  return {
    id: json.id, title: typeof json.title === 'string' ? json.title : json.id, family: typeof json.family === 'string' && FAMILIES.has(json.family) ? json.family : 'elementwise', kind: 'fusion',
    forms: eager, replacements, note: typeof json.remedy === 'string' ? json.remedy : '',
  };
}

function formOf(value: unknown, i: number): EagerForm | undefined {
  const python = isRecord(value) ? value.python : undefined;
  const text = Array.isArray(python) && python.every((line) => typeof line === 'string') ? python.join('\n') : python;
  return typeof text === 'string' && isRecord(value) ? { name: typeof value.name === 'string' ? value.name : `form ${i + 1}`, python: text.endsWith('\n') ? text : `${text}\n` } : undefined;
}

interface Role {
  readonly name: string;
  readonly isNumber: boolean;
}

/** Roles of a form; undefined unless every part of the snippet is an operator that we know. */
function rolesOf({ python }: EagerForm, parser: Parser): readonly Role[] | undefined {
  const header = /^def eager\(([^)]*)\)\s*:/m.exec(python);
  if (header === null || parsePython(parser, SNIPPET_PRELUDE + python).errors.length > 0) {
    return undefined;
  }
  const { graph } = lowerForm(parser, python);
  const operators = graph.nodes.filter(({ op }) => !['input', 'parameter', 'view', 'cast', 'shape'].includes(op));
  const roles = header[1].split(',').map((each) => each.trim()).filter((each) => each !== '').map((each): Role => ({ name: each.split(/[:=]/)[0].trim(), isNumber: /:\s*float\b/.test(each) }));
  return graph.holes.length > 0 || operators.length < 2 || graph.outputs.length !== 1 || roles.filter(({ isNumber }) => isNumber).length > 1 ? undefined : roles;
}

/** `{x}` is the role x as Python text, `{F}` the name of torch.nn.functional; a role of the form that is missing is told when it is written. */
function replacementOf(value: unknown, roles: readonly Role[], perForm: readonly (readonly Role[] | undefined)[], parser: Parser): Replacement | undefined {
  if (!isRecord(value) || typeof value.python !== 'string') {
    return undefined;
  }
  const { python } = value;
  const used = [...python.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const everywhere = used.every((name) => name === 'F' || perForm.every((each) => each?.some((role) => role.name === name) === true));
  const sample = python.replace(/\{(\w+)\}/g, '$1');
  const module = value.import;
  if (!everywhere || python.includes('\n') || parsePython(parser, `y = ${sample}\n`).errors.length > 0 || (module !== undefined && (typeof module !== 'string' || !/^[A-Za-z_]\w*$/.test(module)))) {
    return undefined;
  }
  const numbers = new Set(roles.filter(({ isNumber }) => isNumber).map(({ name }) => name));
  const write = (bound: BoundForm): Written => ({ python: python.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'F' ? bound.functional : numbers.has(name) ? bound.eps() : operand(bound, name))) });
  return {
    write, promise: PROMISES.find((known) => known === value.promise) ?? 'rounding', requires: typeof value.requires === 'string' ? value.requires : module ?? 'torch',
    ...(module === undefined ? {} : { module }),
  };
}
