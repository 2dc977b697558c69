import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import type { ExtensionApi } from '../../src/host/api';

export async function extensionApi(): Promise<ExtensionApi> {
  const extension = vscode.extensions.getExtension<ExtensionApi>('fuselens.fuselens');
  assert.ok(extension, 'the extension is not installed');
  return extension.activate();
}

/** A folder that goes away with the tests of one suite. */
export function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fuselens-suite-'));
  after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A Kineto trace of one rank: three kernels on one stream inside one step, each with its launch. */
export function writeTrace(file: string, rank = 0): string {
  const event = (cat: string, name: string, ts: number, dur: number, tid: number, args: object): object => ({ ph: 'X', cat, name, pid: cat === 'kernel' ? 0 : 77, tid, ts, dur, args });
  const kernels = [['gemm', 10, 40], ['add', 60, 12.5], ['layer_norm', 80, 7.25]] as const;
  const traceEvents = [
    event('user_annotation', 'ProfilerStep#5', 0, 100, 77, {}),
    ...kernels.flatMap(([name, ts, dur], i) => [
      event('cuda_runtime', 'cudaLaunchKernel', ts - 5, 2, 77, { correlation: i + 1 }),
      event('kernel', `${name}_kernel`, ts, dur, 7, { device: 0, stream: 7, correlation: i + 1 }),
    ]),
  ];
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, JSON.stringify({ schemaVersion: 1, distributedInfo: { backend: 'nccl', rank, world_size: 2 }, deviceProperties: [{ id: 0, name: 'GPU' }], traceEvents }));
  return file;
}

/** A folder with a trace of rank 0 and one of rank 1. */
export function writeTwoRanks(folder: string): string {
  writeTrace(path.join(folder, 'worker0.pt.trace.json'), 0);
  writeTrace(path.join(folder, 'worker1.pt.trace.json'), 1);
  return folder;
}

/** Waits until something holds; the last value is in the message when it never does. */
export async function eventually<T>(what: string, read: () => T | Promise<T>, holds: (value: T) => boolean, withinMs = 20000): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await read();
    if (holds(value)) {
      return value;
    }
    if (Date.now() > deadline) {
      assert.fail(`${what}: not within ${withinMs} ms; last seen ${JSON.stringify(value)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export async function closeEverything(api: ExtensionApi): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  for (const { path: file } of api.profiles()) {
    api.closeProfile(file);
  }
}
