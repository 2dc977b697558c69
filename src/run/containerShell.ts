import { containerKind } from './jobScript';
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

/** The prefix with stdin open: without `-i` these programs give the process an empty one. */
function withInput(container: ContainerSettings): readonly string[] {
  const { prefix } = container;
  const program = prefix.find((word) => /(^|\/)(docker|podman|nerdctl|kubectl|oc)$/.test(word));
  const at = prefix.indexOf('exec');
  if (containerKind(container) !== 'exec' || program === undefined || at < 0 || prefix.some((word) => /^-[a-z]*i[a-z]*$|^--(interactive|stdin)$/.test(word))) {
    return prefix;
  }
  return [...prefix.slice(0, at + 1), '-i', ...prefix.slice(at + 1)];
}
