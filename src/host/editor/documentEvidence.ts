import type * as vscode from 'vscode';
import { commonTail, pathParts } from '../../protocol/pathTail';
import type { FingerprintEntry, FingerprintSourceEntry, LineCost } from '../../protocol/fingerprints';
import type { Evidence } from './evidence';

/** One chain in a document: its phases together, since one edit changes them all. */
export interface DocumentChain {
  readonly fusion: string | null;
  readonly title: string;
  readonly kind: FingerprintEntry['kind'];
  readonly startLine: number;
  readonly endLine: number;
  readonly source: FingerprintSourceEntry;
  /** Forward first. */
  readonly phases: readonly FingerprintEntry[];
  readonly occurrences: number;
  readonly totalUs: number;
  readonly recoverableUs: readonly [number, number];
  /** Chains of no name on the same lines: their backward pass, which is no fusion of its own. */
  readonly besideUs: number;
}

export interface DocumentEvidence {
  readonly chains: readonly DocumentChain[];
  readonly lines: readonly LineCost[];
}

/** What the evidence says about one document. */
export function documentEvidence({ data }: Evidence, uri: vscode.Uri): DocumentEvidence {
  const path = uri.fsPath;
  const groups = new Map<string, { readonly source: FingerprintSourceEntry; readonly entries: FingerprintEntry[] }>();
  for (const entry of data.fingerprints) {
    for (const source of entry.source) {
      if (!samePlace(source.file, path)) {
        continue;
      }
      const key = `${entry.fusion ?? entry.id}:${source.startLine}:${source.endLine}`;
      const group = groups.get(key) ?? { source, entries: [] };
      groups.set(key, group);
      group.entries.push(entry);
    }
  }
  const chains = [...groups.values()].map(({ source, entries }): DocumentChain => {
    const sum = (value: (entry: FingerprintEntry) => number): number => entries.reduce((total, entry) => total + value(entry) * shareOf(entry, source), 0);
    const [first] = entries;
    return {
      fusion: first.fusion, title: first.title, kind: first.kind, startLine: source.startLine, endLine: source.endLine, source, phases: [...entries].sort((a, b) => PHASES.indexOf(a.phase) - PHASES.indexOf(b.phase)),
      besideUs: 0, occurrences: Math.round(sum((entry) => entry.occurrences)), totalUs: sum((entry) => entry.totalUs), recoverableUs: [sum((entry) => entry.recoverableDeviceUs[0]), sum((entry) => entry.recoverableDeviceUs[1])],
    };
  });
  return { chains: withoutCovered(chains).sort((a, b) => a.startLine - b.startLine || b.totalUs - a.totalUs), lines: data.lines.filter((line) => samePlace(line.file, path)) };
}

/** A chain without a name that lies on the lines of a named one is counted there. */
function withoutCovered(chains: readonly DocumentChain[]): DocumentChain[] {
  const named = chains.filter(({ fusion }) => fusion !== null);
  const covers = (outer: DocumentChain, inner: DocumentChain): boolean => outer.startLine <= inner.startLine && inner.endLine <= outer.endLine;
  const unnamed = chains.filter(({ fusion }) => fusion === null);
  return [
    ...named.map((chain) => ({ ...chain, besideUs: unnamed.filter((other) => covers(chain, other)).reduce((sum, { totalUs }) => sum + totalUs, 0) })),
    ...unnamed.filter((chain) => !named.some((other) => covers(other, chain))),
  ];
}

const PHASES = ['forward', 'recompute', 'backward', 'optimizer', 'unknown'];

/** A chain that runs from several functions counts at each with its own share. */
function shareOf(entry: FingerprintEntry, source: FingerprintSourceEntry): number {
  const own = entry.source.find((other) => other.file === source.file && other.startLine === source.startLine);
  return own === undefined || entry.occurrences === 0 ? 1 : own.occurrences / entry.occurrences;
}

/**
 * Whether a path of the profile is this document. Paths from stacks are cut at `sys.path`, or come from another machine:
 * at least two parts of the tail must agree then.
 */
export function samePlace(profilePath: string, documentPath: string): boolean {
  if (profilePath === documentPath) {
    return true;
  }
  const wanted = pathParts(profilePath);
  const depth = commonTail(wanted, pathParts(documentPath));
  return depth === wanted.length ? depth >= 1 && !isAbsolute(profilePath) : depth >= 2;
}

const isAbsolute = (file: string): boolean => file.startsWith('/') || /^[A-Za-z]:/.test(file);
