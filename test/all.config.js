import {configDefaults, defineConfig} from 'vitest/config';
import base, {experiments} from './vitest.config.js';

// What `npm run test:all` runs: everything but the experiments.
export default defineConfig({
  test: {...base.test, exclude: [...configDefaults.exclude, experiments]},
});
