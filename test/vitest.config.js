import {defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
    // For test/torture: its long form is `npm run torture`.
    provide: {scale: 'short', seed: Number(process.env.SEED ?? 0)},
  },
});
