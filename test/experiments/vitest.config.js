import {availableParallelism} from 'node:os';
import {fileURLToPath} from 'node:url';
import {defineConfig} from 'vitest/config';
import {withDaemons} from '../support/path.js';
import FindingsTable from './findings-table.js';

const isShort = process.env.SCALE === 'short';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/experiments/**/*.test.ts', 'test/**/*-experiment.test.ts', 'test/**/*-property.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    env: {PATH: withDaemons(process.env['PATH'])},
    // Long ones measure memory and time; short ones mostly wait, and share what they load.
    maxWorkers: isShort ? 3 * availableParallelism() : 2,
    isolate: !isShort,
    reporters: ['default', new FindingsTable()],
    // SCALE=short tries as few as `npm run test:all` does. SEED repeats a run; 0 draws a seed for each experiment.
    provide: {
      isTorture: true,
      scale: isShort ? 'short' : 'long',
      seed: Number(process.env.SEED ?? 0),
    },
  },
});
