import * as vscode from 'vscode';
import type { MeasuredFusion } from '../../protocol/measuredFusions';

/** One comparison's word on a fusion, with what was compared. */
export interface Measurement extends MeasuredFusion {
  /** Paths of the two profiles. */
  readonly base: string;
  readonly candidate: string;
  /** When it was measured, in milliseconds. */
  readonly at: number;
}

const KEY = 'fuselens.measured';
const MOST = 100;

/** What fusions really saved, as second profiles proved; the newest word on each counts. Kept for the workspace. */
export class Measurements implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly memory: vscode.Memento) {}

  note(measurements: readonly Measurement[]): void {
    if (measurements.length > 0) {
      void this.memory.update(KEY, [...measurements, ...this.all().filter((one) => !measurements.some((other) => other.fusion === one.fusion && other.base === one.base))].slice(0, MOST));
      this.changed.fire();
    }
  }

  /** The newest word on a fusion since a moment. */
  since(fusion: string, moment: number): Measurement | undefined {
    return this.all().find((one) => one.fusion === fusion && one.at >= moment);
  }

  all(): readonly Measurement[] {
    return this.memory.get<readonly Measurement[]>(KEY, []);
  }

  dispose(): void {
    this.changed.dispose();
  }
}
