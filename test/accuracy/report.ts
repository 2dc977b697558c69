/** Prints results of `score.ts` as the tables of docs/accuracy.md: `DEVELOPED=a,b tsx test/accuracy/report.ts results.jsonl`. */
import fs from 'node:fs';

interface Side { readonly total: number; readonly answered: number; readonly file: number; readonly inSet: number; readonly unique: number; /** Absent in results of before it was scored. */ readonly path?: number }
interface Result {
  readonly mode: string; readonly run: string; readonly abstains?: { readonly code: string }; readonly file?: string; readonly function?: string; readonly equals?: readonly string[];
  readonly penalty?: number; readonly nextPenalty?: number; readonly confidence?: number; readonly score?: Readonly<Record<string, Side>>;
}

/** Answers from here on are called confident. */
const CONFIDENT = 0.75;

const results = fs.readFileSync(process.argv[2], 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Result);
const developed = new Set((process.env.DEVELOPED ?? '').split(','));
const percent = (part: number, whole: number): string => (whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)} %`);

/** An answer that gives most of the forward pass another statement than the recorded one. */
const isWrong = (result: Result): boolean => result.score !== undefined && (result.score.forward?.inSet ?? 0) < 0.5 * (result.score.forward?.total ?? 1);

function row(name: string, list: readonly Result[]): string {
  const answered = list.filter((result) => result.score !== undefined);
  const share = (side: string, key: keyof Side): string => answered.some(({ score }) => score?.[side] !== undefined && score[side][key] === undefined) ? '–' : percent(answered.reduce((sum, { score }) => sum + (score?.[side]?.[key] ?? 0), 0), answered.reduce((sum, { score }) => sum + (score?.[side]?.total ?? 0), 0));
  const wrong = answered.filter(isWrong);
  const confident = answered.filter(({ confidence }) => (confidence ?? 0) >= CONFIDENT);
  return `| ${name} | ${list.length} | ${answered.length} | ${confident.length} | ${wrong.filter(({ confidence }) => (confidence ?? 0) >= CONFIDENT).length} / ${wrong.length} | ${share('forward', 'inSet')} | ${share('forward', 'unique')} | ${share('forward', 'path')} | ${share('backward', 'inSet')} | ${share('backward', 'path')} | ${share('recompute', 'inSet')} |`;
}

console.log('| runs | models | answered | confident | wrong: confident / all | forward line, in the set | unique | whole path | backward line | whole path | recompute line |\n|---|---|---|---|---|---|---|---|---|---|---|');
const groups = new Map<string, Result[]>();
for (const result of results) {
  const [variant, family] = result.run.split('/');
  const key = `${result.mode}, ${variant}${variant === 'base' ? (developed.has(family) ? ', developed on' : ', held out') : ''}`;
  groups.set(key, [...(groups.get(key) ?? []), result]);
}
groups.forEach((list, name) => console.log(row(name, list)));

console.log('\nAnswers that are wrong for most of the forward pass:\n');
results.filter(isWrong).forEach((result) => console.log(`- ${result.mode}, ${result.run}: ${result.function ?? ''} of ${result.file ?? ''}, confidence ${(result.confidence ?? 0).toFixed(2)}`));
console.log('\nNo answer:\n');
groups.forEach((list, name) => {
  const none = list.filter(({ score }) => score === undefined).map((result) => `${result.run.split('/')[1]} (${((result.penalty ?? 1) * 100).toFixed(1)} %)`);
  if (none.length > 0) {
    console.log(`- ${name}: ${none.join(', ')}`);
  }
});
console.log('\nBelow 90 % forward or 85 % backward:\n');
results.filter((result) => result.score !== undefined && !isWrong(result)).forEach((result) => {
  const { forward, backward } = result.score ?? {};
  const low = forward.inSet < 0.9 * forward.total || (backward !== undefined && backward.inSet < 0.85 * backward.total);
  if (low) {
    console.log(`- ${result.mode}, ${result.run}: ${result.function ?? ''}, forward ${percent(forward.inSet, forward.total)}, backward ${backward === undefined ? '–' : percent(backward.inSet, backward.total)}`);
  }
});
