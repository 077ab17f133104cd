// Loaded by `node --require`: appends to the file that COMPILED_REPORT names a line for each file that the program
// compiles, with what became of the code that was kept of it: taken, rejected by V8, or none. The run has taken RUN_SECONDS, since
// a busy machine may take longer than the 5 s after which nothing is kept.
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

process.uptime = () => Number(process.env.RUN_SECONDS ?? 1);
