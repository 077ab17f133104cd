// Writes the files that are generated from the command tree: completions/, man/ and the tables of docs/. Reads the
// sources, not dist.
import {mkdir, rm, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const root = new URL('../', import.meta.url);
const bundle = new URL('node_modules/.completions.mjs', root);
await build({
  entryPoints: [fileURLToPath(new URL('tools/generated-files.ts', root))],
  outfile: fileURLToPath(bundle),
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  logLevel: 'error',
});
try {
  const {generatedFiles} = await import(bundle);
  for (const [path, text] of await generatedFiles(root)) {
    const file = new URL(path, root);
    await mkdir(dirname(fileURLToPath(file)), {recursive: true});
    await writeFile(file, text);
  }
} finally {
  await rm(bundle);
}
