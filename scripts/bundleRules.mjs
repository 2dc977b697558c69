/**
 * Which source may end up in which bundle. The extension host loads `dist/extension.js` at activation, so that file must
 * carry neither the engine (it lives in the worker) nor browser code.
 */

/** Engine files that are only small constants or contracts; the host may use their values. */
export const ENGINE_ALLOWED = new Set(['src/engine/profile/problems.ts', 'src/engine/port.ts']);

/**
 * Problems of one output of esbuild's metafile, as sentences; empty when all is well.
 * @param {{ outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> }} metafile
 * @param {string} output such as `dist/extension.js`
 * @returns {string[]}
 */
export function mainBundleProblems(metafile, output) {
  const inputs = Object.entries(metafile.outputs[output]?.inputs ?? {});
  const problems = [];
  for (const [file, { bytesInOutput }] of inputs) {
    if (bytesInOutput === 0) {
      continue;
    }
    if (file.startsWith('src/engine/') && !ENGINE_ALLOWED.has(file)) {
      problems.push(`${output} contains ${file}: the engine belongs to the worker; use "import type" or ask the worker.`);
    }
    if (file.startsWith('webview/')) {
      problems.push(`${output} contains ${file}: browser code belongs to the webview bundles.`);
    }
  }
  return problems;
}

/**
 * Names of the npm packages inside the outputs, sorted.
 * @param {{ outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> }[]} metafiles
 * @returns {string[]}
 */
export function bundledPackages(metafiles) {
  const names = new Set();
  for (const { outputs } of metafiles) {
    for (const { inputs } of Object.values(outputs)) {
      for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
        const match = bytesInOutput > 0 ? /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(file) : undefined;
        if (match) {
          names.add(match[1]);
        }
      }
    }
  }
  return [...names].sort();
}
