import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { FAMILIES } from '../../src/protocol/families';
import { SIDE_COLOURS } from '../../webview/compare/sides';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): unknown => JSON.parse(readFileSync(path.join(root, file), 'utf8'));

interface Colour {
  readonly id: string;
  readonly defaults: Readonly<Record<'light' | 'dark' | 'highContrast' | 'highContrastLight', string>>;
}
interface Manifest {
  readonly icon: string;
  readonly contributes: {
    readonly colors: readonly Colour[];
    readonly commands: readonly { readonly command: string }[];
    readonly menus: Readonly<Record<string, readonly { readonly command: string }[]>>;
    readonly configuration: { readonly properties: Readonly<Record<string, { readonly scope: string }>> };
    readonly walkthroughs: readonly { readonly steps: readonly { readonly media: { readonly markdown: string } }[] }[];
  };
}

/** Contrast of WCAG 2: from 1 (none) to 21. */
function contrast(one: string, other: string): number {
  const luminance = (colour: string): number => {
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [lighter, darker] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

describe('the manifest', () => {
  const manifest = read('package.json') as Manifest;

  it('has every text in both languages, and none too many', () => {
    const english = read('package.nls.json') as Readonly<Record<string, string>>;
    const chinese = read('package.nls.zh-cn.json') as Readonly<Record<string, string>>;
    const used = [...new Set(JSON.stringify(manifest).match(/%[\w.]+%/g) ?? [])].map((key) => key.slice(1, -1)).sort();
    assert.deepEqual(Object.keys(english).sort(), used);
    assert.deepEqual(Object.keys(chinese).sort(), used);
    // A link of a welcome text must lead to the same command in each language.
    const links = (text: string): readonly string[] => text.match(/\(command:[^)]*\)/g) ?? [];
    for (const key of used) {
      assert.deepEqual(links(chinese[key]), links(english[key]), key);
    }
  });

  it('gives each family, idle and free a colour of its own that stands out from the background', () => {
    const backgrounds = { light: '#FFFFFF', dark: '#1F1F1F', highContrast: '#000000', highContrastLight: '#FFFFFF' } as const;
    // Text stands on these colours in the bars, in the colour of the background.
    const least = { light: 4.5, dark: 4.5, highContrast: 6, highContrastLight: 6 } as const;
    const { colors } = manifest.contributes;
    const ids = colors.map(({ id }) => id);
    assert.deepEqual([...FAMILIES, 'idle', 'free'].filter((family) => !ids.includes(`fuselens.family.${family}`)), []);
    for (const theme of Object.keys(backgrounds) as (keyof typeof backgrounds)[]) {
      assert.equal(new Set(colors.map(({ defaults }) => defaults[theme])).size, colors.length, theme);
      for (const { id, defaults } of colors) {
        const ratio = contrast(defaults[theme], backgrounds[theme]);
        assert.ok(ratio >= least[theme], `${id} in ${theme}: ${ratio.toFixed(2)}`);
      }
    }
  });

  it('declares the colours that style sheets name, which VS Code writes with the first dot as a dash and the others as they are', () => {
    const variables = new Set(manifest.contributes.colors.map(({ id }) => `--vscode-${id.replace('.', '-')}`));
    const sheets = readdirSync(path.join(root, 'webview'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.css'));
    const named = [...sheets.flatMap((sheet) => readFileSync(path.join(root, 'webview', sheet), 'utf8').match(/--vscode-fuselens-[\w.-]+/g) ?? []), ...Object.values(SIDE_COLOURS).map((name) => `--vscode-${name}`)];
    assert.notEqual(named.length, 0);
    assert.deepEqual(named.filter((name) => !variables.has(name)), []);
  });

  it('names only commands it declares, and files that exist', () => {
    const commands = new Set(manifest.contributes.commands.map(({ command }) => command));
    assert.deepEqual(Object.values(manifest.contributes.menus).flat().filter(({ command }) => !commands.has(command)), []);
    const files = [manifest.icon, ...manifest.contributes.walkthroughs.flatMap(({ steps }) => steps.map(({ media }) => media.markdown))];
    assert.deepEqual(files.filter((file) => !existsSync(path.join(root, file))), []);
  });

  it('lets no workspace choose where files are written or what is opened at start', () => {
    const { properties } = manifest.contributes.configuration;
    assert.deepEqual(['fuselens.cache.folder', 'fuselens.cache.sizeMb', 'fuselens.openOnStart'].map((name) => properties[name].scope), ['machine', 'machine', 'machine']);
  });

  it('lets no workspace choose programs, their arguments or hosts of runs', () => {
    const { properties } = manifest.contributes.configuration;
    const runs = Object.keys(properties).filter((name) => name.startsWith('fuselens.run.'));
    assert.ok(runs.length >= 8);
    assert.deepEqual(runs.filter((name) => properties[name].scope !== 'machine'), []);
  });
});
