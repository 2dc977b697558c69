/** Large traces for the benches: a shared real one repeated in time, and the made-up one of the 2 GB recipe. */
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';

/** Events of a real trace, repeated (later in time each time) until the text is over `bytes`. */
export function repeatedTrace(file: string, bytes: number): Buffer {
  const raw = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(raw) : raw).toString('latin1');
  const open = text.indexOf('[', text.indexOf('"traceEvents"'));
  // The last `]` of the file closes the events in every writer's output.
  const close = text.lastIndexOf(']');
  const events = text.slice(open + 1, close);
  const times = [...events.matchAll(/"ts": ?(\d+)/g)].map(match => Number(match[1])).filter(time => time > 0);
  const span = 1000 + times.reduce((most, time) => Math.max(most, time), 0) - times.reduce((least, time) => Math.min(least, time), Infinity);
  const parts = [text.slice(0, open + 1), events];
  let length = text.length;
  for (let round = 1; length < bytes; round++) {
    const later = events.replaceAll(/("ts": ?)(\d+)/g, (_whole, key: string, time: string) => `${key}${Number(time) === 0 ? 0 : Number(time) + round * Math.ceil(span)}`);
    parts.push(',', later);
    length += later.length + 1;
  }
  parts.push(text.slice(close));
  return Buffer.from(parts.join(''), 'latin1');
}

/** The step of the recipe in `g01-two-gigabytes`: one ProfilerStep, Python frames, three operators, launches and kernels. */
function stepText(n: number): string {
  const ts = 1_000_000 + 400 * n;
  const event = (fields: Readonly<Record<string, unknown>>): string => JSON.stringify(fields);
  const host = { pid: 4242, tid: 4242 };
  const lines = [
    event({ ph: 'X', cat: 'user_annotation', name: `ProfilerStep#${n}`, ...host, ts, dur: 390, args: { 'External id': 3 * n, 'Ev Idx': n } }),
    event({ ph: 'X', cat: 'python_function', name: 'train.py(42): step', ...host, ts: ts + 1, dur: 380, args: { 'Python parent id': null, 'Python id': 4 * n + 1, 'Ev Idx': n } }),
  ];
  const kernels = ['my_gemm_nt', 'my_bias_gelu', 'my_layernorm'];
  const operators = ['aten::linear', 'aten::gelu', 'aten::layer_norm'];
  for (let k = 0; k < 3; k++) {
    const id = 3 * n + k + 1;
    const at = ts + 8 + 100 * k;
    lines.push(
      event({ ph: 'X', cat: 'cpu_op', name: operators[k], ...host, ts: at + 2, dur: 50, args: { 'External id': id, 'Ev Idx': id } }),
      event({ ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', ...host, ts: at + 12, dur: 5, args: { 'External id': id, cbid: 211, correlation: id } }),
      event({ ph: 'X', cat: 'kernel', name: kernels[k], pid: 0, tid: 7, ts: at + 32, dur: [40, 12.5, 7.25][k], args: { 'External id': id, device: 0, context: 1, stream: 7, correlation: id, grid: [8, 1, 1], block: [128, 1, 1] } }),
    );
  }
  lines.push(event({ ph: 's', id: 3 * n + 1, ...host, ts: ts + 20, cat: 'ac2g', name: 'ac2g' }));
  return lines.join(',\n');
}

/** Writes the recipe's trace of at least `bytes` without ever holding it; returns its steps (three kernels each). */
export async function writeLargeTrace(file: string, bytes: number): Promise<number> {
  const out = createWriteStream(file);
  let written = 0;
  let steps = 0;
  const write = async (text: string): Promise<void> => {
    written += text.length;
    if (!out.write(text, 'latin1')) {
      await once(out, 'drain');
    }
  };
  await write('{"schemaVersion":1,"traceEvents":[\n');
  while (written < bytes) {
    const parts: string[] = [];
    for (let i = 0; i < 200; i++) {
      parts.push((steps > 0 ? ',\n' : '') + stepText(steps));
      steps++;
    }
    await write(parts.join(''));
  }
  await write('\n]}\n');
  out.end();
  await once(out, 'finish');
  return steps;
}
