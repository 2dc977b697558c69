import type { Parser } from 'web-tree-sitter';
import type { FuseAnswer, FuseEntry, FuseParams } from '../../protocol/fuse';
import { FUSIONS } from '../fusions';
import { FUSE_BACKENDS, type Fusion } from '../fusions/fusion';
import { readWorkspaceFusions, type WorkspaceFusions } from '../fusions/workspaceFusions';
import type { FilePort } from '../port';
import { ModuleSet, type ModuleScope } from '../python/program';
import { scopeOf, type SourceIndex } from '../python/sourceIndex';
import { text } from '../../protocol/text';
import { fuseAll } from './fuseAll';
import { packageFolders, readInstalled, sitePackagesOf, type Installed } from './installed';
import { installedModuleName, patchModule } from './patchModule';
import { mergedEdits, type FusePlan } from './plan';
import { planFusions } from './planFusions';
import { switchesFor, type SwitchCache } from './switches';

const NONE: readonly Fusion[] = [];

/** Answers what can be fused in a file; keeps what it learnt of installed packages and of the workspace's own fusions. */
export class FuseDesk {
  private readonly installed = new Map<string, Promise<Installed>>();
  private readonly switches: SwitchCache = new Map();
  private own: { readonly key: string; readonly value: Promise<WorkspaceFusions> } | undefined;

  constructor(private readonly port: FilePort, private readonly parser: () => Promise<Parser>) {}

  /** The workspace's own fusions, read again when one of their files changed. */
  async fusions(folders: readonly string[] | undefined): Promise<WorkspaceFusions> {
    if (folders === undefined || folders.length === 0) {
      return { fusions: NONE, problems: [], empty: [] };
    }
    const stamps = await Promise.all(folders.map(async (folder) => {
      const at = this.port.join(folder, '.fuselens', 'fusions');
      const files = (await this.port.list(at)).filter(({ name }) => name.endsWith('.json'));
      return Promise.all(files.map(async ({ name }) => [at, name, (await this.port.stat(this.port.join(at, name)))?.mtimeMs]));
    }));
    const key = JSON.stringify(stamps);
    if (this.own?.key !== key) {
      const parser = await this.parser();
      this.own = { key, value: readWorkspaceFusions(this.port, folders, parser, FUSIONS.map(({ id }) => id)) };
    }
    return this.own.value;
  }

  /** Plans for the text as it is now, beside the indexed rest of the workspace; `device` is the profile's. */
  async answer(question: FuseParams, index: SourceIndex | undefined, device: string | undefined, signal?: AbortSignal): Promise<FuseAnswer> {
    const { file, sources, places } = question;
    const parser = await this.parser();
    const root = folderOf(file, sources);
    const inWorkspace = folderOf(file, question.workspace ?? sources) !== undefined && sitePackagesOf(file) === undefined;
    const scope = scopeOf(file, root ?? sitePackagesOf(file) ?? '', question.text, parser);
    const others = (index?.scopes ?? []).filter((other) => other.file !== file);
    const backend = FUSE_BACKENDS.find((known) => known === (question.backend ?? device)) ?? 'torch';
    const installed = await this.installedFor(question);
    const { fusions, problems } = await this.fusions(question.fusionFolders);
    const switches = await switchesFor(this.port, file, backend, installed, index?.scopes ?? [], this.switches, signal);
    const planned = (edited: ModuleScope, own: boolean): readonly FusePlan[] => planFusions(edited, new ModuleSet([...others, edited]), backend, parser, { inWorkspace: own, installed, switches, fusions, allow: question.allow ?? [] })
      .filter((plan) => places?.some((place) => place.fusion === plan.fusion.id && place.startLine <= plan.endLine && plan.startLine <= place.endLine) !== false);
    const plans = planned(scope, inWorkspace);
    const { edits, used } = mergedEdits(plans.filter(({ status }) => status === 'fixable'));
    const patch = question.patchDigest === undefined || inWorkspace ? undefined : this.patch(scope, question.patchDigest, installed, (edited) => planFusions(edited, new ModuleSet([...others, edited]), backend, parser, { inWorkspace: true, installed, fusions, allow: question.allow ?? [] }), parser);
    return { entries: plans.map(entryOf), together: { edits, count: used.length }, problems, ...(patch === undefined ? {} : { patch }) };
  }

  private patch(scope: ModuleScope, digest: string, installed: Installed, planned: (scope: ModuleScope) => readonly FusePlan[], parser: Parser): FuseAnswer['patch'] {
    const moduleName = installedModuleName(scope.file);
    if (moduleName === undefined) {
      return undefined;
    }
    const { scope: edited, used } = fuseAll(scope, planned(scope), (changed) => scopeOf(scope.file, sitePackagesOf(scope.file) ?? '', changed, parser), planned);
    return used.length === 0 ? undefined : patchModule({ original: scope, edited, moduleName, installed: versionOf(moduleName, installed), digest, promises: promisesOf(used) });
  }

  private installedFor({ file, interpreter }: FuseParams): Promise<Installed> {
    const beside = sitePackagesOf(file);
    const key = `${beside ?? ''}\n${interpreter ?? ''}`;
    const known = this.installed.get(key) ?? (async () => {
      const folders = interpreter === undefined ? [] : await packageFolders(this.port, interpreter);
      return readInstalled(this.port, beside === undefined ? folders : [beside, ...folders.filter((folder) => folder !== beside)]);
    })();
    this.installed.set(key, known);
    return known;
  }
}

/** The folder that a file lies in, by whole path segments. */
function folderOf(file: string, folders: readonly string[]): string | undefined {
  return folders.find((folder) => file === folder || file.startsWith(/[\\/]$/.test(folder) ? folder : `${folder}/`) || file.startsWith(`${folder}\\`));
}

/** `transformers 5.24.0` for a module of it; undefined where the version is not known. */
export function versionOf(moduleName: string, installed: Installed): string | undefined {
  const [top] = moduleName.split('.');
  const version = installed.versions.get(top.toLowerCase().replaceAll('_', '-'));
  return version === undefined ? undefined : `${top} ${version}`;
}

/** What is promised of the numbers, in English: it goes into a Python file. */
export const promisesOf = (plans: readonly FusePlan[]): readonly string[] => [...new Set(plans.flatMap(({ promise }) => (promise === undefined ? [] : [text(`fuse.promise.${promise}`)])))];

function entryOf(plan: FusePlan): FuseEntry {
  return {
    fusion: plan.fusion.id, startLine: plan.startLine, endLine: plan.endLine, status: plan.status, reason: plan.reason, reasonPlace: plan.reasonPlace, remedy: plan.remedy, promise: plan.promise, replacement: plan.replacement, edits: plan.edits,
    requires: plan.requires, requirementMet: plan.requirementMet, cautions: plan.cautions, switches: plan.switches, note: plan.fusion.note === '' ? undefined : plan.fusion.note, patchable: plan.patch.length > 0,
  };
}
