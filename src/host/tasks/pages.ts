import * as vscode from 'vscode';

const SCHEME = 'fuselens-page';
/** Pages kept for tabs that are open. */
const MOST = 50;

const pages = new Map<string, string>();

/** Serves pages of text that lie in no file: nothing to save, and nothing is asked when they are closed. */
export const registerPages = (): vscode.Disposable => vscode.workspace.registerTextDocumentContentProvider(SCHEME, { provideTextDocumentContent: (uri) => pages.get(uri.toString()) ?? '' });

/** Shows a page; its name ends in what tells the language, as in `a.md`. */
export async function showPage(name: string, content: string): Promise<vscode.TextDocument> {
  const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${Date.now()}/${name.replace(/[\\/]/g, '_')}` });
  pages.set(uri.toString(), content);
  for (const old of [...pages.keys()].slice(0, -MOST)) {
    pages.delete(old);
  }
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document, { preview: false });
  return document;
}
