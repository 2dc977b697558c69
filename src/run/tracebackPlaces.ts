/** Tracebacks of a run as places in local files: paths of a host or a container mapped, equal ones of several ranks put together. */
import * as path from 'node:path';
import { pathParts } from '../protocol/pathTail';
import type { Frame, Traceback } from './tracebacks';
import type { RunSettings } from './runSettings';

/** Paths below `from` (there) lie below `to` (here). `from` is POSIX, without a slash at its end. */
export interface PathRule {
  readonly from: string;
  readonly to: string;
}

export interface PlaceOptions {
  readonly rules: readonly PathRule[];
  /** Folders whose files may be meant by a path that no rule covers, by the tail of it. */
  readonly roots: readonly string[];
  readonly exists: (file: string) => boolean;
}

export interface TracebackPlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly function: string;
  readonly message: string;
  /** Sorted; empty where no rank is known. */
  readonly ranks: readonly number[];
  /** Calls and causes that led there, nearest first, in local files only. */
  readonly related: readonly { readonly file: string; readonly line: number; readonly text: string }[];
}

/** Rules of a run: the container's inside path and the host's folder are both the local folder. `workdir` as the host resolved it, where known. */
export function pathRules(settings: RunSettings, local: string, resolvedWorkdir?: string): readonly PathRule[] {
  const folders = [settings.exec?.path, resolvedWorkdir, settings.workdir].filter((folder): folder is string => folder?.startsWith('/') === true);
  return [...new Set(folders)].map((from) => ({ from: from.length > 1 ? from.replace(/\/+$/, '') : from, to: local }));
}

/** Installed packages have the same file names as the user's code, and are never it. */
const INSTALLED = /(?:^|[\\/])(?:site-packages|dist-packages|lib[\\/]python\d[\d.]*)[\\/]/;

/** The local file of a path as Python printed it; undefined where none is certain. */
export function localFile(file: string, { rules, roots, exists }: PlaceOptions): string | undefined {
  if (file.startsWith('<') || INSTALLED.test(file)) {
    return undefined;
  }
  const parts = pathParts(file);
  if (parts.includes('..') || parts.length === 0) {
    return undefined;
  }
  const absolute = file.startsWith('/') || /^[A-Za-z]:[\\/]/.test(file);
  const ruled = absolute
    ? [...rules].sort((a, b) => b.from.length - a.from.length).filter(({ from }) => file.startsWith(`${from === '/' ? '' : from}/`)).map(({ from, to }) => path.join(to, file.slice(from.length)))
    : [...rules.map(({ to }) => to), ...roots].map((to) => path.join(to, ...parts));
  const known = [...(absolute && roots.some((root) => isInside(file, root)) ? [file] : []), ...ruled].find(exists);
  if (known !== undefined || !absolute) {
    return known;
  }
  // Another mount of the same tree: the longest tail of at least two parts that is here in exactly one place.
  for (let first = 1; first <= parts.length - 2; first++) {
    const found = [...new Set(roots.map((root) => path.join(root, ...parts.slice(first))))].filter(exists);
    if (found.length > 0) {
      return found.length === 1 ? found[0] : undefined;
    }
  }
  return undefined;
}

/**
 * One place for each different exception: its innermost frame in a local file. An exception without such a frame has none; that
 * of torchrun, which only says that another process failed, neither.
 */
export function tracebackPlaces(found: readonly { readonly rank: number | undefined; readonly traceback: Traceback }[], options: PlaceOptions): readonly TracebackPlace[] {
  const places = new Map<string, TracebackPlace>();
  for (const { rank, traceback } of found) {
    if (/\bChildFailedError\b/.test(traceback.message)) {
      continue;
    }
    const place = placeOf(traceback, options);
    if (place === undefined) {
      continue;
    }
    const key = `${place.file}\0${place.line}\0${withoutDigits(place.message)}`;
    const known = places.get(key);
    const ranks = [...new Set([...(known?.ranks ?? []), ...(rank === undefined ? [] : [rank])])].sort((a, b) => a - b);
    places.set(key, { ...(known ?? place), ranks });
  }
  return [...places.values()];
}

function placeOf({ message, frames, causes }: Traceback, options: PlaceOptions): TracebackPlace | undefined {
  const own = local(frames, options);
  const behind = [...causes].reverse().map((cause) => ({ cause, frames: local(cause.frames, options) }));
  // An exception raised again in a library still has its origin in the user's code.
  const [at] = own.length > 0 ? own : behind.find((one) => one.frames.length > 0)?.frames ?? [];
  if (at === undefined) {
    return undefined;
  }
  const calls = own.filter((frame) => frame !== at).map((frame) => ({ file: frame.file, line: frame.line, text: frame.function }));
  const origins = behind.flatMap(({ cause, frames: [frame] }) => (frame === undefined || frame === at ? [] : [{ file: frame.file, line: frame.line, text: cause.message }]));
  return { ...at, message, ranks: [], related: [...origins, ...calls].slice(0, 50) };
}

/** Frames in local files, innermost first. */
function local(frames: readonly Frame[], options: PlaceOptions): readonly Frame[] {
  return [...frames].reverse().flatMap((frame) => {
    const file = localFile(frame.file, options);
    return file === undefined ? [] : [{ ...frame, file }];
  });
}

/** Ranks word the same failure with their own device, address or pid. */
const withoutDigits = (message: string): string => message.replace(/0x[0-9a-fA-F]+|\d+/g, '#');

function isInside(file: string, folder: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== '' && !relative.startsWith('..') && !path.isAbsolute(relative);
}
