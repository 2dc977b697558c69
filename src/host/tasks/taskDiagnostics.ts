import * as vscode from 'vscode';
import { checkRunSettings } from '../../run/checkRunSettings';
import { placeOfSetting, writtenTasks } from '../../run/tasksJson';
import { sentenceOf } from '../sentences';

/**
 * Combinations in tasks.json that no schema can tell: the file's own validation knows types and names, this knows what goes
 * together. Only of tasks.json files that are open.
 */
export function taskDiagnostics(): vscode.Disposable {
  const collection = vscode.languages.createDiagnosticCollection('fuselens-tasks');
  const update = (document: vscode.TextDocument): void => {
    if (isTasksJson(document)) {
      collection.set(document.uri, diagnosticsOf(document));
    }
  };
  vscode.workspace.textDocuments.forEach(update);
  return vscode.Disposable.from(
    collection, vscode.workspace.onDidOpenTextDocument(update), vscode.workspace.onDidChangeTextDocument(({ document }) => update(document)),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => collection.delete(uri)),
  );
}

const isTasksJson = ({ uri, languageId }: vscode.TextDocument): boolean => uri.path.endsWith('/.vscode/tasks.json') && (languageId === 'jsonc' || languageId === 'json');

function diagnosticsOf(document: vscode.TextDocument): readonly vscode.Diagnostic[] {
  const text = document.getText();
  return writtenTasks(text).flatMap(({ index, definition }) => {
    const checked = checkRunSettings(definition);
    return checked.ok ? [] : checked.problems.flatMap((problem) => {
      const place = placeOfSetting(text, index, problem.path);
      if (place === undefined) {
        return [];
      }
      const diagnostic = new vscode.Diagnostic(new vscode.Range(document.positionAt(place.offset), document.positionAt(place.offset + place.length)), sentenceOf(problem), vscode.DiagnosticSeverity.Error);
      diagnostic.source = 'FuseLens';
      return [diagnostic];
    });
  });
}
