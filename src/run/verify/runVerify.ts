import { constants } from 'node:os';
import type { HelperAnswer, HelperFailed, ProfileShapes, VerifyReport, VerifySubject } from '../../protocol/verify';
import { verifyReport } from '../../engine/verify/verdict';
import { pythonFolder } from '../pythonFolder';
import { modulePlace } from './modulePlace';
import type { PythonOptions, PythonRunner } from './pythonRunner';

/** One subject with what is known of its surroundings. */
export interface VerifyCase {
  readonly subject: VerifySubject;
  readonly profile?: ProfileShapes;
  /** Texts of other modules by path: unsaved documents, or on a host everything the module imports from the workspace. */
  readonly texts?: ReadonlyMap<string, string>;
}

export interface VerifyOptions extends PythonOptions {
  /** Stand-ins may answer for packages that are not installed; the report says so. Default: yes. */
  readonly reference?: boolean;
}

const REQUEST = 'request.json';
/** Of what Python said last. */
const LONGEST_REASON = 300;

/**
 * Runs cases in one Python process and reports on each, in order. Never throws for what Python did: that is a report with a
 * failure. Rejects with `Cancelled` after an abort, with `RunFailure` when the host cannot be reached.
 */
export async function runVerify(cases: readonly VerifyCase[], runner: PythonRunner, options: VerifyOptions): Promise<readonly VerifyReport[]> {
  const request = { reference: options.reference ?? true, cases: cases.map((one, index) => requestOf(one, index, runner.host !== undefined)) };
  const files = new Map([...(await pythonFolder('verify')), [REQUEST, `${JSON.stringify(request)}\n`]]);
  const outcome = await runner.run({ files, script: 'verify.py', args: [REQUEST] }, options);
  const answer = outcome.kind === 'ended' ? answerOf(outcome.stdout) : undefined;
  const whole = answer === undefined ? failureOf(runner, outcome.kind === 'ended' ? outcome : { kind: outcome.kind }, options, cases[0]?.subject.file ?? '') : undefined;
  return cases.map(({ subject, profile }, index) => {
    const ran = answer?.cases[index] ?? { name: '', status: 'failed' as const, code: 'python-stopped', args: { python: runner.python, reason: '' }, ...whole };
    return verifyReport(subject, answer, ran, { ...(runner.host === undefined ? {} : { host: runner.host }), ...(profile?.shapes.x === undefined ? {} : { profileShape: profile.shapes.x }) });
  });
}

function requestOf({ subject, profile, texts }: VerifyCase, index: number, remote: boolean): unknown {
  const { module, root, packageFolder } = modulePlace(subject.file);
  return {
    name: String(index), file: subject.file, function: subject.function, original: subject.original, fused: subject.fused, roles: subject.roles,
    module, package_folder: packageFolder, roots: remote ? [] : [root],
    shapes: profile?.shapes ?? null, dtype: profile?.dtype ?? null,
    overlay: Object.fromEntries([...(texts ?? [])].filter(([file]) => file !== subject.file).map(([file, text]) => [modulePlace(file).module, { file, text }])),
  };
}

function answerOf(stdout: string): HelperAnswer | undefined {
  try {
    // Libraries that write to the descriptor itself come before: our answer is the last line.
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as HelperAnswer;
  } catch {
    return undefined;
  }
}

type Ending = { readonly kind: 'timeout' | 'no-python' } | { readonly kind: 'ended'; readonly exit: number; readonly stderr: string };

/** Killed: by the kernel, for memory, since nobody else does it. */
const KILLED = 137;
/** What a shell and `runChild` add to the number of the signal that ended a program. */
const BY_SIGNAL = 128;

function failureOf({ python, host }: PythonRunner, ending: Ending, { timeoutMs }: VerifyOptions, file: string): Pick<HelperFailed, 'code' | 'args'> {
  switch (ending.kind) {
    case 'timeout': return { code: 'timeout', args: { seconds: String(Math.round(timeoutMs / 1000)) } };
    case 'no-python': return { code: host === undefined ? 'no-python' : 'no-python-there', args: { python, host: host ?? '' } };
    case 'ended': return ending.exit === KILLED ? { code: 'out-of-memory', args: {} } : stopped(python, file, ending.exit, ending.stderr);
  }
}

/** What Python said last is the reason only where it ended by an error: one that the code itself ended says nothing about it. */
function stopped(python: string, file: string, exit: number, stderr: string): Pick<HelperFailed, 'code' | 'args'> {
  const reason = (stderr.trim().split(/\r?\n/).at(-1) ?? '').slice(0, LONGEST_REASON);
  const signal = Object.entries(constants.signals).find(([, number]) => exit === BY_SIGNAL + number)?.[0];
  if (signal !== undefined) {
    return { code: 'python-crashed', args: { python, file, signal } };
  }
  return exit === 1 && reason !== '' ? { code: 'python-stopped', args: { python, reason } } : { code: 'python-ended', args: { python, file, exit: String(exit) } };
}
