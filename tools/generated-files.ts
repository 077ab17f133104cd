import {readFile} from 'node:fs/promises';
import {uploadAllOptions} from './library-reference.ts';
import {completionData, knownExtensions, programFiles} from './program-files.ts';
import {ambiguousMedia} from './reference.ts';
import {referencePages} from './reference-pages.ts';
import {jsonSchemas} from './schemas.ts';

/** Every file that is generated from the code, wholly or in part: its path in the project, and its text. */
export async function generatedFiles(root: URL): Promise<Map<string, string>> {
  return new Map([...(await programFiles(root)), ...(await documentationFiles(root))]);
}

/** Those of `docs/`, for which the compiler reads types and docstrings. */
async function documentationFiles(root: URL): Promise<Map<string, string>> {
  const known = knownExtensions();
  const files = new Map<string, string>();
  const schemas = jsonSchemas(root);
  for (const [name, schema] of schemas)
    files.set(`docs/schemas/${name}.json`, `${JSON.stringify(schema, null, 1)}\n`);
  const extensions = ambiguousMedia(known);
  const pages = referencePages(completionData(known), extensions, schemas, await uploadAllOptions(root));
  for (const [path, withTables] of pages)
    files.set(path, withTables(await readFile(new URL(path, root), 'utf8')));
  return files;
}
