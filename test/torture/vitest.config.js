import {defineConfig} from 'vitest/config';
import {FindingsTable} from './table.js';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/torture/**/*.test.ts'],
    hookTimeout: 60_000,
    maxWorkers: 2,
    reporters: ['default', new FindingsTable()],
    // SEED repeats a run; 0 draws a seed for each experiment.
    provide: {scale: 'long', seed: Number(process.env.SEED ?? 0)},
  },
});
