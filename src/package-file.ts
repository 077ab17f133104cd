/** Where a file of the published package lies, given its path in it. */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}
