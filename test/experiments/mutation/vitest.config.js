import {defineConfig} from 'vitest/config';
import base from '../../vitest.config.js';

export default defineConfig({
  test: {
    ...base.test,
    include: process.env.MUTATION_TESTS?.split(',') ?? [],
    // Otherwise what loads a module first would be taken for what runs it.
    isolate: true,
  },
});
