/** Characters that break a line or turn its direction: controls, line separators, direction overrides. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A name on one line: files may be called anything, a label or a sentence must stay one. `a⏎b` becomes `a\nb`, as in code. */
export function visibleText(name: string): string {
  return name.replace(UNSEEN, (character) => SHORT[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
