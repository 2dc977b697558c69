/**
 * Files of a run, found in the workspace. A run in a container or on another host names paths of its own: the setting comes
 * first, then the same path, then the longest tail whose content fits. A file that fits by its place and not by its content
 * was changed since the run, and is marked.
 */
import type { FrameText } from '../links/frames';
import { commonTail, mappedPath, pathParts } from '../../protocol/pathTail';
import type { ClassDefinition, FunctionDefinition, Statement } from '../python/ast';
import { LineIndex } from '../python/lineIndex';
import type { ModuleScope } from '../python/program';
import type { SourceIndex } from '../python/sourceIndex';

/** A frame's function in the workspace. */
export interface WorkspaceFunction {
  readonly scope: ModuleScope;
  readonly definition: FunctionDefinition;
  readonly owner: ClassDefinition | undefined;
}

/** Prefixes of paths in the run → prefixes here. */
export type PathMap = Readonly<Record<string, string>>;

export type FramePlace =
  /** The function stands where the frame says. */
  | { readonly kind: 'found'; readonly scope: ModuleScope; readonly found: WorkspaceFunction }
  /** The file is there; its content is not what ran. `line`: where a function of that name begins now, else the recorded one. */
  | { readonly kind: 'changed'; readonly scope: ModuleScope; readonly line: number }
  /** Several files fit equally. */
  | { readonly kind: 'ambiguous'; readonly scopes: readonly ModuleScope[] }
  | { readonly kind: 'elsewhere' };

/** So many parts of a tail in common name a file for sure, whatever stands in it. */
const SURE_TAIL = 3;

export class PathMapping {
  private readonly byName = new Map<string, ModuleScope[]>();
  private readonly known = new Map<string, FramePlace>();

  constructor(index: SourceIndex, private readonly map: PathMap = {}) {
    for (const scope of index.scopes) {
      const name = pathParts(scope.file).at(-1) ?? '';
      const same = this.byName.get(name);
      if (same === undefined) {
        this.byName.set(name, [scope]);
      } else {
        same.push(scope);
      }
    }
  }

  /** Where a frame lies here. `running`: its line is the one that ran, not that of the `def`. */
  place(frame: FrameText, running = false): FramePlace {
    const key = `${running ? 'running' : 'entered'}:${frame.line}:${frame.function}\0${frame.file}`;
    let place = this.known.get(key);
    if (place === undefined) {
      place = this.placed(frame, running);
      this.known.set(key, place);
    }
    return place;
  }

  /** Recorded files that several files of the workspace fit, with those; only among frames asked for so far. */
  ambiguous(): ReadonlyMap<string, readonly string[]> {
    const files = new Map<string, readonly string[]>();
    for (const [key, place] of this.known) {
      if (place.kind === 'ambiguous') {
        files.set(key.slice(key.indexOf('\0') + 1), place.scopes.map(({ file }) => file));
      }
    }
    return files;
  }

  private placed(frame: FrameText, running: boolean): FramePlace {
    const wanted = pathParts(frame.file);
    const named = this.byName.get(wanted.at(-1) ?? '') ?? [];
    const mapped = mappedPath(frame.file, this.map);
    const exact = named.find(({ file }) => file === frame.file || file === mapped);
    if (exact !== undefined) {
      const found = functionAt(exact, frame, running);
      return found === undefined ? changed(exact, frame, running) : { kind: 'found', scope: exact, found };
    }
    // One part is enough only for a path that has no more.
    const fitting = named.map((scope): Fitting => ({ scope, tail: commonTail(pathParts(scope.file), wanted), found: functionAt(scope, frame, running) })).filter(({ tail }) => tail >= Math.min(2, wanted.length));
    const [right, ...others] = longest(fitting.filter(({ found }) => found !== undefined));
    if (right?.found !== undefined) {
      return others.length > 0 ? ambiguous([right, ...others]) : { kind: 'found', scope: right.scope, found: right.found };
    }
    const near = longest(fitting.filter(({ scope, tail }) => (tail >= SURE_TAIL || tail >= pathParts(scope.name.replaceAll('.', '/')).length) && functionNamed(scope, frame) !== undefined));
    return near.length === 0 ? { kind: 'elsewhere' } : near.length > 1 ? ambiguous(near) : changed(near[0].scope, frame, running);
  }
}

/** A file of the frame's name, with what its path has in common with the frame's. */
interface Fitting {
  readonly scope: ModuleScope;
  readonly tail: number;
  readonly found: WorkspaceFunction | undefined;
}

function longest(fitting: readonly Fitting[]): readonly Fitting[] {
  const most = fitting.reduce((longer, { tail }) => Math.max(longer, tail), 0);
  return fitting.filter(({ tail }) => tail === most);
}

const ambiguous = (fitting: readonly Fitting[]): FramePlace => ({ kind: 'ambiguous', scopes: fitting.map(({ scope }) => scope) });

function changed(scope: ModuleScope, frame: FrameText, running: boolean): FramePlace {
  const now = running ? undefined : functionNamed(scope, frame);
  return { kind: 'changed', scope, line: now === undefined ? frame.line : new LineIndex(scope.text).line(now.definition.nameSpan.start) };
}

/** The frame's line is that of the `def`, or of its first decorator; one that was running lies anywhere in the function. */
function functionAt(scope: ModuleScope, frame: FrameText, running: boolean): WorkspaceFunction | undefined {
  const lines = new LineIndex(scope.text);
  return functionsNamed(scope, frame).find(({ definition }) => {
    const first = Math.min(lines.line(definition.start), ...definition.decorators.map((decorator) => lines.line(decorator.start)));
    return frame.line >= first && frame.line <= lines.line(running ? definition.end - 1 : definition.nameSpan.start);
  });
}

/** The only function of that name, wherever it begins. */
function functionNamed(scope: ModuleScope, frame: FrameText): WorkspaceFunction | undefined {
  const all = functionsNamed(scope, frame);
  return all.length === 1 ? all[0] : undefined;
}

function functionsNamed(scope: ModuleScope, frame: FrameText): readonly WorkspaceFunction[] {
  const name = frame.function.split('.').pop();
  const found: WorkspaceFunction[] = [];
  const pending: { readonly body: readonly Statement[]; readonly owner: ClassDefinition | undefined }[] = [{ body: scope.module.body, owner: undefined }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const statement of next.body) {
      if (statement.kind === 'class') {
        pending.push({ body: statement.body, owner: statement });
      } else if (statement.kind === 'if') {
        pending.push({ body: statement.then, owner: next.owner }, { body: statement.otherwise, owner: next.owner });
      } else if (statement.kind === 'function') {
        if (statement.name === name) {
          found.push({ scope, definition: statement, owner: next.owner });
        }
        pending.push({ body: statement.body, owner: undefined });
      }
    }
  }
  return found;
}
