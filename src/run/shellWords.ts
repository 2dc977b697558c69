/**
 * Commands in shell text, as far as they can be known without running it: continuation lines joined, quotes taken off, variables
 * replaced where the same text gives them a plain value or a default. What needs a shell (`$(…)`, unknown variables) stays undefined.
 */
export interface ShellCommand {
  /** From 1. */
  readonly line: number;
  /** A word is undefined where its value cannot be known. */
  readonly words: readonly (string | undefined)[];
}

const MAX_LINES = 5000;
const MAX_COMMAND = 20_000;

/** Simple commands of a script in order; assignments before a command stay words of it (`A=1 torchrun …`). */
export function shellCommands(text: string): readonly ShellCommand[] {
  const variables = new Map<string, string>();
  const commands: ShellCommand[] = [];
  const lines = text.split(/\r?\n/, MAX_LINES);
  for (let i = 0; i < lines.length; i++) {
    const first = i;
    let joined = lines[i];
    while (/(?<!\\)(?:\\\\)*\\\s*$/.test(joined) && i + 1 < lines.length && joined.length < MAX_COMMAND) {
      joined = `${joined.replace(/\\\s*$/, '')} ${lines[++i].trim()}`;
    }
    for (const words of splitCommands(joined.trim().replace(/^\$ /, ''), variables)) {
      const [only] = words;
      const assigned = words.length === 1 && only !== undefined ? /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(only) : null;
      if (assigned !== null) {
        variables.set(assigned[1], assigned[2]);
      } else if (words[0] === 'export') {
        words.slice(1).forEach((word) => {
          const [, name, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word ?? '') ?? [];
          if (name !== undefined) {
            variables.set(name, value);
          }
        });
      } else if (words.length > 0) {
        commands.push({ line: first + 1, words });
      }
    }
  }
  return commands;
}

/** Words of one line, cut at `;`, `&`, `|`; a comment ends it. One pass. */
function splitCommands(line: string, variables: ReadonlyMap<string, string>): (string | undefined)[][] {
  const commands: (string | undefined)[][] = [[]];
  let word: string | undefined = '';
  let inWord = false;
  let known = true;
  const add = (piece: string | undefined): void => {
    inWord = true;
    if (piece === undefined) {
      known = false;
    } else {
      word = (word ?? '') + piece;
    }
  };
  const endWord = (): void => {
    if (inWord) {
      commands.at(-1)?.push(known ? word : undefined);
    }
    [word, inWord, known] = ['', false, true];
  };
  for (let at = 0; at < line.length && at < MAX_COMMAND; at++) {
    const character = line[at];
    if (character === '\\') {
      add(line[++at] ?? '');
    } else if (character === "'") {
      const end = line.indexOf("'", at + 1);
      add(line.slice(at + 1, end < 0 ? undefined : end));
      at = end < 0 ? line.length : end;
    } else if (character === '"') {
      add('');
      for (at++; at < line.length && line[at] !== '"'; at++) {
        if (line[at] === '\\' && '"\\$`\n'.includes(line[at + 1] ?? '')) {
          add(line[++at]);
        } else if (line[at] === '$' || line[at] === '`') {
          const found = expansion(line, at, variables);
          add(found.value);
          at = found.end;
        } else {
          add(line[at]);
        }
      }
    } else if (character === '$' || character === '`') {
      const found = expansion(line, at, variables);
      add(found.value);
      at = found.end;
    } else if (/\s/.test(character)) {
      endWord();
    } else if (character === '#' && !inWord) {
      break;
    } else if (';&|()'.includes(character)) {
      endWord();
      commands.push([]);
    } else if (character === '>' || character === '<') {
      // Redirections: `2>&1`, `> log`. What follows is a file, not an argument.
      if (/^\d*$/.test(word ?? '')) {
        [word, inWord] = ['', false];
      }
      endWord();
      const rest = /^[<>]+&?\s*\S*/.exec(line.slice(at))?.[0] ?? character;
      at += rest.length - 1;
    } else {
      add(character);
    }
  }
  endWord();
  return commands.filter((words) => words.length > 0);
}

/** `$NAME`, `${NAME}`, `${NAME:-default}`; anything else is not known. `end` is the last character that belongs to it. */
function expansion(line: string, at: number, variables: ReadonlyMap<string, string>): { readonly value: string | undefined; readonly end: number } {
  const rest = line.slice(at, at + 1000);
  const found = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?[-=]([^{}$`]*))?\})/.exec(rest);
  if (found !== null) {
    const value = variables.get(found[1] ?? found[2]) ?? found[3]?.replace(/^(["'])(.*)\1$/, '$2');
    return { value, end: at + found[0].length - 1 };
  }
  const open = rest.startsWith('$(') ? matching(rest, '(', ')') : rest.startsWith('${') ? matching(rest, '{', '}') : rest.startsWith('`') ? rest.indexOf('`', 1) : /^\$[\w@*#?$!-]/.test(rest) ? 1 : 0;
  return { value: open === 0 && rest.startsWith('$') ? '$' : undefined, end: at + Math.max(open, 0) };
}

function matching(text: string, open: string, close: string): number {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    depth += text[i] === open ? 1 : text[i] === close ? -1 : 0;
    if (depth === 0 && text[i] === close) {
      return i;
    }
  }
  return text.length - 1;
}
