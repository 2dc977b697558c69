import type { Block } from './kernel';

/**
 * Eager norms, kernel by kernel, in the order `q35_npu_old.py` runs them. Durations in the chains are the article's
 * (figure 3C) at 4,096 tokens; lines without one follow the cost model.
 */

/** Zero-centred RMSNorm over the hidden width (or 8 heads of 256, the same size): 10 kernels. */
export function zeroCentredForward(shape = 'T,2048', rows = 'T,1', weight = '2048', share = 1): Block {
  return [
    ['Cast', shape, `${shape}:f`, 25 * share],
    ['Pows', `${shape}:f`, `${shape}:f`, 54 * share],
    ['Mean', `${shape}:f`, `${rows}:f`, 51 * share],
    ['Adds', `${rows}:f`, `${rows}:f`, 8],
    ['Rsqrt', `${rows}:f`, `${rows}:f`, 9],
    ['Mul', `${shape}:f;${rows}:f`, `${shape}:f`, 62 * share],
    ['Cast', weight, `${weight}:f`],
    ['Adds', `${weight}:f`, `${weight}:f`],
    ['Mul', `${shape}:f;${weight}:f`, `${shape}:f`, 53 * share],
    ['Cast', `${shape}:f`, shape, 30 * share],
  ];
}

/** Gated RMSNorm of the linear-attention output: the 11 kernels of figure 3C, 556 µs. */
export function gatedForward(): Block {
  const x = 'T,16,128';
  const rows = 'T,16,1:f';
  return [
    ['Cast', x, `${x}:f`, 32],
    ['Pows', `${x}:f`, `${x}:f`, 39],
    ['Mean', `${x}:f`, rows, 41],
    ['Adds', rows, rows, 8],
    ['Rsqrt', rows, rows, 9],
    ['Mul', `${x}:f;${rows}`, `${x}:f`, 62],
    ['Mul', `${x}:f;128:f`, `${x}:f`, 53],
    ['Cast', x, `${x}:f`, 96],
    ['Silu', `${x}:f`, `${x}:f`, 48],
    ['Mul', `${x}:f;${x}:f`, `${x}:f`, 138],
    ['Cast', `${x}:f`, x, 30],
  ];
}

/** Backward of `h * rsqrt(mean(h²) + eps)`, shared by both norms, from the gradient of the normalised value on. */
function normaliseBackward(shape: string, rows: string): Block {
  return [
    ['Mul', `${shape}:f;${rows}:f`, `${shape}:f`],
    ['Mul', `${shape}:f;${shape}:f`, `${shape}:f`],
    ['Sum', `${shape}:f`, `${rows}:f`],
    ['Pows', `${rows}:f`, `${rows}:f`],
    ['Muls', `${rows}:f`, `${rows}:f`],
    ['Mul', `${rows}:f;${rows}:f`, `${rows}:f`],
    ['Divs', `${rows}:f`, `${rows}:f`],
    ['Muls', `${shape}:f`, `${shape}:f`],
    ['Mul', `${shape}:f;${rows}:f`, `${shape}:f`],
    ['Add', `${shape}:f;${shape}:f`, `${shape}:f`],
    ['Cast', `${shape}:f`, shape],
  ];
}

/** 16 kernels. */
export function zeroCentredBackward(shape = 'T,2048', rows = 'T,1', weight = '2048'): Block {
  return [
    ['Cast', shape, `${shape}:f`],
    ['Mul', `${shape}:f;${weight}:f`, `${shape}:f`],
    ['Mul', `${shape}:f;${shape}:f`, `${shape}:f`],
    ['Sum', `${shape}:f`, `${weight}:f`],
    ['Cast', `${weight}:f`, weight],
    ...normaliseBackward(shape, rows),
  ];
}

/** 19 kernels; the weight is fp32, so its gradient is not cast. */
export function gatedBackward(): Block {
  const x = 'T,16,128';
  return [
    ['Cast', x, `${x}:f`],
    ['Mul', `${x}:f;${x}:f`, `${x}:f`],
    ['Mul', `${x}:f;${x}:f`, `${x}:f`],
    ['SiluGrad', `${x}:f;${x}:f`, `${x}:f`],
    ['Cast', `${x}:f`, x],
    ['Mul', `${x}:f;128:f`, `${x}:f`],
    ['Mul', `${x}:f;${x}:f`, `${x}:f`],
    ['Sum', `${x}:f`, '128:f'],
    ...normaliseBackward(x, 'T,16,1'),
  ];
}
