import { openShell, type Shell } from './shell';
import type { RunTools } from './tools';

/** The shells of this session, one a host, opened when first asked for. */
export class Hosts {
  private readonly shells = new Map<string, Shell>();

  constructor(readonly tools: RunTools = {}) {}

  /** A shell on a host; undefined is this machine. */
  shell(host: string | undefined): Shell {
    const key = host ?? '';
    const known = this.shells.get(key);
    if (known !== undefined) {
      return known;
    }
    const shell = openShell(host, this.tools);
    this.shells.set(key, shell);
    return shell;
  }

  /** Closes shared connections; runs go on. */
  async dispose(): Promise<void> {
    const shells = [...this.shells.values()];
    this.shells.clear();
    await Promise.all(shells.map((shell) => shell.dispose()));
  }
}
