import type { Module } from './ast';

/**
 * Text of a file and its tree, parsed when first asked for: of a workspace's thousands of files a run touches a few dozen,
 * and a tree takes forty times the memory of its text.
 */
export class SourceText {
  private kept: Module | undefined;
  private glanced: WeakRef<Module> | undefined;

  constructor(readonly text: string, private readonly parse: (text: string) => Module) {}

  /** Tells texts apart between sessions: two FNV-1a hashes of different offsets, and the length. */
  get key(): string {
    let [low, high] = [0x811c9dc5, 0x01000193];
    for (let i = 0; i < this.text.length; i++) {
      const unit = this.text.charCodeAt(i);
      low = Math.imul(low ^ unit, 0x01000193);
      high = Math.imul(high ^ unit, 0x5bd1e995);
    }
    return `${(low >>> 0).toString(36)}-${(high >>> 0).toString(36)}-${this.text.length}`;
  }

  get module(): Module {
    this.kept ??= this.glance();
    return this.kept;
  }

  /** The tree for one look: it is kept only while memory is plenty. */
  glance(): Module {
    const known = this.kept ?? this.glanced?.deref();
    if (known !== undefined) {
      return known;
    }
    const module = this.parse(this.text);
    this.glanced = new WeakRef(module);
    return module;
  }
}
