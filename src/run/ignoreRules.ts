import ignore, { type Ignore } from 'ignore';

/** What no run needs: repositories, caches, environments. A rule with `!` brings one back. */
const ALWAYS = ['.git/', '.hg/', '.svn/', '__pycache__/', '*.pyc', '.mypy_cache/', '.pytest_cache/', '.ruff_cache/', '.ipynb_checkpoints/', 'node_modules/', '.venv/', 'venv/', '.DS_Store', '.vscode/', '.idea/', '.*.fuselens-part'];

/**
 * Rules as git reads them: those of deeper folders win over those above, and nothing inside an ignored folder can be brought back.
 * Made for one walk; folders are told from the top down.
 */
export class IgnoreRules {
  private readonly byFolder = new Map<string, Ignore>();
  private readonly last: Ignore;

  /** `extra` rules stand at the top and have the last word. */
  constructor(extra: readonly string[] = []) {
    this.byFolder.set('', ignore().add(ALWAYS));
    this.last = ignore().add([...extra]);
  }

  /** Adds the text of an ignore file of `folder` (relative, `''` is the top). */
  add(folder: string, text: string): void {
    const rules = this.byFolder.get(folder) ?? ignore();
    this.byFolder.set(folder, rules.add(text));
  }

  /** `path` is relative with `/`; its folder must not be ignored itself. */
  ignores(path: string, isFolder: boolean): boolean {
    let ignored = false;
    const parts = path.split('/');
    for (let depth = 0; depth < parts.length; depth++) {
      const rules = this.byFolder.get(parts.slice(0, depth).join('/'));
      if (rules !== undefined) {
        ignored = decide(rules, parts.slice(depth).join('/'), isFolder, ignored);
      }
    }
    return decide(this.last, path, isFolder, ignored);
  }
}

function decide(rules: Ignore, path: string, isFolder: boolean, before: boolean): boolean {
  // A file may be called `..` something, which the library takes for a way out of the folder.
  if (!ignore.isPathValid(path)) {
    return before;
  }
  const { ignored, unignored } = rules.test(isFolder ? `${path}/` : path);
  return ignored ? true : unignored ? false : before;
}
