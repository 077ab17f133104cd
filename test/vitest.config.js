import {availableParallelism, tmpdir} from 'node:os';
import {defineConfig} from 'vitest/config';
import {memoryDirectory} from './support/memory-directory.js';
import {withDaemons} from './support/path.js';
import {SlowFirst} from './support/slow-first.js';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    env: {
      PATH: withDaemons(process.env['PATH']),
      TMPDIR: process.env['TMPDIR'] ?? memoryDirectory() ?? tmpdir(),
    },
    // Half of the time a test waits: for a server, a daemon, a terminal.
    maxWorkers: 2 * availableParallelism(),
    // To load what the tests share once for each file would take a quarter of the time.
    isolate: false,
    sequence: {sequencer: SlowFirst},
    // For test/torture: its long form is `npm run torture`.
    provide: {scale: 'short', seed: Number(process.env.SEED ?? 0)},
  },
});
