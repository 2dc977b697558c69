import { readdir, readFile } from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';

const MOST_FILES = 30;

/** Names of the `Host` lines of an ssh configuration and of what it includes, without patterns: what one may want to choose from. */
export async function hostsOfConfig(file: string, seen: Set<string> = new Set()): Promise<readonly string[]> {
  if (seen.has(file) || seen.size >= MOST_FILES) {
    return [];
  }
  seen.add(file);
  const text = await readFile(file, 'utf8').catch(() => '');
  const hosts: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const [, keyword, rest] = /^\s*(host|include)[\s=]+(.+?)\s*$/i.exec(line) ?? [];
    const words = [...(rest ?? '').matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain);
    if (keyword?.toLowerCase() === 'host') {
      hosts.push(...words.filter((word) => !/[*?!]/.test(word)));
    } else if (keyword !== undefined) {
      for (const included of (await Promise.all(words.map((word) => includedFiles(word, path.dirname(file))))).flat()) {
        hosts.push(...await hostsOfConfig(included, seen));
      }
    }
  }
  return [...new Set(hosts)];
}

/** Relative names lie beside the configuration; `*` and `?` stand for names in the last part. */
async function includedFiles(name: string, beside: string): Promise<readonly string[]> {
  const full = path.resolve(beside, name.replace(/^~(?=\/|$)/, os.homedir()));
  const last = path.basename(full);
  if (!/[*?]/.test(last)) {
    return [full];
  }
  const pattern = new RegExp(`^${last.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.')}$`);
  const names = await readdir(path.dirname(full)).catch(() => []);
  return names.filter((one) => pattern.test(one)).sort().map((one) => path.join(path.dirname(full), one));
}
