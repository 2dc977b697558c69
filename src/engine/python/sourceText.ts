import type { Module } from './ast';

/**
 * Text of a file and its tree, parsed when first asked for: of a workspace's thousands of files a run touches a few dozen,
 * and a tree takes forty times the memory of its text.
 */
export class SourceText {
  private kept: Module | undefined;
  private glanced: WeakRef<Module> | undefined;

  constructor(readonly text: string, private readonly parse: (text: string) => Module) {}

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
