import { runCli } from '../runCli';

/** One thing that did not come out as asked, as a sentence in the editor's language. */
export interface InspectedFinding {
  readonly severity: 'info' | 'warning' | 'error';
  readonly message: string;
}

export interface Inspected {
  /** What to open; undefined when nothing was recorded. */
  readonly profile: string | undefined;
  readonly findings: readonly InspectedFinding[];
}

/** Looks through the output folder of a capture, in a process of its own: it reads every rank. */
export async function inspectFolder(extensionPath: string, folder: string): Promise<Inspected> {
  const { stdout, lastWords } = await runCli(extensionPath, ['inspect', folder, '--json']);
  try {
    const { profile, findings } = JSON.parse(stdout) as { readonly profile: string | null; readonly findings: readonly InspectedFinding[] };
    return { profile: profile ?? undefined, findings };
  } catch {
    return { profile: undefined, findings: [{ severity: 'error', message: lastWords }] };
  }
}
