import {defineConfig} from 'vitest/config';
import {withDaemons} from './support/path.js';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    env: {PATH: withDaemons(process.env['PATH'])},
    maxWorkers: 2,
    // For test/torture: its long form is `npm run torture`.
    provide: {scale: 'short', seed: Number(process.env.SEED ?? 0)},
  },
});
