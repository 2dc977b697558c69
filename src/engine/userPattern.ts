import { RE2JS } from 're2js';

/** Longer patterns are refused: nobody types them, and compiling takes memory in proportion. */
const MOST_CHARACTERS = 1000;

/**
 * A regular expression somebody typed, in any case of letters, as a test of texts; undefined when it is no such expression.
 * RE2 takes time linear in the text whatever the expression, where JavaScript's own would hang the engine on `(a+)+$`; so
 * look-around and back references, which it cannot have, count as no expression.
 */
export function userPattern(text: string): ((value: string) => boolean) | undefined {
  if (text.length > MOST_CHARACTERS) {
    return undefined;
  }
  try {
    const pattern = RE2JS.compile(text, RE2JS.CASE_INSENSITIVE);
    return (value) => pattern.test(value);
  } catch {
    return undefined;
  }
}
