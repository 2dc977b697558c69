import * as l10n from '@vscode/l10n';
import chinese from '../../l10n/bundle.l10n.zh-cn.json';
import { english, type Translate } from '../protocol/text';
import { LANGUAGES, UsageError, type Language } from './io';

/** `--lang`, else English: output that a script reads must not change with the machine's locale. */
export function languageOf(option: string | undefined): Language {
  if (option === undefined) {
    return 'en';
  }
  const language = LANGUAGES.find((known) => known === option.toLowerCase().replace('_', '-'));
  if (language === undefined) {
    throw new UsageError('cli.usage.language', { value: option, known: LANGUAGES.join(', ') });
  }
  return language;
}

export function translator(language: Language): Translate {
  switch (language) {
    case 'en':
      return english;
    case 'zh-cn':
      l10n.config({ contents: chinese });
      return (text) => l10n.t(text);
  }
}
