import type * as vscode from 'vscode';
import type { CommandContext } from '../commands/context';
import type { EvidenceStore } from '../editor/evidence';
import type { Measurements } from '../editor/measured';
import type { RunDiagnostics } from './runDiagnostics';
import type { Runs } from './runs';

/** What everything about runs works on. */
export interface RunContext {
  readonly runs: Runs;
  readonly diagnostics: RunDiagnostics;
  readonly commands: CommandContext;
  readonly evidence: EvidenceStore;
  readonly measurements: Measurements;
  /** Choices that are remembered for this workspace. */
  readonly memory: vscode.Memento;
}
