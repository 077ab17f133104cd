// Loaded by `node --require`: appends to the file that COMPILED_REPORT names a line for each file that the program
// compiles, with what became of the code that was kept of it: taken, rejected by V8, or none.
const {appendFileSync} = require('node:fs');
const {basename} = require('node:path');
const vm = require('node:vm');

vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    const taken = options.cachedData === undefined ? 'none' : this.cachedDataRejected ? 'rejected' : 'taken';
    appendFileSync(process.env.COMPILED_REPORT, `${basename(options.filename)} ${taken}\n`);
  }
};
