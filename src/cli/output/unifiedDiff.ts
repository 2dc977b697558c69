import { applyEdits, type TextEdit } from '../../engine/fuse/plan';

const CONTEXT = 3;

interface Hunk {
  /** Lines of the old text, from 0, end exclusive. */
  readonly start: number;
  readonly end: number;
  readonly edits: readonly TextEdit[];
}

/** Edits of one file as a unified diff that `patch -p1` and `git apply` take; empty where nothing changes. */
export function unifiedDiff(file: string, text: string, edits: readonly TextEdit[]): string {
  const lines = text.split(/(?<=\n)/);
  const starts = [0];
  lines.forEach((line) => starts.push(starts[starts.length - 1] + line.length));
  const lineOf = (offset: number): number => {
    let line = 0;
    while (line + 1 < lines.length && starts[line + 1] <= offset) {
      line++;
    }
    return line;
  };
  const hunks: Hunk[] = [];
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    const start = lineOf(edit.start);
    const end = lineOf(Math.max(edit.start, edit.end - 1)) + 1;
    const last = hunks.at(-1);
    if (last !== undefined && start <= last.end + 2 * CONTEXT) {
      hunks[hunks.length - 1] = { start: last.start, end: Math.max(last.end, end), edits: [...last.edits, edit] };
    } else {
      hunks.push({ start, end, edits: [edit] });
    }
  }
  const name = file.replaceAll('\\', '/').replace(/^\//, '');
  let shift = 0;
  const body = hunks.map((hunk) => {
    const first = Math.max(0, hunk.start - CONTEXT);
    const end = Math.min(lines.length, hunk.end + CONTEXT);
    const old = lines.slice(hunk.start, hunk.end);
    const fresh = applyEdits(old.join(''), hunk.edits.map((edit) => ({ start: edit.start - starts[hunk.start], end: edit.end - starts[hunk.start], text: edit.text }))).split(/(?<=\n)/).filter((line) => line !== '');
    let same = 0;
    while (same < Math.min(old.length, fresh.length) && old[same] === fresh[same]) {
      same++;
    }
    const before = [...lines.slice(first, hunk.start), ...old.slice(0, same)];
    const after = lines.slice(hunk.end, end);
    const text = [...before.map((line) => ` ${line}`), ...old.slice(same).map((line) => `-${line}`), ...fresh.slice(same).map((line) => `+${line}`), ...after.map((line) => ` ${line}`)];
    const head = `@@ -${first + 1},${before.length + old.length - same + after.length} +${first + 1 + shift},${before.length + fresh.length - same + after.length} @@\n`;
    shift += fresh.length - old.length;
    return head + text.map((line) => (line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`)).join('');
  });
  return body.length === 0 ? '' : `--- a/${name}\n+++ b/${name}\n${body.join('')}`;
}
