/** Lint: no `any`, exhaustive switches, strict booleans, and the direction of imports between folders (see CONTRIBUTING.md). */
import { builtinModules } from 'node:module';
import tseslint from 'typescript-eslint';

const nodeModules = ['^node:', `^(${builtinModules.filter(name => !name.startsWith('_')).join('|')})$`].map(regex => ({ regex, message: 'No Node here: go through the port.' }));
const packages = (names, message) => ({ regex: `^(${names.join('|')})(/|$)`, message });
const vscode = packages(['vscode'], 'Only src/host and src/extension.ts may import vscode.');
/** Relative imports that reach into sibling folders of `src`. */
const folders = (names, message, options = {}) => ({ regex: `^(\\./|(\\.\\./)+(src/)?)(${names.join('|')})/`, message, ...options });
const patterns = list => ({ '@typescript-eslint/no-restricted-imports': ['error', { patterns: list }] });
const globals = (names, message) => ({ 'no-restricted-globals': ['error', ...names.map(name => ({ name, message }))] });

const DOM = ['window', 'document', 'navigator', 'localStorage', 'self', 'HTMLElement'];
const NODE = ['process', 'Buffer', 'require', '__dirname', '__filename'];

export default tseslint.config(
  { ignores: ['dist/**', 'dist-test/**', 'node_modules/**', '.*/**', 'media/**', 'docs/**'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true, allowNullish: false }],
      '@typescript-eslint/strict-boolean-expressions': 'error',
      // Methods of a port or a client are passed on as they are; none of them uses `this`.
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      'eqeqeq': 'error',
      'max-lines': ['error', 600],
      'no-console': 'error',
      'no-restricted-syntax': ['error', { selector: 'TSEnumDeclaration[const!=true]', message: 'Use a const object and a union type.' }],
      'prefer-const': 'error',
    },
  },
  {
    files: ['src/engine/**/*.ts'],
    rules: {
      ...patterns([
        ...nodeModules, vscode, packages(['node-sqlite3-wasm', 'chart.js', '@vscode'], 'The engine is pure TypeScript.'),
        folders(['host', 'node', 'run', 'cli', 'webview'], 'The engine depends on nothing above it.'),
      ]),
      ...globals([...DOM, ...NODE], 'The engine runs anywhere: go through the port.'),
    },
  },
  {
    files: ['src/protocol/**/*.ts'],
    rules: {
      ...patterns([
        ...nodeModules, vscode, folders(['host', 'node', 'run', 'cli', 'webview'], 'protocol depends only on types of the engine.'),
        folders(['engine'], 'protocol may import only types from the engine.', { allowTypeImports: true }),
      ]),
      ...globals([...DOM, ...NODE], 'protocol is shared by Node and the browser.'),
    },
  },
  { files: ['src/node/**/*.ts', 'src/run/**/*.ts'], rules: patterns([vscode, folders(['host', 'cli', 'webview'], 'Nothing above node and run may be imported here.')]) },
  { files: ['src/cli/**/*.ts'], rules: { ...patterns([vscode, folders(['host', 'webview'], 'The CLI knows nothing of the editor.')]), 'no-console': 'off' } },
  {
    files: ['src/host/**/*.ts', 'src/extension.ts'],
    rules: patterns([
      folders(['cli', 'webview'], 'The host talks to webviews through src/protocol.'),
      folders(['engine(?!/profile/problems$|/port$)'], 'The engine runs in the worker: the host may import only its types.', { allowTypeImports: true }),
    ]),
  },
  {
    files: ['webview/**/*.ts'],
    rules: patterns([...nodeModules, vscode, { regex: '(^|/)src/(?!protocol/)', message: 'Webview code may import only src/protocol.' }]),
  },
  {
    // Outside the product: words for the developer, with whatever value was there.
    files: ['test/**/*.ts'],
    rules: { 'no-console': 'off', '@typescript-eslint/restrict-template-expressions': 'off', '@typescript-eslint/no-base-to-string': 'off', '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    extends: [tseslint.configs.base],
    rules: { 'eqeqeq': 'error', 'max-lines': ['error', 600], 'prefer-const': 'error', '@typescript-eslint/no-unused-vars': 'error' },
  },
);
