/**
 * What an Ascend kernel's name, type and core say about it. Order matters: communication is recognised before anything
 * else (collectives may run on AI_CPU), and fused compute-communication kernels before plain communication.
 */
import { DeviceFlag, EventKind } from '../profile/columns';

/** Fused compute-communication kernels (MC2): their time is compute with communication inside. */
const MIXED = /all_?gather.*mat_?mul|mat_?mul.*(reduce_?scatter|all_?reduce|all_?to_?all)|all_?to_?all.*mat_?mul|moe_?distribute_?(dispatch|combine)/i;

/** `hcom_allReduce__868_0_1`, `HcclAllreduce`, `aiv_all_reduce_…` (collectives on vector cores). */
const COMMUNICATION = /^(hcom_|hccl|aiv_(all|reduce_scatter|broadcast))/i;

/** Cores of communication rows: `HCCL` up to CANN 8.0, `COMMUNICATION` after. */
const COMMUNICATION_CORE = /^(hccl|communication)$/i;

const COPY = /^(memcpy_async|memcpy|memory ?copy|dma_?copy)$/i;
const SET = /^(memset_async|memset)$/i;

export interface KernelClass {
  readonly kind: EventKind;
  readonly flags: number;
}

const COMPUTE: KernelClass = { kind: EventKind.Compute, flags: 0 };
const MIXED_COMPUTE: KernelClass = { kind: EventKind.Compute, flags: DeviceFlag.Mixed };
const COMMUNICATES: KernelClass = { kind: EventKind.Communication, flags: 0 };
const COPIES: KernelClass = { kind: EventKind.Copy, flags: 0 };
const SETS: KernelClass = { kind: EventKind.Set, flags: 0 };

/**
 * The kind of a device event. A kernel named `…_MemSet` of type `MemSet` is a compute kernel (it runs on vector cores and
 * profilers count it as such); only DMA tasks, which carry a task name instead of a kernel name, are copies and sets.
 */
export function classifyKernel(name: string, type: string, core: string): KernelClass {
  if (COMMUNICATION.test(name) || COMMUNICATION_CORE.test(core)) {
    return COMMUNICATES;
  }
  if (MIXED.test(type === '' ? name : type)) {
    return MIXED_COMPUTE;
  }
  if (COMMUNICATION.test(type)) {
    return COMMUNICATES;
  }
  if (COPY.test(name) || COPY.test(core)) {
    return COPIES;
  }
  return SET.test(core) ? SETS : COMPUTE;
}

const ACLNN_NAME = /^aclnn[A-Za-z0-9]+_[A-Za-z0-9]+_([A-Z][A-Za-z0-9]*)$/;
const TRANS_NAME = /^trans_(TransData|Cast)_\d+$/;
const COLLECTIVE_NAME = /^(hcom_[A-Za-z]+_)_/;

/**
 * The operator type where the name proves it, else ''. `aclnn<Api>_<HostFunction>_<OpType>` and `hcom_<operation>__…` do;
 * graph names such as `Conv2D1` do not (`Conv2D` and a counter, or `Conv` and `2D1`?).
 */
export function typeFromName(name: string): string {
  return (ACLNN_NAME.exec(name) ?? TRANS_NAME.exec(name) ?? COLLECTIVE_NAME.exec(name))?.[1] ?? '';
}

/** The group's short number in a collective's name: `hcom_allReduce__868_0_1` → `868`; undefined where there is none. */
export function groupFromName(name: string): string | undefined {
  return /^hcom_[A-Za-z]+__(\d+)_/i.exec(name)?.[1];
}

/**
 * Tasks of the `Ascend Hardware` lane that are no work of their own: events, notifies, placeholders and the inner copies of
 * collectives. They are left out of the kernel table when it is built from the trace.
 */
const BOOKKEEPING_NAME = /^(event_(record|wait|reset)|notify[ _](wait|record)|write[ _]value|profiling_(enable|disable)|sdma|rdma|place_?holder\w*|capture_(record|wait))$/i;
const BOOKKEEPING_TYPE = /^(event_|notify|write[ _]value|place_?holder|profiling_|stream_|model_|capture_|label_|maintenance)/i;

export function isBookkeeping(name: string, taskType: string): boolean {
  return BOOKKEEPING_NAME.test(name) || BOOKKEEPING_TYPE.test(taskType);
}
