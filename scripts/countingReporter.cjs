/** Mocha's dots, plus the counts as JSON into the file named by FUSELENS_RESULT (read by scripts/test.mjs). */
const fs = require('node:fs');
const { reporters } = require('mocha');

module.exports = class CountingReporter extends reporters.Dot {
  constructor(runner, options) {
    super(runner, options);
    const skips = [];
    runner.on('pending', test => skips.push(test.fullTitle()));
    runner.once('end', () => {
      const { passes, failures } = runner.stats;
      if (process.env.FUSELENS_RESULT) {
        fs.writeFileSync(process.env.FUSELENS_RESULT, JSON.stringify({ passed: passes, failed: failures, skips }));
      }
    });
  }
};
