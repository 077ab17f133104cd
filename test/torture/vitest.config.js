import {defineConfig} from 'vitest/config';
import {withDaemons} from '../support/path.js';
import {FindingsTable} from './table.js';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/torture/**/*.test.ts'],
    hookTimeout: 60_000,
    env: {PATH: withDaemons(process.env['PATH'])},
    maxWorkers: 2,
    reporters: ['default', new FindingsTable()],
    // SEED repeats a run; 0 draws a seed for each experiment.
    provide: {scale: 'long', seed: Number(process.env.SEED ?? 0)},
  },
});
