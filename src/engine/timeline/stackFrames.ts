import type { StackFrame } from '../../protocol/timeline';
import { framesOf, isUserFile, operatorsOf, parseFrame, splitCallStack } from '../links/frames';
import type { RankData } from '../profile/columns';

/** A frame's text with its place, where it names one. */
export function stackFrame(text: string): StackFrame {
  const place = parseFrame(text);
  return place === undefined ? { text, isUser: false } : { text, ...place, isUser: isUserFile(place.file) };
}

/** Python frames round a host event, innermost last; else the call stack its operator recorded; else none. */
export function framesOfHostEvent(rank: RankData, index: number): readonly StackFrame[] {
  const { hostEvents, strings } = rank;
  const python = framesOf(rank, index);
  if (python.length > 0) {
    return python.map((frame) => stackFrame(strings.get(hostEvents.name[frame])));
  }
  const operator = hostEvents.stack[index] !== 0 ? index : operatorsOf(rank).findEnclosing(hostEvents.thread[index], hostEvents.startNs[index], (row) => hostEvents.stack[row] !== 0);
  return operator < 0 ? [] : splitCallStack(strings.get(hostEvents.stack[operator])).map(stackFrame).reverse();
}
