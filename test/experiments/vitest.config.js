import {defineConfig} from 'vitest/config';
import {withDaemons} from '../support/path.js';
import {slowTests} from '../support/slow-tests.js';
import FindingsTable from './findings-table.js';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: [
      ...[
        'test/experiments/**/*.test.ts',
        'test/**/*-property.test.ts',
        'test/service/deep/each-byte-property.test.ts',
      ],
      ...slowTests,
    ],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    env: {PATH: withDaemons(process.env['PATH'])},
    maxWorkers: 2,
    reporters: ['default', new FindingsTable()],
    // SCALE=short tries as few as `npm test` does. SEED repeats a run; 0 draws a seed for each experiment.
    provide: {
      isTorture: true,
      scale: process.env.SCALE === 'short' ? 'short' : 'long',
      seed: Number(process.env.SEED ?? 0),
    },
  },
});
