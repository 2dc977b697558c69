import { parseArgs, type ParseArgsConfig } from 'node:util';
import { UsageError } from './io';

type Options = NonNullable<ParseArgsConfig['options']>;

export interface ParsedCommand {
  readonly positionals: readonly string[];
  readonly flag: (name: string) => boolean;
  readonly value: (name: string) => string | undefined;
  readonly values: (name: string) => readonly string[];
}

/** Parses one command's arguments; whatever does not fit becomes a `UsageError` that names it. */
export function parseCommand(args: readonly string[], options: Options): ParsedCommand {
  const all: Options = { help: { type: 'boolean', short: 'h' }, ...options };
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...args], options: all, allowPositionals: true, strict: true });
  } catch (error) {
    throw usageError(error);
  }
  const { values, positionals } = parsed;
  // `--rank "$RANK"` with the variable unset: no rank is meant, and no file either.
  const empty = Object.entries(values).find(([, value]) => [value].flat().includes(''));
  if (empty !== undefined) {
    throw new UsageError('cli.usage.option-value', { option: `--${empty[0]}` });
  }
  return {
    positionals: positionals.filter((positional) => positional !== ''),
    flag: (name) => values[name] === true,
    value: (name) => {
      const value = values[name];
      return typeof value === 'string' ? value : Array.isArray(value) ? asText(value.at(-1)) : undefined;
    },
    values: (name) => {
      const value = values[name];
      return Array.isArray(value) ? value.map((item) => String(item)) : value === undefined ? [] : [String(value)];
    },
  };
}

function asText(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function usageError(error: unknown): UsageError {
  const message = error instanceof Error ? error.message : String(error);
  const option = /'([^']*)'/.exec(message)?.[1] ?? '';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    return new UsageError('cli.usage.unknown-option', { option });
  }
  // Node names the option with its value placeholder: `-s, --step <value>`.
  return new UsageError('cli.usage.option-value', { option: option.replace(/ <value>$/, '').replace(/^-\w, /, '') });
}
