/** Type-checks every project of the repository: Node code and its tests, webviews, and what needs both Node and the DOM. */
import { spawnSync } from 'node:child_process';
import * as path from 'node:path';
import { root } from './environment.mjs';

const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
const failed = ['.', 'webview', 'test/bench'].filter(project => {
  // What has not changed since the last run is not checked again.
  const kept = path.join(root, 'node_modules/.cache/types', `${project.replace(/\W/g, '_')}.json`);
  return spawnSync(process.execPath, [tsc, '-p', project, '--incremental', '--tsBuildInfoFile', kept], { cwd: root, stdio: 'inherit' }).status !== 0;
});
process.exitCode = failed.length > 0 ? 1 : 0;
