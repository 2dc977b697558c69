import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { SourceMemory } from '../engine/explainer';
import { writeWhole } from './cache';

/**
 * What the engine learnt about source files, in one file beside the columns. Texts are known by their content, so one file
 * serves all workspaces; it is written under a temporary name and renamed, so that two windows can share it. Its first line
 * names the build that wrote it: another one reads source otherwise and starts anew.
 */
export function nodeSourceMemory(folder: string, build: string): SourceMemory {
  const file = path.join(folder, 'source.grams');
  const head = Buffer.from(`${build}\n`);
  return {
    load: async () => {
      const bytes = await readFile(file).catch(() => undefined);
      return bytes?.subarray(0, head.length).equals(head) === true ? bytes.subarray(head.length) : undefined;
    },
    store: async (bytes) => {
      try {
        await mkdir(folder, { recursive: true });
        await writeWhole(file, [head, bytes]);
      } catch {
        // A full disk or a folder that may not be written: the next session finds it out again.
      }
    },
  };
}
