/** What the trace benches measure, as one entry point for the bundler. */
export { ProblemList } from '../../src/engine/profile/problems';
export { readKinetoTrace } from '../../src/engine/readers/kineto';
export { TraceScanner } from '../../src/engine/readers/traceScanner';
export { nodeFilePort } from '../../src/node/filePort';
