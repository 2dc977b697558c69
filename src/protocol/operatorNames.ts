/** Operators as people call them: tokens of the operator table are names for machines (`muls`, `fused.swigluGrad`). */
import { MESSAGES, text, type Translate } from './text';

/** Fused kernels and collectives by the names their makers use. */
const PROPER: Readonly<Record<string, string>> = {
  rmsNorm: 'RMSNorm', gatedNorm: 'gated RMSNorm', swiglu: 'SwiGLU', geglu: 'GeGLU', rotary: 'rotary embedding', crossEntropy: 'cross entropy', linearAttention: 'linear attention',
  moePermute: 'MoE permute', moeUnpermute: 'MoE unpermute', groupedMatmul: 'grouped matmul', adamw: 'AdamW', inductor: 'inductor',
  allReduce: 'all-reduce', allGather: 'all-gather', reduceScatter: 'reduce-scatter', allToAll: 'all-to-all', sendRecv: 'send/receive',
};

const TOKEN = /^(?:(fused|comm)\.)?([a-z][A-Za-z0-9]*)$/;

/** `muls` → "multiply by scalar", `fused.swigluGrad` → "SwiGLU backward (fused)", `indexSelect` → `index_select`; what is no token stays as it is. */
export function operatorName(token: string, translate: Translate): string {
  const [, area, name] = TOKEN.exec(token) ?? [];
  if (name === undefined) {
    return token;
  }
  if (`operator.${name}` in MESSAGES) {
    return text(`operator.${name}`, undefined, translate);
  }
  const forward = name.replace(/(?:Backward|Grad)$/, '');
  const plain = PROPER[forward] ?? forward.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const whole = forward === name ? plain : text('operator.backwardOf', { name: plain }, translate);
  return area === 'fused' ? text('operator.fused', { name: whole }, translate) : whole;
}

/** A chain of tokens: `copy copy copy fill` → "3 × copy, fill". */
export function chainOperators(chain: string, translate: Translate): string {
  const tokens = chain.split(' ');
  if (!tokens.every((token) => TOKEN.test(token))) {
    return chain;
  }
  const runs: { readonly name: string; count: number }[] = [];
  for (const token of tokens) {
    const name = operatorName(token, translate);
    const last = runs.at(-1);
    if (last?.name === name) {
      last.count++;
    } else {
      runs.push({ name, count: 1 });
    }
  }
  return runs.map(({ name, count }) => (count === 1 ? name : `${count} × ${name}`)).join(', ');
}
