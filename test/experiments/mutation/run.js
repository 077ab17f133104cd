// Changes one file or folder of src, a small change at a time, and says which changes its tests do not notice.
import {existsSync} from 'node:fs';
import {Stryker} from '@stryker-mutator/core';

const [room, ...named] = process.argv.slice(2);
if (room === undefined) {
  process.stderr.write(
    'Name a file or folder of src: npm run mutation -- engine/transfer/attempt/judge [TEST...]\n',
  );
  process.exit(2);
}

/** The file of a name below a directory, or all files of the folder of that name. */
function below(directory, name, ending) {
  const file = `${directory}/${name}${ending}`;
  return existsSync(file) ? file : `${directory}/${name}/**/*${ending}`;
}

// vitest.config.js reads it, in another process.
process.env.MUTATION_TESTS = (named.length > 0 ? named : [below('test', room, '.test.ts')]).join();
const results = `coverage/mutation/${room}`;

await new Stryker({
  mutate: [below('src', room, '.ts')],
  testRunner: 'vitest',
  plugins: [import.meta.resolve('@stryker-mutator/vitest-runner')],
  vitest: {configFile: 'test/experiments/mutation/vitest.config.js', related: false},
  coverageAnalysis: 'perTest',
  concurrency: 1,
  timeoutMS: 10_000,
  // Only what has changed since the last time, or whose tests have, is tried again.
  incremental: true,
  incrementalFile: `${results}.json`,
  tempDirName: 'coverage/mutation/sandboxes',
  reporters: ['clear-text', 'progress-append-only', 'html'],
  htmlReporter: {fileName: `${results}.html`},
  clearTextReporter: {allowColor: false, reportTests: false},
  thresholds: {high: 100, low: 0, break: null},
}).runMutationTest();
