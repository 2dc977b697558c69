/** Edits of `tasks.json` that keep what people wrote: comments, order, indentation, trailing commas. */
import { applyEdits, findNodeAtLocation, getNodeValue, modify, parseTree, type FormattingOptions, type ParseError } from 'jsonc-parser';
import { isRecord } from '../protocol/isRecord';

/** A task as it stands in the file; its settings are not checked. */
export interface WrittenTask {
  readonly index: number;
  readonly label: string;
  readonly definition: Readonly<Record<string, unknown>>;
}

/** `fuselens` tasks of a file. An unreadable file has none. */
export function writtenTasks(text: string): readonly WrittenTask[] {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const tasks = tree === undefined ? undefined : findNodeAtLocation(tree, ['tasks']);
  return (tasks?.children ?? []).flatMap((node, index) => {
    const definition: unknown = getNodeValue(node);
    return isRecord(definition) && definition.type === 'fuselens' ? [{ index, label: typeof definition.label === 'string' ? definition.label : '', definition }] : [];
  });
}

/** The file with one more task; undefined when it is no JSON object that tasks can be added to. An empty or missing file is begun. */
export function withTask(text: string, task: Readonly<Record<string, unknown>>): string | undefined {
  const errors: ParseError[] = [];
  const blank = text.trim() === '';
  const tree = blank ? undefined : parseTree(text, errors, { allowTrailingComma: true });
  if (!blank && (tree?.type !== 'object' || errors.length > 0)) {
    return undefined;
  }
  const tasks = tree === undefined ? undefined : findNodeAtLocation(tree, ['tasks']);
  if (tasks !== undefined && tasks.type !== 'array') {
    return undefined;
  }
  const formattingOptions = formatOf(text);
  const begun = blank ? '{}' : text;
  const versioned = tree === undefined || findNodeAtLocation(tree, ['version']) === undefined ? applyEdits(begun, modify(begun, ['version'], '2.0.0', { formattingOptions })) : begun;
  const edits = tasks === undefined
    ? modify(versioned, ['tasks'], [task], { formattingOptions })
    : modify(versioned, ['tasks', tasks.children?.length ?? 0], task, { formattingOptions, isArrayInsertion: true });
  const made = applyEdits(versioned, edits);
  return blank && !made.endsWith('\n') ? `${made}\n` : made;
}

/** Offset and length of a setting of the task at `index`, or of the nearest thing round it that is written down. */
export function placeOfSetting(text: string, index: number, path: readonly (string | number)[]): { readonly offset: number; readonly length: number } | undefined {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  for (let depth = path.length; tree !== undefined && depth >= 0; depth--) {
    const node = findNodeAtLocation(tree, ['tasks', index, ...path.slice(0, depth)]);
    if (node !== undefined) {
      // For a whole task only its first line: marking all of it would drown the rest.
      const length = depth > 0 ? node.length : Math.max(1, text.slice(node.offset, node.offset + node.length).search(/\r?\n|$/));
      return { offset: node.offset, length };
    }
  }
  return undefined;
}

/** A label that no task of the file has yet: `name`, `name (2)`, … */
export function freeLabel(text: string, name: string): string {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const taken = new Set((tree === undefined ? undefined : findNodeAtLocation(tree, ['tasks'])?.children ?? [])?.map((node) => (getNodeValue(node) as { readonly label?: unknown } | undefined)?.label));
  let label = name;
  for (let number = 2; taken.has(label); number++) {
    label = `${name} (${number})`;
  }
  return label;
}

/** The file's own way: tabs or blanks, and its line ends. */
function formatOf(text: string): FormattingOptions {
  const [, indent = '    '] = /\n([ \t]+)\S/.exec(text) ?? [];
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.startsWith('\t') ? 4 : Math.min(indent.length, 8), eol: text.includes('\r\n') ? '\r\n' : '\n' };
}
