import {availableParallelism, tmpdir} from 'node:os';
import {fileURLToPath} from 'node:url';
import {configDefaults, defineConfig} from 'vitest/config';
import {memoryDirectory} from './support/memory-directory.js';
import {withDaemons} from './support/path.js';

/** Tests that need their own commands, and minutes: see test/README.md. */
export const experiments = 'test/experiments/**';

// What `npm test` runs: test/README.md says which folder is left to which command.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, experiments, 'test/**/deep/**', 'test/machine/**'],
    // A test waits longer than for one event: see support/patience.ts.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    env: {
      PATH: withDaemons(process.env['PATH']),
      TMPDIR: process.env['TMPDIR'] ?? memoryDirectory() ?? tmpdir(),
    },
    setupFiles: ['test/support/each-file.ts'],
    // More than half of the time a test waits: for a server, a daemon, a terminal.
    maxWorkers: 4 * availableParallelism(),
    // To load what the tests share once for each file would take a quarter of the time.
    isolate: false,
    expect: {requireAssertions: true},
    // The same in each run; `npm run torture` draws new seeds, and tries more.
    provide: {isTorture: false, scale: 'short', seed: Number(process.env.SEED ?? 1)},
  },
});
