import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import type { ViewKind } from '../../protocol/webview';

/**
 * The page of a view: script and styles from `dist/` only, through `asWebviewUri`, so that it works under Remote-SSH.
 * The codicon sheet must have that id, the toolkit's icons look it up.
 */
export function viewHtml(webview: vscode.Webview, extensionUri: vscode.Uri, view: ViewKind | 'compare'): string {
  const nonce = randomBytes(16).toString('base64');
  const dist = (...parts: string[]): string => webview.asWebviewUri(vscode.Uri.joinPath(extensionUri, 'dist', ...parts)).toString();
  const policy = [
    `default-src 'none'`,
    `img-src ${webview.cspSource} data:`,
    `font-src ${webview.cspSource}`,
    `style-src ${webview.cspSource} 'unsafe-inline'`,
    `script-src 'nonce-${nonce}'`,
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <link rel="stylesheet" href="${dist('codicons', 'codicon.css')}" id="vscode-codicon-stylesheet">
  <link rel="stylesheet" href="${dist('webview', `${view}.css`)}">
  <title>FuseLens</title>
</head>
<body data-view="${view}">
  <script nonce="${nonce}" src="${dist('webview', `${view}.js`)}"></script>
</body>
</html>`;
}
