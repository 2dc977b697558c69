import type { TextEdit } from '../../engine/fuse/plan';

const CONTEXT = 3;

/** Edits of whole lines of one file as a unified diff that `patch -p1` and `git apply` take; empty where nothing changes. */
export function unifiedDiff(file: string, text: string, edits: readonly TextEdit[]): string {
  const lines = linesOf(text);
  const starts = [0];
  lines.forEach((line) => starts.push(starts[starts.length - 1] + line.length));
  const lineAt = new Map(starts.map((start, line) => [start, line]));
  const lineOf = (offset: number): number => lineAt.get(offset) ?? lines.length;
  // Edits whose lines of context touch.
  const hunks: TextEdit[][] = [];
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    const before = hunks.at(-1)?.at(-1);
    if (before !== undefined && lineOf(edit.start) - lineOf(before.end) <= 2 * CONTEXT) {
      hunks[hunks.length - 1].push(edit);
    } else {
      hunks.push([edit]);
    }
  }
  const name = file.replaceAll('\\', '/').replace(/^\//, '');
  let shift = 0;
  const body = hunks.map((hunk) => {
    const first = Math.max(0, lineOf(hunk[0].start) - CONTEXT);
    const written: string[] = [];
    let [at, removed, added] = [first, 0, 0];
    for (const edit of hunk) {
      const [start, end, fresh] = [lineOf(edit.start), lineOf(edit.end), linesOf(edit.text)];
      written.push(...lines.slice(at, start).map((line) => ` ${line}`), ...lines.slice(start, end).map((line) => `-${line}`), ...fresh.map((line) => `+${line}`));
      removed += end - start;
      added += fresh.length;
      at = end;
    }
    const end = Math.min(lines.length, at + CONTEXT);
    written.push(...lines.slice(at, end).map((line) => ` ${line}`));
    const [old, fresh] = [end - first, end - first - removed + added];
    // Where a side has no lines, its number is that of the line before.
    const head = `@@ -${old === 0 ? 0 : first + 1},${old} +${fresh === 0 ? first + shift : first + 1 + shift},${fresh} @@\n`;
    shift += added - removed;
    return head + written.map((line) => (line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`)).join('');
  });
  return body.length === 0 ? '' : `--- a/${name}\n+++ b/${name}\n${body.join('')}`;
}

const linesOf = (text: string): readonly string[] => text.split(/(?<=\n)/).filter((line) => line !== '');
