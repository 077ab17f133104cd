import {chmod, realpath} from 'node:fs/promises';
import {expect, it} from 'vitest';
import {type FileSystem, systemFiles} from '../../../src/lib/files/file-system.ts';
import {
  bench,
  formatTransition,
  header,
  readJournal,
  readLookup,
  scope,
  sha256,
} from '../../support/journal.ts';
import {canListOpenFiles, openFiles} from '../../support/open-files.ts';

it.skipIf(!canListOpenFiles)(
  'a journal of another service, or that others may change: refused, and closed',
  async () => {
    const journal = await bench();
    await journal.run(async () => {});
    const other = {service: 'https://other.example'};
    await expect(readLookup(journal.path, journal.host, other)).rejects.toThrow(scope.service);
    await chmod(journal.path, 0o666);
    await expect(readLookup(journal.path, journal.host, scope)).rejects.toThrow('Other users may change');
    expect(await openFiles()).not.toContain(await realpath(journal.path));
  },
);

it('paths whose contents were recorded by three runs: read by path in few reads', async () => {
  const journal = await bench();
  const keys = Array.from({length: 3_000}, (_, index) => `${index}`);
  const lines = keys.map((key, index) => {
    const intent = {path: `${index % 1_000}.png`, size: 1, contentType: 'image/png', key};
    return [
      formatTransition({event: 'commit', ...intent, sha256: sha256(key)}, 'w'),
      '{"event":"release","by":"w"}\n',
      formatTransition({event: 'done', key, recordJson: JSON.stringify({id: key})}, 'w'),
    ].join('');
  });
  await journal.write(`${header}\n${lines.join('')}`);
  let reads = 0;
  const open = (...parameters: Parameters<FileSystem['open']>) => {
    reads += 1;
    return systemFiles.open(...parameters);
  };
  const files = {...systemFiles, open} as FileSystem;
  const reader = await readJournal(journal.path, {...journal.host, files}, {paths: true});
  const found = [];
  for await (const {entry} of reader.entriesIn('done')) found.push((await reader.recordOf(entry)).record.id);
  expect(found.sort()).toEqual(keys.sort());
  expect(reads).toBeLessThan(100);
});
