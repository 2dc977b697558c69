import { pythonParser } from '../../src/node/pythonParser';

/** The parser that worker and command use; tests share one. */
export const testParser = pythonParser;
