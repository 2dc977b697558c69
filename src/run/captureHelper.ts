import { pythonFolder } from './pythonFolder';
import type { RunFile } from './run';

/** Where the helper lies among the files of a run; this folder goes in front of PYTHONPATH. */
export const HELPER_FOLDER = 'capture';

/** The Python files that travel with a captured run. */
export async function captureHelperFiles(): Promise<readonly RunFile[]> {
  return [...await pythonFolder('capture')].map(([file, content]) => ({ path: `${HELPER_FOLDER}/${file}`, content }));
}
