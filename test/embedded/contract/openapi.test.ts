import {existsSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {fileURLToPath} from 'node:url';
import {expect, it} from 'vitest';
import {contractFile} from './support.ts';

const given = fileURLToPath(new URL('../../../../shared/openapi.yaml', import.meta.url));

it.runIf(existsSync(given))('openapi.yaml: the contract as it was given to us, unchanged', async () => {
  expect(await readFile(contractFile, 'utf8')).toBe(await readFile(given, 'utf8'));
});
