import type { EventDetail } from '../../protocol/timeline';
import type { Explanation } from './explain';

/** A kernel's details with what alignment knows of it: its chain, and its line where no stack was recorded. */
export function locatedDetail(detail: EventDetail | null, explanation: Explanation | undefined): EventDetail | null {
  if (detail === null || explanation === undefined || detail.side !== 'device') {
    return detail;
  }
  const chain = explanation.fingerprints[explanation.chainOf[detail.index]]?.fingerprint;
  const origin = explanation.origins[explanation.originOf[detail.index]];
  const withChain = chain === undefined ? detail : { ...detail, chain: chain.fusion?.id ?? '' };
  if (origin === undefined || detail.frames.length > 0) {
    return withChain;
  }
  const frame = { text: `${origin.file}(${origin.startLine}): ${origin.function}`, file: origin.file, line: origin.startLine, isUser: true };
  return { ...withChain, frames: [frame], framesFrom: origin.backward ? 'forward' : 'self', ...(origin.method === 'carried' ? { carriedShare: origin.confidence } : { alignedConfidence: origin.confidence }) };
}
