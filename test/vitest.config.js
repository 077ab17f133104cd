import {availableParallelism, tmpdir} from 'node:os';
import {configDefaults, defineConfig} from 'vitest/config';
import {memoryDirectory} from './support/memory-directory.js';
import {withDaemons} from './support/path.js';
import {SlowFirst} from './support/slow-first.js';
import {slowTests} from './support/slow-tests.js';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...slowTests],
    // A test waits longer than for one event: see support/patience.ts.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    env: {
      PATH: withDaemons(process.env['PATH']),
      TMPDIR: process.env['TMPDIR'] ?? memoryDirectory() ?? tmpdir(),
    },
    // More than half of the time a test waits: for a server, a daemon, a terminal.
    maxWorkers: 4 * availableParallelism(),
    // To load what the tests share once for each file would take a quarter of the time.
    isolate: false,
    sequence: {sequencer: SlowFirst},
    // The same in each run; `npm run torture` draws new seeds, and tries more.
    provide: {isTorture: false, scale: 'short', seed: Number(process.env.SEED ?? 1)},
  },
});
