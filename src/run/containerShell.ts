import { withInput } from './containerPrefix';
import { quoteWords } from './posix';
import type { ContainerSettings } from './runSettings';
import type { Shell, ShellOptions, ShellResult } from './shell';

/** A shell inside a container that is running (`docker exec`, `podman exec`, `kubectl exec`, …), through the shell of its host. */
export class ContainerShell implements Shell {
  readonly host: string | undefined;

  constructor(private readonly outside: Shell, private readonly container: ContainerSettings) {
    this.host = outside.host;
  }

  run(script: string, options: ShellOptions = {}): Promise<ShellResult> {
    return this.exec(['sh', '-c', script], options);
  }

  exec(argv: readonly string[], options: ShellOptions = {}): Promise<ShellResult> {
    return this.outside.run(`exec ${quoteWords([...withInput(this.container), ...argv])}`, options);
  }

  async dispose(): Promise<void> {
    // The outer shell is somebody else's.
  }
}
