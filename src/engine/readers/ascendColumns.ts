/**
 * The one table of header names of kernel tables, over all generations seen: torch_npu `kernel_details.csv` from 2023 to
 * 2026 (with and without Step Id, Device_id, OP State; Block Dim renamed Block Num; eight columns at Level0) and msprof
 * `op_summary_*.csv` / `task_time.csv` under the original names. Names are compared without case, spaces and underscores.
 */

/** Slots a kernel table is read into, in this order. */
export const KERNEL_SLOTS = ['name', 'start', 'duration', 'type', 'core', 'stream', 'device', 'step', 'shapes', 'dtypes'] as const;
export type KernelSlot = (typeof KERNEL_SLOTS)[number];

const ALIASES: Readonly<Record<KernelSlot, readonly string[]>> = {
  name: ['Name', 'Op Name', 'kernel_name'],
  start: ['Start Time(us)', 'Task Start Time(us)', 'task_start(us)', 'Start Time', 'Task Start Time'],
  duration: ['Duration(us)', 'Task Duration(us)', 'task_time(us)', 'Duration', 'Task Duration'],
  type: ['Type', 'OP Type'],
  core: ['Accelerator Core', 'Task Type', 'kernel_type'],
  stream: ['Stream ID'],
  device: ['Device_id', 'Device'],
  step: ['Step Id'],
  shapes: ['Input Shapes'],
  dtypes: ['Input Data Types'],
};

const plain = (name: string): string => name.toLowerCase().replace(/[\s_]/g, '');

const SLOT_OF = new Map(KERNEL_SLOTS.flatMap((slot) => ALIASES[slot].map((alias) => [plain(alias), slot] as const)));

/** The column of each slot, -1 where the header has none; the first of two columns of one meaning wins. */
export function kernelColumns(header: readonly string[]): readonly number[] {
  const columns = new Map<KernelSlot, number>();
  header.forEach((name, column) => {
    const slot = SLOT_OF.get(plain(name));
    if (slot !== undefined && !columns.has(slot)) {
      columns.set(slot, column);
    }
  });
  return KERNEL_SLOTS.map((slot) => columns.get(slot) ?? -1);
}

/** Text in UTF-16 or UTF-32, read as UTF-8: every other byte is zero. */
export function isWideHeader(cells: readonly string[]): boolean {
  return cells.some((cell) => cell.includes('\0'));
}

/** A kernel table needs a name, a start and a duration; all other columns are optional. */
export function isKernelHeader(header: readonly string[]): boolean {
  const columns = kernelColumns(header);
  return KERNEL_SLOTS.every((slot, i) => columns[i] >= 0 || (slot !== 'name' && slot !== 'start' && slot !== 'duration'));
}

/** The current name of a slot, for messages. */
export const columnName = (slot: KernelSlot): string => ALIASES[slot][0];

/** Finds a column of a small table by any of its names; -1 when there is none. */
export function findColumn(header: readonly string[], ...names: readonly string[]): number {
  const wanted = names.map(plain);
  return header.findIndex((name) => wanted.includes(plain(name)));
}
