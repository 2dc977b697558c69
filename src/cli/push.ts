import path from 'node:path';
import { visibleText } from '../protocol/visibleText';
import { text } from '../protocol/text';
import { planPush, push, type PushPlan } from '../run/push';
import { pushedFolder } from '../run/run';
import { parseCommand } from './commandLine';
import { ExitCode } from './exitCode';
import { UsageError, type CommandContext } from './io';
import { withHosts } from './runTools';

const OPTIONS = { host: { type: 'string' }, to: { type: 'string' }, ignore: { type: 'string', multiple: true }, 'dry-run': { type: 'boolean' }, json: { type: 'boolean' }, lang: { type: 'string' } } as const;

/** Files named one by one; more are only counted. */
const SHOWN = 20;

/** `fuselens push [DIR] --host HOST`: sends sources; `--dry-run` only says which. Nothing is ever deleted there. */
export async function pushCommand(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const command = parseCommand(args, OPTIONS);
  const [folder = '.', ...more] = command.positionals;
  const host = command.value('host');
  if (host === undefined || more.length > 0) {
    throw new UsageError('cli.usage.push', { option: more.join(' ') });
  }
  return withHosts(context, async (hosts) => {
    const from = path.resolve(folder);
    const options = { shell: hosts.shell(host), tools: hosts.tools, from, to: command.value('to') ?? pushedFolder(from), ignore: command.values('ignore'), signal: context.io.signal };
    const plan = await planPush(options);
    if (!command.flag('dry-run')) {
      await push(options, plan);
    }
    await context.io.out(command.flag('json') ? `${JSON.stringify(plan, undefined, 2)}\n` : planLines(plan, host, context));
    return ExitCode.Done;
  });
}

export function planLines(plan: PushPlan, host: string, { translate }: CommandContext): string {
  const { files } = plan;
  const size = (bytes: number): string => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
  const more = files.length - SHOWN;
  return [
    text('run.push-plan', { count: files.length, size: size(plan.bytes), host, folder: plan.to, unchanged: plan.unchanged }, translate),
    ...files.slice(0, SHOWN).map(({ path: name, why, newerThere, bytes }) => `  ${why === 'new' ? '+' : newerThere === true ? '!' : '~'} ${name} (${size(bytes)})`),
    ...(more > 0 ? [`  … ${more}`] : []),
    ...(files.some(({ newerThere }) => newerThere === true) ? [text('run.push-newer', { count: files.filter(({ newerThere }) => newerThere === true).length, host }, translate)] : []),
    ...plan.overLimit.map(({ path: name, bytes }) => text('run.push-large', { file: name, size: size(bytes) }, translate)),
    ...plan.notFiles.slice(0, SHOWN).map(({ path: name, why }) => text(`run.push-${why}`, { file: visibleText(name) }, translate)),
    ...(plan.notFiles.length > SHOWN ? [`  … ${plan.notFiles.length - SHOWN}`] : []), '',
  ].join('\n');
}
