/** Names cut to a width of screen columns, so that what tells them apart stays visible. */
import { displayWidth } from './displayWidth';

/** Cuts the middle: the head of a kernel name says the template, its tail the types. */
export function shorten(text: string, width: number): string {
  if (displayWidth(text) <= width) {
    return text;
  }
  const characters = [...text];
  const head: string[] = [];
  const tail: string[] = [];
  let left = width - 1;
  let fromHead = true;
  while (characters.length > 0) {
    const next = fromHead ? characters[0] : characters[characters.length - 1];
    const cost = displayWidth(next);
    if (cost > left) {
      break;
    }
    left -= cost;
    if (fromHead) {
      head.push(next);
      characters.shift();
    } else {
      tail.unshift(next);
      characters.pop();
    }
    fromHead = head.length <= tail.length * 2;
  }
  return `${head.join('')}…${tail.join('')}`;
}

/** Characters shown before the first one that differs. */
const BEFORE = 3;
const HEAD_SHARE = 0.3;
const TAIL_SHARE = 0.2;

/**
 * All names of a column at once: those that would look alike with their middles cut show the place where they differ
 * instead. Where even that does not tell them apart (a difference in two far places), they are numbered.
 */
export function shortenApart(names: readonly string[], width: number): readonly string[] {
  const shown = new Map([...new Set(names)].map((name) => [name, shorten(name, width)] as const));
  for (const alike of collisions(shown)) {
    showDifference(alike, width, shown);
  }
  for (const alike of collisions(shown)) {
    alike.forEach((name, i) => shown.set(name, `${shorten(name, Math.max(1, width - displayWidth(` #${i + 1}`)))} #${i + 1}`));
  }
  return names.map((name) => shown.get(name) ?? name);
}

/** Groups of different names that look the same. */
function collisions(shown: ReadonlyMap<string, string>): readonly (readonly string[])[] {
  const groups = new Map<string, string[]>();
  for (const [name, short] of shown) {
    groups.set(short, [...(groups.get(short) ?? []), name]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

function showDifference(names: readonly string[], width: number, shown: Map<string, string>): void {
  const split = names.map((name) => [...name]);
  const [first] = split;
  let common = 0;
  while (common < first.length && split.every((characters) => characters[common] === first[common])) {
    common++;
  }
  const made = new Map(names.map((name, i) => [name, windowed(split[i], common, width)] as const));
  made.forEach((short, name) => shown.set(name, short));
  for (const alike of collisions(made)) {
    // They share what was shown, so the next difference lies further right; without progress they stay as they are.
    if (alike.length < names.length) {
      showDifference(alike, width, shown);
    }
  }
}

/** Head, the characters from `at` on, and the tail, with an ellipsis where something is left out. */
function windowed(characters: readonly string[], at: number, width: number): string {
  const head = take(characters, 0, Math.floor(width * HEAD_SHARE));
  const from = Math.max(head.length, at - BEFORE);
  const lead = from > head.length ? '…' : '';
  const room = width - displayWidth(head.join('')) - lead.length;
  const rest = take(characters, from, room);
  if (from + rest.length >= characters.length) {
    return head.join('') + lead + rest.join('');
  }
  const tail = [...take([...characters].reverse(), 0, Math.floor(width * TAIL_SHARE))].reverse();
  const middle = take(characters, from, room - displayWidth(tail.join('')) - 1);
  return `${head.join('')}${lead}${middle.join('')}…${tail.join('')}`;
}

/** As many characters from `from` on as fit. */
function take(characters: readonly string[], from: number, width: number): readonly string[] {
  let left = width;
  let to = from;
  while (to < characters.length && displayWidth(characters[to]) <= left) {
    left -= displayWidth(characters[to]);
    to++;
  }
  return characters.slice(from, to);
}
