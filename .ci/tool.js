import {rm} from 'node:fs/promises';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

export const root = new URL('../', import.meta.url);

/** Imports a TypeScript file of tools/, with what it imports from src. */
export async function importTool(path) {
  const bundle = new URL(`node_modules/.tool-${process.pid}.mjs`, root);
  try {
    await build({
      entryPoints: [fileURLToPath(new URL(path, root))],
      outfile: fileURLToPath(bundle),
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
    });
    return await import(bundle);
  } finally {
    await rm(bundle, {force: true});
  }
}
