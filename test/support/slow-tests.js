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
  ...experiments.map(name => `test/experiments/torture/${name}.test.ts`),
  ...packages.map(name => `test/machine/packaging/${name}.test.ts`),
  'test/cli/bridge/deep/web-page.test.ts',
  'test/cli/serve/deep/pages.test.ts',
  'test/contract/deep/prism.test.ts',
  'test/machine/docs/ci-snippets.test.ts',
  'test/machine/docs/pages.test.ts',
  'test/machine/docs/pictures.test.ts',
  'test/machine/docs/preparing-recipes.test.ts',
  'test/machine/docs/readme-npm.test.ts',
  'test/journal/deep/scale.test.ts',
  'test/machine/leaks/*.test.ts',
  'test/machine/clusters/*.test.ts',
  'test/sources/find/walk/deep/walk-large.test.ts',
  'test/structure/deep/foreign-names.test.ts',
];
