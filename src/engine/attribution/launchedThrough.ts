/**
 * Kernels that no line launches one by one: those of a recorded graph, which belong to the call that replays it (the capture
 * itself lies before the recording), and those of a compiled region, which belong to the function that was compiled.
 */
import { cudaToken } from '../operators/kernelToken';
import { operatorsOf, parseFrame } from '../links/frames';
import { sourceOf, sourceOfHost, type KernelSource } from '../links/source';
import { DeviceFlag, type RankData } from '../profile/columns';
import type { ModuleScope } from '../python/program';
import { LineIndex } from '../python/lineIndex';
import type { FunctionDefinition } from '../python/ast';
import type { PathMapping } from './pathMapping';

export type Through = 'replay' | 'compiled';

/** Operators that stand for a compiled function as a whole. */
const REGION = /^(Torch-Compiled Region\b|CompiledFunction(Backward)?$|## Call CompiledFxGraph )/;

export interface LaunchedThrough {
  readonly through: Through | undefined;
  /** Frames round the launch, or round the replay. */
  readonly source: KernelSource | undefined;
  /** Frames round the compiled region, where there is one: those inside it are the compiler's. */
  readonly region?: KernelSource;
}

export class ThroughReader {
  private readonly regionNames = new Map<number, boolean>();
  private readonly generated = new Map<number, boolean>();

  constructor(private readonly rank: RankData) {}

  of(event: number): LaunchedThrough {
    const { deviceEvents: events } = this.rank;
    if ((events.flags[event] & DeviceFlag.GraphReplay) !== 0) {
      return { through: 'replay', source: sourceOf(this.rank, event) };
    }
    const at = events.launch[event] >= 0 ? events.launch[event] : events.op[event];
    const row = at < 0 ? -1 : this.regionRound(at);
    const source = sourceOf(this.rank, event);
    if (row < 0) {
      return { through: this.isGenerated(event) ? 'compiled' : undefined, source };
    }
    const region = sourceOfHost(this.rank, row);
    return { through: 'compiled', source, ...(region === undefined ? {} : { region }) };
  }

  /** The outermost region: one compiled function may call another. */
  private regionRound(row: number): number {
    const { hostEvents: host, strings } = this.rank;
    return operatorsOf(this.rank).enclosing(host.thread[row], host.startNs[row]).find((op) => {
      let is = this.regionNames.get(host.name[op]);
      if (is === undefined) {
        is = REGION.test(strings.get(host.name[op]));
        this.regionNames.set(host.name[op], is);
      }
      return is;
    }) ?? -1;
  }

  private isGenerated(event: number): boolean {
    const name = this.rank.deviceEvents.name[event];
    let is = this.generated.get(name);
    if (is === undefined) {
      is = cudaToken(this.rank.strings.get(name)).op === 'fused.inductor';
      this.generated.set(name, is);
    }
    return is;
  }
}

export interface CompiledRange {
  readonly file: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly function: string;
}

/**
 * The range of the function that was compiled, where the workspace has it. A compiled module has no frame of its own, but its
 * `nn.Module: Name_0` stands right outside the region: the `forward` of its class, where one file alone has such a class. Else
 * the function whose frame is round the region. Undefined when neither is in the workspace: then the recorded frame stays.
 */
export function compiledRange(rank: RankData, source: KernelSource, scopes: readonly ModuleScope[], paths: PathMapping): CompiledRange | undefined {
  const { hostEvents: host, strings } = rank;
  const module = source.modules[source.modules.length - 1];
  if (module !== undefined && !(source.innermostUser >= 0 && host.startNs[module] < host.startNs[source.innermostUser])) {
    const name = strings.get(host.name[module]).replace(/^nn\.Module: /, '').replace(/_\d+$/, '');
    const found = scopes.flatMap((scope) => {
      // The text is asked first: reading the names of a file parses it.
      const top = new RegExp(`\\bclass ${name.replace(/\W/g, '')}\\b`).test(scope.text) ? scope.names.get(name) : undefined;
      const forward = top?.kind === 'class' ? top.definition.body.find((statement): statement is FunctionDefinition => statement.kind === 'function' && statement.name === 'forward') : undefined;
      return forward === undefined ? [] : [rangeOf(scope, forward, `${name}.forward`)];
    });
    if (found.length === 1) {
      return found[0];
    }
  }
  const frame = source.innermostUser < 0 ? undefined : parseFrame(strings.get(host.name[source.innermostUser]));
  const place = frame === undefined ? undefined : paths.place(frame);
  return place?.kind === 'found' && frame !== undefined ? rangeOf(place.scope, place.found.definition, frame.function) : undefined;
}

function rangeOf(scope: ModuleScope, definition: FunctionDefinition, name: string): CompiledRange {
  const lines = new LineIndex(scope.text);
  return { file: scope.file, startLine: lines.line(definition.start), endLine: lines.line(Math.max(definition.start, definition.end - 1)), function: name };
}
