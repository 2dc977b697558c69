/**
 * `npm run bench [-- --smoke] [-- NAME]`: every `*.bench.ts` here, each in a process of its own so that none inherits the
 * heap of another. Prints each value with its target; a full run fails when a target is missed, a smoke run only when
 * something breaks (its inputs are too small to mean anything).
 */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';

export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the value is held against; met when at least this much, or at most with `atMost`. */
  readonly target?: number;
  readonly atMost?: boolean;
}

const here = __dirname;
const smoke = process.argv.includes('--smoke');

async function runOne(file: string): Promise<void> {
  const bench = (await import(pathToFileURL(file).href)) as { readonly run: (options: { readonly smoke: boolean }) => Promise<readonly BenchRow[]> };
  const rows = await bench.run({ smoke });
  if (rows.length === 0) {
    console.log('  nothing to measure here (are the shared profiles beside the clone?)');
  }
  let missed = 0;
  for (const { name, value, unit, target, atMost = false } of rows) {
    const met = smoke || target === undefined || (atMost ? value <= target : value >= target);
    missed += met ? 0 : 1;
    const against = target === undefined || smoke ? '' : `  ${atMost ? 'at most' : 'at least'} ${target}${met ? '' : '  MISSED'}`;
    console.log(`  ${name.padEnd(70)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit}${against}`);
  }
  process.exitCode = missed > 0 ? 1 : 0;
}

function runAll(): void {
  const names = process.argv.slice(2).filter(option => !option.startsWith('--'));
  const files = fs.readdirSync(here).filter(file => file.endsWith('.bench.ts') && (names.length === 0 || names.some(name => file.includes(name))));
  const failed = files.sort().filter(file => {
    console.log(`\n${file}`);
    const args = ['--expose-gc', '--import', 'tsx', path.join(here, 'main.ts'), '--one', path.join(here, file), ...(smoke ? ['--smoke'] : [])];
    return spawnSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] }).status !== 0;
  });
  console.log(failed.length > 0 ? `\nbench: failed or missed a target: ${failed.join(', ')}` : `\nbench: ${files.length} ran`);
  process.exitCode = failed.length > 0 || files.length === 0 ? 1 : 0;
}

const one = process.argv.indexOf('--one');
if (one >= 0) {
  runOne(process.argv[one + 1]).catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
} else {
  runAll();
}
