/** Type-checks every project of the repository: Node code and tests, webviews, tests of webviews. */
import { spawnSync } from 'node:child_process';
import * as path from 'node:path';
import { root } from './environment.mjs';

const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
const failed = ['.', 'webview', 'test/webview'].filter(project => spawnSync(process.execPath, [tsc, '-p', project], { cwd: root, stdio: 'inherit' }).status !== 0);
process.exitCode = failed.length > 0 ? 1 : 0;
