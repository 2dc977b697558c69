/**
 * A C++ kernel name as a person says it: without return type, ATen's namespaces and the argument list, which repeats the
 * template arguments. JSON and CSV keep the name as written.
 */
export function readableName(name: string): string {
  const plain = name.replace(/^void /, '').replace(/\(anonymous namespace\)::/g, '').replace(/\bat::(native|cuda|detail)::/g, '').replace(/\bc10::/g, '');
  const wrapped = functorOf(plain);
  if (wrapped !== undefined) {
    return wrapped;
  }
  if (!plain.endsWith(')')) {
    return plain;
  }
  let depth = 0;
  for (let i = plain.length - 1; i > 0; i--) {
    depth += plain[i] === ')' ? 1 : plain[i] === '(' ? -1 : 0;
    if (depth === 0) {
      return plain.slice(0, i);
    }
  }
  return plain;
}

const WRAPPERS = /^(\w*elementwise\w*|reduce_kernel|multi_tensor_apply_kernel)</;
const FUNCTOR = /\b\w+(?:Functor\w*|_kernel_cuda|_cuda_kernel|_kernel_impl|Ops|_functor|KernelImpl|KernelImplInternal|_scalar)\b/g;
const KERNEL = /\b\w+_kernel\b/g;
/** Functors that only adapt another one. */
const ADAPTERS = /^(gpu_kernel_impl\w*|BinaryFunctor|[AB]UnaryFunctor|gpu_index_kernel)$/;

/** ATen runs hundreds of operators through few wrappers: what is wrapped tells more than the wrapper. */
function functorOf(name: string): string | undefined {
  const wrapper = WRAPPERS.exec(name)?.[1];
  if (wrapper === undefined) {
    return undefined;
  }
  const inside = name.slice(wrapper.length);
  const functor = [FUNCTOR, KERNEL].flatMap((pattern) => [...inside.matchAll(pattern)].map(([found]) => found)).find((found) => !ADAPTERS.test(found));
  return functor === undefined ? undefined : `${wrapper}<… ${functor} …>`;
}
