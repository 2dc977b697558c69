/** Finding and recognising chains: 20,000 kernels in 300 ms, 1,000,000 in 5 s, cost growing no faster than n log n. */
import { fingerprints } from '../../src/engine/chains/fingerprints';
import { deviceBuilder, noHostEvents } from '../../src/engine/profile/builders';
import type { RankData } from '../../src/engine/profile/columns';
import { StringTable } from '../../src/engine/profile/strings';
import { pythonParser } from '../../src/node/pythonParser';
import type { BenchRow } from './main';

/** A layer with two norms, attention, rotary embedding and SwiGLU, as Ascend names its kernels. */
const LAYER = [
  ...['Cast_CastAiCore_Cast', 'PowTensorScalar_PowsAiCore_Pows', 'Mean_ReduceMeanAiCore_ReduceMean', 'Adds_AddAiCore_Add', 'Rsqrt_RsqrtAiCore_Rsqrt', 'Mul_MulAiCore_Mul', 'Cast_CastAiCore_Cast', 'Mul_MulAiCore_Mul'],
  ...['Matmul_MatMulV3Common_MatMulV3', 'Matmul_MatMulV3Common_MatMulV3', 'Mul_MulAiCore_Mul', 'Neg_NegAiCore_Neg', 'Cat_ConcatD_ConcatD', 'Mul_MulAiCore_Mul', 'Add_AddAiCore_Add', 'Mul_SliceAiCore_Slice'],
  ...['FlashAttentionScore_FlashAttentionScore_FlashAttentionScore', 'Matmul_MatMulV3Common_MatMulV3', 'Add_AddAiCore_Add'],
  ...['Matmul_MatMulV3Common_MatMulV3', 'Silu_SiluAiCore_Swish', 'Matmul_MatMulV3Common_MatMulV3', 'Mul_MulAiCore_Mul', 'Matmul_MatMulV3Common_MatMulV3', 'Add_AddAiCore_Add'],
];

function rankOf(kernels: number): RankData {
  const strings = new StringTable();
  const builder = deviceBuilder(kernels);
  for (let i = 0; i < kernels; i++) {
    const row = builder.add();
    const name = `aclnn${LAYER[i % LAYER.length]}`;
    builder.columns.startNs[row] = i * 20_000;
    builder.columns.durationNs[row] = 10_000 + ((i * 7919) % 9000);
    builder.columns.name[row] = strings.intern(name);
    builder.columns.type[row] = strings.intern(name.slice(name.lastIndexOf('_') + 1));
  }
  const none = { kind: 'none' } as const;
  return {
    backend: 'ascend', rank: 0, device: '0', host: undefined, baseNs: 0n, strings, deviceEvents: builder.finish(), hostEvents: noHostEvents(), streams: [{ device: 0, stream: '2', label: 'Stream 2' }], threads: [], steps: [],
    coverage: { kernels: true, stepIds: false, streams: true, shapes: false, types: true, hostOperators: false, launches: false, pythonFrames: false, callStacks: false },
    detailSource: none, deviceDetailSource: none, tables: [], memory: [], communication: [], links: [], facts: {},
  };
}

export async function run({ smoke }: { readonly smoke: boolean }): Promise<readonly BenchRow[]> {
  const parser = await pythonParser();
  const time = (kernels: number): number => {
    const rank = rankOf(kernels);
    let best = Infinity;
    for (let round = 0; round < (smoke ? 1 : 4); round++) {
      const began = performance.now();
      fingerprints(rank, parser);
      best = Math.min(best, performance.now() - began);
    }
    return best;
  };
  // Warm: the catalogue's snippets are lowered once in a process.
  time(2_000);
  const small = time(smoke ? 2_000 : 20_000);
  const large = time(smoke ? 20_000 : 1_000_000);
  const sizes = smoke ? [2_000, 20_000] : [20_000, 1_000_000];
  const allowed = (sizes[1] * Math.log2(sizes[1])) / (sizes[0] * Math.log2(sizes[0]));
  return [
    { name: `chains of ${sizes[0]} kernels`, value: small, unit: 'ms', target: 300, atMost: true },
    { name: `chains of ${sizes[1]} kernels`, value: large, unit: 'ms', target: 5000, atMost: true },
    { name: 'growth against n log n', value: large / small / allowed, unit: '×', target: 1.5, atMost: true },
  ];
}
