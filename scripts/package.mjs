/** Makes `fuselens-<version>.vsix`, prints its size, and fails when it holds anything beyond what runs or grows over 4 MB. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ensureDependencies, root } from './environment.mjs';

const LIMIT_MB = 4;
/** The whole of what may be inside `extension/`. */
const ALLOWED = [
  /^package\.json$/, /^package\.nls(\.[a-z-]+)?\.json$/, /^l10n\/bundle\.l10n\.[a-z-]+\.json$/, /^(readme|changelog)\.md$/i, /^license(\.txt|\.md)?$/i,
  /^dist\/(extension|worker|cli)\.js$/, /^dist\/webview\/[a-z]+\.(js|css)$/, /^dist\/codicons\/codicon\.(css|ttf)$/, /^dist\/[a-z0-9-]+\.wasm$/, /^dist\/THIRD_PARTY_NOTICES\.txt$/,
  /^media\/[A-Za-z0-9/-]+\.(svg|png)$/, /^media\/walkthrough\/[A-Za-z0-9/.-]+\.md$/, /^media\/python\/[A-Za-z0-9_/]+\.py$/,
];

function run(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}

/** The marketplace page shows the README, but the pictures stay in the repository. */
function readmeWithoutPictures() {
  const text = fs.readFileSync(path.join(root, 'README.md'), 'utf8').replace(/^!\[.*\n?/gm, '').replace(/\n{3,}/g, '\n\n');
  fs.mkdirSync(path.join(root, 'dist-test'), { recursive: true });
  fs.writeFileSync(path.join(root, 'dist-test/README.md'), text);
  return 'dist-test/README.md';
}

/** Names and sizes from a zip's central directory. */
function listZip(file) {
  const bytes = fs.readFileSync(file);
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  const entries = [];
  for (let at = bytes.readUInt32LE(end + 16), left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map(offset => bytes.readUInt16LE(at + offset));
    entries.push({ name: bytes.toString('utf8', at + 46, at + 46 + nameLength), packed: bytes.readUInt32LE(at + 20) });
    at += 46 + nameLength + extraLength + commentLength;
  }
  return entries;
}

if (!ensureDependencies()) {
  process.exit(1);
}
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
const vsix = path.join(root, `fuselens-${version}.vsix`);
run(process.execPath, ['esbuild.mjs', '--production']);
run(process.execPath, [
  'node_modules/@vscode/vsce/vsce', 'package', '--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links',
  '--readme-path', readmeWithoutPictures(), '--out', vsix,
]);
const files = listZip(vsix).filter(({ name }) => name.startsWith('extension/') && !name.endsWith('/')).map(({ name, packed }) => ({ name: name.slice('extension/'.length), packed }));
const strangers = files.filter(({ name }) => !ALLOWED.some(pattern => pattern.test(name)));
const size = fs.statSync(vsix).size / 1e6;
for (const { name, packed } of [...files].sort((a, b) => b.packed - a.packed).slice(0, 8)) {
  console.log(`  ${(packed / 1024).toFixed(0).padStart(6)} kB  ${name}`);
}
console.log(`package: ${path.basename(vsix)} ${size.toFixed(2)} MB, ${files.length} files (limit ${LIMIT_MB} MB)`);
if (strangers.length > 0) {
  console.error(`package: these files do not run and must stay out: ${strangers.map(({ name }) => name).join(', ')}`);
}
if (size > LIMIT_MB) {
  console.error(`package: larger than ${LIMIT_MB} MB`);
}
process.exitCode = strangers.length > 0 || size > LIMIT_MB ? 1 : 0;
