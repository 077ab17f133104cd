// Writes the files that are generated from the command tree: completions/, man/ and the tables of docs/. Reads the
// sources, not dist.
import {mkdir, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {fileURLToPath} from 'node:url';
import {importTool, root} from './tool.js';

const {generatedFiles} = await importTool('tools/generated-files.ts');
for (const [path, text] of await generatedFiles(root)) {
  const file = new URL(path, root);
  await mkdir(dirname(fileURLToPath(file)), {recursive: true});
  await writeFile(file, text);
}
