/**
 * Words and scripts for shells we do not choose. ssh joins its arguments with blanks and the user's login shell parses the result:
 * fish and tcsh read quotes otherwise than POSIX, zsh expands `=word`. So nothing but letters, digits and base64 ever meets it.
 */

/** One argument, which may stand under 131 072 bytes on Linux; scripts above this travel by stdin. */
export const LARGEST_ARGUMENT = 120_000;

/** One word of POSIX sh: every character but NUL arrives as it is. There is no "safe" shortcut, since zsh expands an unquoted `=ls`. */
export function quoteWord(word: string): string {
  return `'${word.replaceAll('\0', '').replaceAll('\'', '\'\\\'\'')}'`;
}

export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}

export function base64(text: string | Uint8Array): string {
  return Buffer.from(text).toString('base64');
}

/** A command line that bash, zsh, dash, fish and tcsh all pass on to `sh` unread; stdin stays free for the script. */
export function envelope(script: string): string {
  return `exec sh -c 'eval "$(printf %s ${base64(script)} | base64 -d)"'`;
}

/**
 * The same as argv, for programs that start a command themselves (container prefixes, `srun`): prefers bash, for lines like `source FILE`.
 * These pass arguments on as they are, and an image may have a shell and little else. What is appended are the script's `$1`, `$2`, …
 */
export function bashArgv(script: string): readonly string[] {
  return ['sh', '-c', 's=$1; shift; b=$(command -v bash || command -v sh); exec "$b" -c "$s" "$b" "$@"', 'sh', script];
}

/** Lines that write a file, whatever it holds, in one step: who reads it meanwhile has it whole. A failure (disk full) ends the script with 95. */
export function writeFileLines(path: string, content: string | Uint8Array): string {
  const encoded = base64(content);
  // A here-document has no limit on its length, an argument has.
  const file = quoteWord(path);
  return `base64 -d > ${file}.$$ <<'FUSELENS_EOF' && mv -f ${file}.$$ ${file} || exit 95\n${encoded.replace(/.{1,76}/g, '$&\n')}FUSELENS_EOF`;
}

/** A name of an environment variable that shells take. */
function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}

export function exportLines(env: Readonly<Record<string, string>>): string {
  return Object.entries(env).filter(([name]) => isVariableName(name)).map(([name, value]) => `export ${name}=${quoteWord(value)}`).join('\n');
}
