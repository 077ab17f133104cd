import {defineConfig} from 'vitest/config';
import all from '../../all.config.js';

export default defineConfig({
  test: {
    ...all.test,
    include: process.env.MUTATION_TESTS?.split(',') ?? [],
    // Otherwise what loads a module first would be taken for what runs it.
    isolate: true,
  },
});
