import type { Module } from './ast';

/**
 * Text of a file and its tree, parsed when first asked for: of a workspace's thousands of files a run touches a few dozen,
 * and a tree takes forty times the memory of its text.
 */
export class SourceText {
  private kept: Module | undefined;

  constructor(readonly text: string, private readonly parse: (text: string) => Module) {}

  get module(): Module {
    this.kept ??= this.parse(this.text);
    return this.kept;
  }
}
