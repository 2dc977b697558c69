/**
 * Switches that frameworks have of their own: they come before any edit, and are named only where their string stands in
 * the source of the installed version (or of the framework's checkout in the workspace).
 */
import type { FuseBackend } from '../fusions/fusion';
import type { FilePort } from '../port';
import type { ModuleScope } from '../python/program';
import { stringsIn, type Installed } from './installed';

interface KnownSwitch {
  /** Distribution whose version has it, and the package it is imported as. */
  readonly distribution: string;
  readonly folder: string;
  /** Packages whose code it changes. */
  readonly covers: readonly string[];
  readonly fusions: readonly string[];
  readonly backends: readonly FuseBackend[];
  /** Must stand in the package's source. `{model}` is the model's folder in transformers. */
  readonly evidence: string;
  /** What the user sets. */
  readonly setting: string;
  /** `fuse.switch.note.<note>`: what to know before. */
  readonly note?: string;
}

/** A switch that the installed version has. */
export interface FrameworkSwitch {
  readonly distribution: string;
  /** Undefined for a checkout without metadata. */
  readonly version: string | undefined;
  readonly setting: string;
  readonly note: string | undefined;
}

const ALL: readonly FuseBackend[] = ['ascend', 'cuda', 'torch'];
const xtuner = { distribution: 'xtuner', folder: 'xtuner', covers: ['xtuner'] } as const;
const mindSpeed = { distribution: 'mindspeed', folder: 'mindspeed', covers: ['mindspeed', 'megatron', 'mindspeed_llm', 'mindspeed_mm', 'modellink'], backends: ['ascend'] as readonly FuseBackend[] } as const;
const veOmni = { distribution: 'veomni', folder: 'veomni', covers: ['veomni'] } as const;
const transformers = { distribution: 'transformers', folder: 'transformers', covers: ['transformers'] } as const;

const SWITCHES: readonly KnownSwitch[] = [
  { ...xtuner, fusions: ['swiglu'], backends: ['ascend'], evidence: 'XTUNER_NPU_FUSED_SWIGLU', setting: 'XTUNER_NPU_FUSED_SWIGLU=1' },
  { ...xtuner, fusions: ['gated-rms-norm'], backends: ['ascend'], evidence: 'FUSED_GATED_NORM', setting: 'FUSED_GATED_NORM=1' },
  { ...xtuner, fusions: ['rms-norm'], backends: ['cuda'], evidence: 'XTUNER_USE_NATIVE_RMSNORM', setting: 'XTUNER_USE_NATIVE_RMSNORM=1' },
  { ...xtuner, fusions: ['cross-entropy'], backends: ALL, evidence: '"chunk", "liger"', setting: 'loss_cfg.mode = "chunk"', note: 'lm-head' },
  { ...mindSpeed, fusions: ['rms-norm'], evidence: 'use-fused-rmsnorm', setting: '--use-fused-rmsnorm' },
  { ...mindSpeed, fusions: ['swiglu'], evidence: 'use-fused-swiglu', setting: '--use-fused-swiglu' },
  { ...mindSpeed, fusions: ['rope'], evidence: 'use-fused-rotary-pos-emb', setting: '--use-fused-rotary-pos-emb' },
  { ...mindSpeed, fusions: ['moe-permute'], evidence: 'moe-permute-fusion', setting: '--moe-permute-fusion', note: 'cann' },
  { ...mindSpeed, fusions: ['moe-expert-loop'], evidence: 'moe-grouped-gemm', setting: '--moe-grouped-gemm' },
  { ...veOmni, fusions: ['rms-norm', 'zero-centred-rms-norm'], backends: ['ascend'], evidence: 'rms_norm_implementation', setting: 'model.ops_implementation.rms_norm_implementation: npu', note: 'gamma' },
  { ...veOmni, fusions: ['gated-rms-norm'], backends: ['ascend'], evidence: 'rms_norm_gated_implementation', setting: 'model.ops_implementation.rms_norm_gated_implementation: npu' },
  { ...veOmni, fusions: ['rope'], backends: ['ascend'], evidence: 'rotary_pos_emb_implementation', setting: 'model.ops_implementation.rotary_pos_emb_implementation: npu' },
  { ...veOmni, fusions: ['cross-entropy'], backends: ['ascend'], evidence: 'cross_entropy_loss_implementation', setting: 'model.ops_implementation.cross_entropy_loss_implementation: npu', note: 'lm-head' },
  { ...veOmni, fusions: ['moe-expert-loop'], backends: ['ascend'], evidence: 'fused_npu', setting: 'model.ops_implementation.moe_implementation: fused_npu' },
  { ...veOmni, fusions: ['rms-norm'], backends: ['cuda'], evidence: 'rms_norm_implementation', setting: 'model.ops_implementation.rms_norm_implementation: liger_kernel' },
  { ...transformers, fusions: ['attention'], backends: ALL, evidence: 'attn_implementation', setting: 'from_pretrained(…, attn_implementation="sdpa")' },
  { ...transformers, fusions: ['moe-expert-loop'], backends: ALL, evidence: 'experts_implementation', setting: 'from_pretrained(…, experts_implementation="grouped_mm")' },
  { ...transformers, fusions: ['rms-norm', 'zero-centred-rms-norm', 'gated-rms-norm', 'rope', 'causal-conv1d', 'gated-delta-rule'], backends: ['cuda', 'ascend'], evidence: 'use_kernels', setting: 'from_pretrained(…, use_kernels=True)', note: 'hub' },
  { distribution: 'liger-kernel', folder: 'liger_kernel', covers: ['transformers'], fusions: ['rms-norm', 'zero-centred-rms-norm', 'swiglu', 'geglu', 'rope', 'cross-entropy'], backends: ['cuda', 'ascend'], evidence: 'def apply_liger_kernel_to_{model}(', setting: 'apply_liger_kernel_to_{model}()', note: 'before-build' },
];

