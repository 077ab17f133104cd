import {realpath} from 'node:fs/promises';
import {expect, it} from 'vitest';
import {readMemory} from '../../src/journal/memory.ts';
import {bench, scope} from '../support/journal.ts';
import {canListOpenFiles, openFiles} from '../support/open-files.ts';

it.skipIf(!canListOpenFiles)('a journal about another service: refused, and closed', async () => {
  const journal = await bench();
  await journal.run(async () => {});
  const other = {service: 'https://other.example'};
  await expect(readMemory(journal.path, journal.host, other)).rejects.toThrow(scope.service);
  expect(await openFiles()).not.toContain(await realpath(journal.path));
});
