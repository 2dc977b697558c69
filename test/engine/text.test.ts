import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import chinese from '../../l10n/bundle.l10n.zh-cn.json';
import { FAMILIES } from '../../src/protocol/families';
import { visibleText } from '../../src/protocol/visibleText';
import { english, fill, MESSAGE_AREAS, MESSAGES, render, renderProblem, translateWith } from '../../src/protocol/text';

const bundle: Readonly<Record<string, string>> = chinese;
const sources = path.resolve(import.meta.dirname, '../../src');

function placeholders(text: string): readonly string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
}

/** Every string in the source that is used as a message code or problem kind. */
function codesInSource(): readonly { readonly code: string; readonly file: string }[] {
  const found: { code: string; file: string }[] = [];
  for (const entry of readdirSync(sources, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts')) {
      continue;
    }
    const file = path.join(entry.parentPath, entry.name);
    const content = readFileSync(file, 'utf8');
    for (const [, code] of content.matchAll(/'((?:error|assumption|figure|figureName|cli|families|report)\.[a-z][\w.-]*)'/gi)) {
      found.push({ code, file });
    }
    for (const [, kind] of content.matchAll(/problems\??\.add\(\s*'([\w-]+)'/g)) {
      found.push({ code: `problem.${kind}`, file });
    }
  }
  // Two strings that only look like codes: a script and a setting.
  return found.filter(({ code }) => code !== 'cli.js' && code !== 'families.rules').map(({ code, file }) => ({ code, file: path.relative(sources, file) }));
}

describe('messages', () => {
  it('have one sentence per code over all areas', () => {
    const seen = new Map<string, string>();
    for (const [area, table] of Object.entries(MESSAGE_AREAS)) {
      for (const code of Object.keys(table)) {
        assert.equal(seen.get(code), undefined, `${code} stands in ${seen.get(code)} and in ${area}`);
        seen.set(code, area);
      }
    }
  });

  it('exist for every code the source uses', () => {
    const missing = codesInSource().filter(({ code }) => !(code in MESSAGES));
    assert.deepEqual(missing.map(({ code, file }) => `${code} (${file})`), []);
  });

  it('say for every problem what it does to the figures', () => {
    const missing = Object.keys(MESSAGES).filter((code) => code.startsWith('problem.')).map((code) => code.replace('problem.', 'effect.')).filter((code) => !(code in MESSAGES));
    assert.deepEqual(missing.filter((code) => code !== 'effect.unknown-kind'), []);
  });

  it('name every family', () => {
    assert.ok(FAMILIES.every((family) => `family.${family}` in MESSAGES && `family.about.${family}` in MESSAGES));
  });

  it('are all translated into Simplified Chinese, with the same placeholders', () => {
    const texts = [...new Set(Object.values(MESSAGES))];
    assert.deepEqual(texts.filter((text) => bundle[text] === undefined || bundle[text] === ''), []);
    for (const [source, translated] of Object.entries(bundle)) {
      assert.deepEqual([...new Set(placeholders(translated))], [...new Set(placeholders(source))], source);
    }
  });

  it('of the editor side are translated, too: every literal given to l10n.t, and every key of the manifest', () => {
    const literals = readdirSync(sources, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && entry.name.endsWith('.ts')).flatMap((entry) => {
      const content = readFileSync(path.join(entry.parentPath, entry.name), 'utf8');
      return [...content.matchAll(/\bl10n\.t\(\s*'((?:[^'\\\n]|\\.)*)'/g)].map(([, literal]) => literal.replace(/\\(.)/g, '$1'));
    });
    assert.deepEqual([...new Set(literals)].filter((literal) => bundle[literal] === undefined), []);
    const manifest = (name: string): Readonly<Record<string, string>> => JSON.parse(readFileSync(path.resolve(sources, '..', name), 'utf8')) as Readonly<Record<string, string>>;
    assert.deepEqual(Object.keys(manifest('package.nls.zh-cn.json')).sort(), Object.keys(manifest('package.nls.json')).sort());
  });

  it('keep a placeholder visible when its argument is missing, and show an unknown code as itself', () => {
    assert.equal(fill('{file}: {count} rows', { file: 'a.csv' }), 'a.csv: {count} rows');
    assert.equal(render({ code: 'no.such.code' }), 'no.such.code');
    assert.match(renderProblem({ kind: 'never-heard-of', severity: 'info', count: 2, where: 'a.json' }).message, /^a\.json: .*never-heard-of/);
  });

  it('choose words by a number', () => {
    const template = '{count} {count#row is#rows are} odd in {file}';
    assert.equal(fill(template, { count: 1, file: 'a' }), '1 row is odd in a');
    assert.equal(fill(template, { count: 0, file: 'a' }), '0 rows are odd in a');
    assert.equal(fill(template, { count: '1,200', file: 'a' }), '1,200 rows are odd in a');
    assert.ok(Object.values(MESSAGES).every((text) => !/#[^#{}]*\}/.test(text.replace(/\{\w+#[^#{}]*#[^#{}]*\}/g, ''))), 'every choice is well-formed');
  });

  it('read as English at one, in every sentence', () => {
    const plural = /\b1 (?:more |other |device |kernel |metadata )?(?:brackets|bytes|counts|curves|devices|events|files|gaps|graphs|kernels|lanes|lines|names|ranks|records|rows|steps|times|values)\b|\b1 [^.;:]*(?<!\b(?:that|those|others) )\b(?:were|are|have|their|they)\b/;
    const odd = Object.entries(MESSAGES).flatMap(([code, template]) => {
      const args = Object.fromEntries([...template.matchAll(/\{(\w+)/g)].map(([, name]) => [name, /^(?:count|total|kernels|others|launches|rows|ranks|shown|more|binned|steps)$/.test(name) ? 1 : 'x']));
      const said = fill(template, args);
      return plural.test(said) ? [`${code}: ${said}`] : [];
    });
    // Devices taken together are two or more.
    assert.deepEqual(odd.filter((said) => !/^assumption\.devices:/.test(said)), []);
    const say = (kind: string, args: Readonly<Record<string, string | number>> = {}): string => renderProblem({ kind, severity: 'warning', count: 1, where: 'a', args }).message;
    assert.equal(say('overlap-on-stream', { stream: 'stream 7' }), 'a: 1 device event on stream 7 starts before an earlier one ended.');
    assert.equal(say('no-launch', { total: 7 }).split(' (')[0], 'a: 1 of 7 device events has no launch in the recording');
    assert.equal(say('stray-bytes'), 'a: 1 bracket or byte belongs to no record and was passed over.');
    assert.equal(say('ascend-csv-too-long'), 'a: 1 line is too long to be a row and was left out.');
    assert.equal(say('ascend-csv-quotes'), 'a: 1 line with unbalanced quotes was left out (the first one here).');
    assert.match(say('ascend-header-repeated'), /\(1 time\)/);
  });

  it('stay on one line whatever a file is called', () => {
    assert.equal(fill('{file} is odd', { file: 'a\nb\t\u001b[31m\u2028\u202ec' }), 'a\\nb\\t\\u001b[31m\\u2028\\u202ec is odd');
    const { message } = renderProblem({ kind: 'stray-bytes', severity: 'info', count: 2, where: 'a\r\nb.json' });
    assert.ok(message.startsWith('a\\r\\nb.json: '), message);
    assert.equal(visibleText('名前 é 🚀'), '名前 é 🚀');
  });

  it('fall back to English where a bundle has no entry', () => {
    const translate = translateWith({ Norm: '归一化' });
    assert.equal(render({ code: 'family.norm' }, translate), '归一化');
    assert.equal(render({ code: 'family.glue' }, translate), render({ code: 'family.glue' }, english));
  });
});
