/**
 * Step and loss in a line of output, as usual trainers print them: transformers (a dict, and tqdm), XTuner and mmengine,
 * Megatron and MindSpeed, Lightning, torchtitan, nanoGPT, and plain `step 3 loss 2.5`. Undefined where nothing is said; a line
 * that only looks like one gives nothing rather than something wrong.
 */
export interface LineProgress {
  readonly step?: number;
  readonly totalSteps?: number;
  readonly loss?: number;
}

/** What is looked at of a line. */
const MAX_LOOKED_AT = 2000;

const NUMBER = String.raw`[-+]?(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})(?:[eE][-+]?\d{1,3})?`;
/** `step: 3`, `Step 3/100`, `'global_step': 3`, `iteration       10/    5000`, `iter 3:`, `steps=3`. */
const STEP = /(?<![\w/-]|per |each |every |warmup )(?:global[ _]?)?(?:steps?|iterations?|iters?)["']?\s{0,8}(?:[:=#]\s{0,8})?["'[]?\s{0,8}(\d{1,10})(?![\d.]*\d?\s?(?:ms|us|s|sec|seconds|%)\b)(?!\.\d)(?:\s{0,8}(?:\/|of)\s{0,8}(\d{1,10}))?/i;
/** mmengine: `Iter(train) [  10/1000]`, `Epoch(train) [1][ 10/100]`. */
const MMENGINE = /\b(?:Iter|Epoch)\(train\)\s{0,8}(?:\[\s{0,8}\d{1,10}\]\s{0,8})?\[\s{0,8}(\d{1,10})\/\s{0,8}(\d{1,10})\]/;
/** tqdm: `Epoch 0:  10%|█         | 10/100 [00:01<00:12,  7.45it/s`. */
const TQDM = /^(.{0,120}?)\d{1,3}%\|[^|]{0,400}\|\s{0,8}(\d{1,10})\/(\d{1,10})\s{0,4}\[/;
/** Bars that count something else than steps. */
const OTHER_BAR = /load|download|shard|map|token|filter|generat|fetch|sav|pack|convert|process|eval|valid|sanity|predict|sampl|file|read|writ/i;
const LOSS = new RegExp(String.raw`(?<![\w/-])(?:lm |train(?:ing)?[ _/]|total[ _]|mean[ _]|avg[ _])?loss["']?\s{0,8}[:=]?\s{0,8}["'\[(]?\s{0,8}(${NUMBER}|[-+]?inf(?:inity)?|nan)(?![\w.])`, 'i');

export function progressOf(line: string): LineProgress | undefined {
  const text = line.length > MAX_LOOKED_AT ? line.slice(0, MAX_LOOKED_AT) : line;
  if (!/\d/.test(text) || /\b(?:eval|validation|val|test)[ _]loss\b|'eval_/i.test(text) || /^\s*File "/.test(text)) {
    return undefined;
  }
  const bar = TQDM.exec(text);
  const steps = (bar === null ? undefined : OTHER_BAR.test(bar[1]) ? undefined : [bar[2], bar[3]]) ?? MMENGINE.exec(text)?.slice(1) ?? STEP.exec(bar === null ? text : '')?.slice(1);
  const loss = LOSS.exec(text)?.[1];
  if (steps === undefined && loss === undefined) {
    return undefined;
  }
  const [step, total] = steps ?? [];
  return {
    ...(step === undefined ? {} : { step: Number(step) }),
    ...(total === undefined || Number(total) < Number(step) ? {} : { totalSteps: Number(total) }),
    ...(loss === undefined ? {} : { loss: lossOf(loss) }),
  };
}

function lossOf(text: string): number {
  const lower = text.toLowerCase();
  return lower.includes('nan') ? NaN : lower.includes('inf') ? (lower.startsWith('-') ? -Infinity : Infinity) : Number(text);
}
