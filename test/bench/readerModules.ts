/** What the memory bench runs, as one entry point for the bundler. */
export { ProblemList } from '../../src/engine/profile/problems';
export { readKinetoTrace } from '../../src/engine/readers/kineto';
export { nodeFilePort } from '../../src/node/filePort';
