import type { StackFrame } from '../../protocol/timeline';
import type { RankData } from '../profile/columns';
import { firstEndingAfter, rowCount } from './lane';
import { timelineIndex } from './timelineIndex';

/** `model/norm.py(29): forward`, as Kineto and torch_npu write Python frames. */
const FRAME = /^(.*?\.pyx?)\((\d+)\):\s*(.*)$/;
/** `File "model/norm.py", line 29, in forward`, as Python writes it. */
const TRACEBACK = /^\s*File "(.+?)", line (\d+), in (.*)$/;

export function parseFrame(text: string): StackFrame {
  const match = FRAME.exec(text) ?? TRACEBACK.exec(text);
  return match === null ? { text } : { text, file: match[1], line: Number(match[2]), function: match[3] };
}

/** A recorded call stack (innermost first, `;` or line breaks between frames) as frames, innermost last. */
export function parseStack(stack: string): readonly StackFrame[] {
  return stack.split(/;\s*|\r?\n/).map((text) => text.trim()).filter((text) => text !== '').map(parseFrame).reverse();
}

/** Python frames open on a thread at a time, outermost first. */
export function framesAt(rank: RankData, thread: number, timeNs: number): readonly StackFrame[] {
  const lane = timelineIndex(rank).laneById.get(`python:${thread}`);
  if (lane === undefined || Number.isNaN(timeNs)) {
    return [];
  }
  const { startNs, durationNs, nameOf } = lane.table;
  const open: number[] = [];
  for (let row = 0; row < rowCount(lane); row++) {
    const position = firstEndingAfter(lane, row, timeNs);
    const event = lane.order[position];
    if (position < lane.rowStart[row + 1] && startNs[event] <= timeNs && startNs[event] + durationNs[event] >= timeNs) {
      open.push(event);
    }
  }
  return open.map((event) => parseFrame(nameOf(event)));
}

/** Frames of a host event: its own recorded stack, else the Python frames around it. */
export function framesOfHostEvent(rank: RankData, index: number): readonly StackFrame[] {
  const { hostEvents, strings } = rank;
  const recorded = parseStack(strings.get(hostEvents.stack[index]));
  return recorded.length > 0 ? recorded : framesAt(rank, hostEvents.thread[index], hostEvents.startNs[index]);
}
