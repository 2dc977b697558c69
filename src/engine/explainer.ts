/** Explains ranks: keeps the index of the last sources asked for, and the last explanation of each rank. */
import type { Parser } from 'web-tree-sitter';
import { explain, type Explanation } from './attribution/explain';
import { gatherHints } from './attribution/sourceHints';
import { FuseDesk } from './fuse/fuseDesk';
import type { FilePort } from './port';
import type { RankData } from './profile/columns';
import type { SourceHints } from '../protocol/fingerprints';
import type { FuseAnswer, FuseParams } from '../protocol/fuse';
import { SourceIndexer, type IndexOptions, type SourceIndex } from './python/sourceIndex';
import { packageFolders } from './fuse/installed';

export interface ExplainRequest {
  readonly step?: number;
  /** Folders or files with the Python source. */
  readonly sources?: readonly string[];
  /** Text of open documents by path: they hide the disk. */
  readonly overlay?: Readonly<Record<string, string>>;
  /** Prefixes of paths in the run → prefixes here. */
  readonly pathMap?: Readonly<Record<string, string>>;
  /** Trusted workspaces whose `.fuselens/fusions` are read. */
  readonly fusionFolders?: readonly string[];
  /** Packages of an environment that are source too, by the names of their folders; `interpreter` as in `FuseParams`. */
  readonly packages?: { readonly interpreter: string; readonly names: readonly string[] };
  /** What the caller knows of the run; completed by what lies in the source folders. */
  readonly hints?: SourceHints;
}

export interface Explained {
  readonly explanation: Explanation;
  readonly index: SourceIndex | undefined;
}

export class Explainer {
  private indexer: SourceIndexer | undefined;
  private index: { readonly key: string; readonly value: Promise<SourceIndex> } | undefined;
  private readonly explained = new WeakMap<RankData, { readonly key: string; readonly explanation: Explanation; readonly index: SourceIndex | undefined; readonly stacks: RankData | undefined }>();

  private readonly gathered = new WeakMap<SourceIndex, Promise<SourceHints>>();

  private readonly desk: FuseDesk;

  constructor(private readonly port: FilePort, private readonly parser: () => Promise<Parser>) {
    this.desk = new FuseDesk(port, parser);
  }

  /** `stacks`: the same rank of a second capture, with Python stacks. */
  async explain(rank: RankData, request: ExplainRequest, signal?: AbortSignal, stacks?: RankData): Promise<Explained> {
    const index = await this.sources(request, signal);
    const { fusions } = await this.desk.fusions(request.fusionFolders);
    const key = `${request.step ?? ''}|${fusions.map(({ id }) => id).join()}|${JSON.stringify([request.pathMap ?? {}, request.hints ?? {}])}`;
    const known = this.explained.get(rank);
    if (known?.key === key && known.index === index && known.stacks === stacks) {
      return known;
    }
    const hints = index === undefined ? undefined : await this.hints(request, index);
    const explanation = explain(rank, { parser: await this.parser(), fusions, ...(index === undefined ? {} : { sources: index }), ...(request.step === undefined ? {} : { step: request.step }), ...(request.pathMap === undefined ? {} : { pathMap: request.pathMap }), ...(stacks === undefined ? {} : { stacks }), ...(hints === undefined ? {} : { hints }) });
    const made = { key, explanation, index, stacks };
    this.explained.set(rank, made);
    return made;
  }

  /** Hints of the caller before those of the folders; the latter are read once per index. */
  private async hints({ hints = {}, sources = [] }: ExplainRequest, index: SourceIndex): Promise<SourceHints> {
    let gathered = this.gathered.get(index);
    if (gathered === undefined) {
      gathered = gatherHints(this.port, sources, index.scopes);
      this.gathered.set(index, gathered);
    }
    const found = await gathered;
    return { entries: hints.entries ?? found.entries, models: [...hints.models ?? [], ...found.models ?? []], open: hints.open };
  }

  /** Chains without lines: what is known of the rank, else found anew, leaving the index of the sources as it is. */
  async chains(rank: RankData): Promise<Explanation> {
    return this.known(rank) ?? explain(rank, { parser: await this.parser() });
  }

  /** What was last found out about a rank; nothing is computed here. */
  known(rank: RankData): Explanation | undefined {
    return this.explained.get(rank)?.explanation;
  }

  /** What can be fused in one file; the index of the last request serves, since the file's own text is given. */
  async fuse(question: FuseParams, device: string | undefined, signal?: AbortSignal): Promise<FuseAnswer> {
    const index = await (this.index?.value ?? this.sources({ sources: question.sources }, signal));
    return this.desk.answer(question, index, device, signal);
  }

  /** The index for a request; a failed or cancelled one is not kept. */
  private async sources({ sources = [], overlay, packages }: ExplainRequest, signal: AbortSignal | undefined): Promise<SourceIndex | undefined> {
    if (sources.length === 0 && packages === undefined) {
      this.index = undefined;
      return undefined;
    }
    const key = JSON.stringify([sources, packages ?? {}, overlay ?? {}]);
    if (this.index?.key !== key) {
      this.indexer ??= new SourceIndexer(this.port, await this.parser());
      const value = this.indexed(this.indexer, sources, packages, { overlay: new Map(Object.entries(overlay ?? {})), ...(signal === undefined ? {} : { signal }) });
      this.index = { key, value };
      value.catch(() => {
        // Only this one: a newer request may have taken its place.
        if (this.index?.value === value) {
          this.index = undefined;
        }
      });
    }
    return this.index.value;
  }

  /** The workspace first: of equal answers the user's own code is the likelier. */
  private async indexed(indexer: SourceIndexer, sources: readonly string[], packages: ExplainRequest['packages'], options: IndexOptions): Promise<SourceIndex> {
    const folders = packages === undefined ? [] : await packageFolders(this.port, packages.interpreter);
    return indexer.index([...sources, ...folders.flatMap((folder) => packages?.names.filter((name) => /^\w+$/.test(name)).map((name) => this.port.join(folder, name)) ?? [])], options);
  }
}
