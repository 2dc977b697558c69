import assert from 'node:assert/strict';
import { parse } from 'jsonc-parser';
import { freeLabel, placeOfSetting, withTask, writtenTasks } from '../../src/run/tasksJson';

const task = { type: 'fuselens', label: 'train', launcher: 'command', command: 'python', args: ['train.py'] };

const COMMENTED = `{
\t// See https://go.microsoft.com/fwlink/?LinkId=733558
\t"version": "2.0.0",
\t"tasks": [
\t\t{
\t\t\t"label": "build", /* ours */
\t\t\t"type": "shell",
\t\t\t"command": "make",
\t\t},
\t\t// the last one
\t],
\t"inputs": [], // kept
}
`;

describe('writing a task into tasks.json', () => {
  it('begins a file that is not there', () => {
    const made = withTask('', task);
    assert.deepEqual(parse(made ?? ''), { version: '2.0.0', tasks: [task] });
    assert.match(made ?? '', /^\{\n {4}"version": "2\.0\.0",\n {4}"tasks": \[\n {8}\{\n {12}"type": "fuselens"[\s\S]*\}\n$/);
  });

  it('keeps every comment, the indentation and the rest of the file', () => {
    const made = withTask(COMMENTED, task) ?? '';
    for (const line of COMMENTED.split('\n').map((text) => text.trim()).filter((text) => text.includes('//') || text.includes('/*'))) {
      assert.ok(made.includes(line), line);
    }
    assert.deepEqual(parse(made, [], { allowTrailingComma: true }), { version: '2.0.0', tasks: [{ label: 'build', type: 'shell', command: 'make' }, task], inputs: [] });
    assert.ok(made.includes('\n\t\t\t"type": "fuselens"'), made);
    assert.deepEqual(writtenTasks(made).map(({ index, label }) => [index, label]), [[1, 'train']]);
    const twice = withTask(made, { ...task, label: freeLabel(made, 'train') }) ?? '';
    assert.deepEqual(writtenTasks(twice).map(({ label }) => label), ['train', 'train (2)']);
  });

  it('adds what a file lacks, and keeps CR LF', () => {
    assert.deepEqual(parse(withTask('{ // mine\n}', task) ?? ''), { version: '2.0.0', tasks: [task] });
    assert.ok((withTask('{ // mine\n}', task) ?? '').includes('// mine'));
    assert.ok(!/[^\r]\n/.test(withTask('{\r\n  "version": "2.0.0",\r\n  "tasks": []\r\n}\r\n', task) ?? '\n'));
  });

  it('leaves alone what it cannot read', () => {
    assert.deepEqual(['[]', '{"tasks": {}}', '{"tasks": [}', 'no json', '3'].map((text) => withTask(text, task)), [undefined, undefined, undefined, undefined, undefined]);
    assert.deepEqual(writtenTasks('{"tasks": [null, 3, {"type": "shell"}, {"type": "fuselens"}]}').map(({ index, label }) => [index, label]), [[3, '']]);
    assert.deepEqual(writtenTasks('nonsense'), []);
  });

  it('finds the place of a setting, or of what is nearest to it', () => {
    const text = `{"tasks": [\n  {\n    "type": "fuselens",\n    "capture": { "steps": [5, 3] }\n  }\n]}`;
    const at = (path: readonly (string | number)[]): string => {
      const place = placeOfSetting(text, 0, path);
      return place === undefined ? '' : text.slice(place.offset, place.offset + place.length);
    };
    assert.deepEqual([at(['capture', 'steps']), at(['capture', 'steps', 1]), at(['capture', 'warmup']), at(['command'])], ['[5, 3]', '3', '{ "steps": [5, 3] }', '{']);
    assert.equal(placeOfSetting(text, 4, []), undefined);
  });
});
