/**
 * Event categories of all eras (2020: `Kernel`, `Operator`, `Runtime`; now: `kernel`, `cpu_op`, `cuda_runtime`), compared
 * without regard to case. Unknown ones are kept as other host events, never refused.
 */
import { HostKind } from '../profile/columns';

export const Category = { Kernel: 0, Copy: 1, Set: 2, Operator: 3, Runtime: 4, Python: 5, Annotation: 6, Other: 7, ForwardFlow: 8, LaunchFlow: 9 } as const;
export type Category = (typeof Category)[keyof typeof Category];

export function categoryOf(text: string): Category {
  const name = text.toLowerCase();
  switch (name) {
    case 'kernel':
      return Category.Kernel;
    case 'gpu_memcpy': case 'memcpy':
      return Category.Copy;
    case 'gpu_memset': case 'memset':
      return Category.Set;
    case 'cpu_op': case 'operator':
      return Category.Operator;
    case 'python_function':
      return Category.Python;
    case 'user_annotation':
      return Category.Annotation;
    case 'fwdbwd':
      return Category.ForwardFlow;
    case 'ac2g': case 'async': case 'async_gpu': case 'async_cpu_to_gpu':
      return Category.LaunchFlow;
    case 'runtime': case 'driver':
      return Category.Runtime;
    default:
      // cuda_runtime (HIP calls, too), cuda_driver, xpu_runtime, mtia_runtime, privateuse1_runtime …
      return /_(?:runtime|driver)$/.test(name) ? Category.Runtime : Category.Other;
  }
}

/** Host kind of each category; device categories do not occur. */
export const HOST_KIND: readonly HostKind[] = [
  HostKind.Other, HostKind.Other, HostKind.Other, HostKind.Operator, HostKind.Runtime, HostKind.Python, HostKind.Annotation, HostKind.Other, HostKind.Other, HostKind.Other,
];

/** Ranges that the 2020-2021 writers filed under `Operator`. */
export const RANGE_NAME = /^(?:ProfilerStep[#*]|Optimizer\.|enumerate\(DataLoader\)#|DataParallel\.|DistributedDataParallel\.)/;

/** TRUTH.md: communication = name contains nccl or rccl. */
export const COMMUNICATION_NAME = /[nr]ccl/i;
