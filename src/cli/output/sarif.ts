import type { Problem } from '../../protocol/engine';
import { renderProblem, type Translate } from '../../protocol/text';

export interface SarifInput {
  readonly version: string;
  readonly problems: readonly Problem[];
  /** A problem's place as a `file:` URI; undefined when it names no file. */
  readonly uriOf: (where: string) => string | undefined;
}

/**
 * SARIF 2.1.0. Findings become results; what is odd about the input is no flaw in anybody's code, so it is reported as
 * notifications of the run.
 */
export function sarifReport({ version, problems, uriOf }: SarifInput, translate: Translate): string {
  const kinds = [...new Set(problems.map(({ kind }) => kind))];
  const log = {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [{
      tool: { driver: { name: 'FuseLens', semanticVersion: version, rules: [], notifications: kinds.map((id) => ({ id })) } },
      columnKind: 'utf16CodeUnits',
      invocations: [{
        executionSuccessful: true,
        toolExecutionNotifications: problems.map((problem) => {
          const { message, effect } = renderProblem(problem, translate);
          const uri = uriOf(problem.where);
          return {
            descriptor: { id: problem.kind, index: kinds.indexOf(problem.kind) },
            level: problem.severity === 'info' ? 'note' : problem.severity,
            message: { text: effect === '' ? message : `${message} ${effect}` },
            ...(uri === undefined ? {} : { locations: [{ physicalLocation: { artifactLocation: { uri } } }] }),
            properties: { count: problem.count, where: problem.where },
          };
        }),
      }],
      results: [],
    }],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}
