import * as fs from 'node:fs';
import * as path from 'node:path';
import Mocha from 'mocha';

/**
 * The entry that VS Code calls inside its extension host, in the browser as on the desktop. The lines `##suite-…` let the
 * launcher tell our output from the workbench's.
 */
export function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', color: false, timeout: 30000, reporter: 'spec', ...(process.env.FUSELENS_GREP === undefined ? {} : { grep: process.env.FUSELENS_GREP }) });
  mocha.addFile(path.join(__dirname, 'suite.test.js'));
  return new Promise((resolve, reject) => {
    console.log('##suite-begin');
    const skips: string[] = [];
    const runner = mocha.run(failed => {
      console.log('##suite-end');
      const passed = runner.stats?.passes ?? 0;
      const { FUSELENS_RESULT } = process.env;
      if (FUSELENS_RESULT !== undefined) {
        fs.writeFileSync(FUSELENS_RESULT, JSON.stringify({ passed, failed, skips }));
      }
      if (failed > 0 || passed === 0) {
        reject(new Error(`${failed} failed, ${passed} passed`));
      } else {
        resolve();
      }
    });
    runner.on('pending', test => skips.push(test.fullTitle()));
  });
}
