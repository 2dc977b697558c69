/**
 * One measurement in a process of its own, as one entry point for the bundler, `rounds` times over a file: `columns` (JSON to
 * columns, arguments located), `rank` (the same, sorted, linked, with steps), `scan` (nothing kept) or `parse` (JSON.parse). In a process that also ran JSON.parse on the same bytes the reader would meet its heap and its
 * optimiser's leftovers, which it never does in its worker. Prints the fastest and the first round, MB/s, and the events.
 */
import { readFileSync, statSync } from 'node:fs';
import { ProblemList } from '../../src/engine/profile/problems';
import { readKinetoTrace } from '../../src/engine/readers/kineto';
import { KinetoCollector } from '../../src/engine/readers/kinetoCollector';
import { TraceClock } from '../../src/engine/readers/traceClock';
import { scanTrace, TraceScanner } from '../../src/engine/readers/traceScanner';
import { nodeFilePort } from '../../src/node/filePort';

export interface Speeds {
  readonly best: number;
  readonly first: number;
  readonly events: number;
}

const port = nodeFilePort();

const SUBJECTS: Readonly<Record<string, (file: string) => Promise<number>>> = {
  columns: async (file) => {
    const size = statSync(file).size;
    let read = 0;
    // As the reader does: columns are sized by how much of the file they have taken so far.
    const collector = new KinetoCollector(new TraceClock(), () => read / size);
    const { events } = await scanTrace(port.stream(file, { chunkSize: 1 << 20 }), collector, {
      onChunk: (_offset, chunk) => {
        read += chunk.length;
      },
    });
    return events;
  },
  rank: async (file) => Number((await readKinetoTrace({ port, problems: new ProblemList() }, file)).facts['events']),
  scan: async (file) => {
    let events = 0;
    const scanner = new TraceScanner({ event: () => void events++ });
    for await (const chunk of port.stream(file, { chunkSize: 1 << 20 })) {
      scanner.push(chunk);
    }
    scanner.finish();
    return events;
  },
  parse: (file) => Promise.resolve((JSON.parse(readFileSync(file).toString('utf8')) as { readonly traceEvents: readonly unknown[] }).traceEvents.length),
};

async function main(subject: string, file: string, rounds: number): Promise<void> {
  const megabytes = statSync(file).size / 1e6;
  const speeds: number[] = [];
  let events = 0;
  for (let round = 0; round < rounds; round++) {
    // JSON.parse starts each round with a clean heap. The reader has to pay for its own garbage: a collection by force would make V8 forget
    // the shapes of objects of which none is left, and with them the compiled code, which a worker that reads rank after rank keeps.
    if (subject === 'parse') {
      (globalThis as { gc?: () => void }).gc?.();
    }
    const start = performance.now();
    events = await SUBJECTS[subject](file);
    speeds.push(megabytes / ((performance.now() - start) / 1000));
  }
  console.log(JSON.stringify({ best: Math.max(...speeds), first: speeds[0], events } satisfies Speeds));
}

void main(process.argv[2], process.argv[3], Number(process.argv[4]));