/** Packages a file's path runs through: the one after site-packages, or any folder of a checkout. */
function packagesOf(file: string): readonly string[] {
  const folders = file.split(/[\\/]/).slice(0, -1);
  const at = Math.max(folders.lastIndexOf('site-packages'), folders.lastIndexOf('dist-packages'));
  return at < 0 ? folders : folders.slice(at + 1, at + 2);
}

const modelOf = (file: string): string => /[\\/]models[\\/](\w+)[\\/][^\\/]+$/.exec(file)?.[1] ?? '';

/** Texts already looked for in a package, so that a folder of model files asks once. */
export type SwitchCache = Map<string, Promise<ReadonlySet<string>>>;

/** Switches for the code of one file, by fusion; `workspace` are indexed files, where a framework may be checked out. */
export async function switchesFor(port: FilePort, file: string, backend: FuseBackend, installed: Installed, workspace: readonly ModuleScope[], cache: SwitchCache = new Map(), signal?: AbortSignal): Promise<ReadonlyMap<string, readonly FrameworkSwitch[]>> {
  const packages = packagesOf(file);
  const model = modelOf(file);
  const found = new Map<string, FrameworkSwitch[]>();
  const wanted = SWITCHES.filter((one) => one.backends.includes(backend) && one.covers.some((covered) => packages.includes(covered)) && (model !== '' || !one.evidence.includes('{model}')));
  for (const one of wanted) {
    const evidence = one.evidence.replace('{model}', model);
    const inWorkspace = workspace.some((scope) => packagesOf(scope.file).includes(one.folder) && scope.text.includes(evidence));
    if (inWorkspace || await isInstalled(port, installed, one.folder, evidence, cache, signal)) {
      const made: FrameworkSwitch = { distribution: one.distribution, version: inWorkspace ? undefined : installed.versions.get(one.distribution), setting: one.setting.replace('{model}', model), note: one.note };
      one.fusions.forEach((fusion) => found.set(fusion, [...(found.get(fusion) ?? []), made]));
    }
  }
  return found;
}

async function isInstalled(port: FilePort, { folders }: Installed, folder: string, evidence: string, cache: SwitchCache, signal: AbortSignal | undefined): Promise<boolean> {
  for (const packages of folders) {
    const at = port.join(packages, folder);
    if ((await port.stat(at))?.kind !== 'folder') {
      continue;
    }
    const shared = SWITCHES.filter((one) => one.folder === folder && !one.evidence.includes('{model}')).map((one) => one.evidence);
    const strings = shared.includes(evidence) ? shared : [evidence];
    const key = `${at}\n${strings.join('\n')}`;
    const known = cache.get(key) ?? stringsIn(port, at, strings, signal);
    cache.set(key, known);
    return (await known).has(evidence);
  }
  return false;
}
