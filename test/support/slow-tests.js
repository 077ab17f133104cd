const experiments = [
  ...['batch', 'connections', 'ends', 'faults', 'gateways', 'kills', 'long-runs', 'outages', 'peers'],
  ...['scale', 'serve-fixtures', 'texts', 'the-key', 'watch', 'watch-disks'],
];
const packages = [
  'compile-cache',
  'executable',
  'executable-image',
  'image',
  'install',
  'library',
  'reproducible',
];

/**
 * Tests that cost seconds of processor time each, and that few changes can fail: experiments that repeat what other tests try,
 * packages as they are installed, batch systems and clusters, very large directories and journals, leaks over 1,000 files, and what
 * other programs make of the documentation, of the service and of the source. `npm test` leaves them to
 * `SCALE=short npm run torture`, which CI runs.
 */
export const slowTests = [
  ...experiments.map(name => `test/torture/${name}.test.ts`),
  ...packages.map(name => `test/packaging/${name}.test.ts`),
  'test/cli/bridge-web-page.test.ts',
  'test/cli/serve-pages.test.ts',
  'test/contract/prism.test.ts',
  'test/docs/ci-snippets.test.ts',
  'test/docs/pages.test.ts',
  'test/docs/pictures.test.ts',
  'test/docs/preparing-recipes.test.ts',
  'test/docs/readme-npm.test.ts',
  'test/journal/scale.test.ts',
  'test/leaks/*.test.ts',
  'test/machines/*.test.ts',
  'test/sources/find/walk/walk-large.test.ts',
  'test/structure/foreign-names.test.ts',
];
