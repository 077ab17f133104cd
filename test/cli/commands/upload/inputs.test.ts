import {copyFile, realpath, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {openInputs} from '../../../../src/cli/commands/upload/open-inputs.ts';
import {reportFor} from '../../../../src/cli/session/invocation.ts';
import {hostIn} from '../../../support/journal.ts';
import {fixture, temporaryDirectory} from '../../../support/media.ts';
import {canListOpenFiles, openFiles} from '../../../support/open-files.ts';

it.skipIf(!canListOpenFiles)(
  'a list of names, in a run that fails before it sends anything: closed with the inputs',
  async () => {
    const directory = await realpath(await temporaryDirectory());
    const list = join(directory, 'list.txt');
    await copyFile(fixture('photo.png'), join(directory, 'photo.png'));
    // Longer than what is read ahead of the first name.
    await writeFile(list, 'photo.png\n'.repeat(20_000));
    const request = {inputs: [], filesFrom: [list]};
    const host = hostIn(directory);
    const report = reportFor(host, {}, undefined);
    const inputs = await openInputs(request, {host, report}, new AbortController().signal);
    expect(await openFiles()).toContain(list);
    await inputs.close();
    await expect.poll(openFiles).not.toContain(list);
  },
);

it.each([
  ['a name', ['a.png'], [], false],
  ['a pattern that matches one file', ['a*.png'], [], false],
  ['a pattern that matches two', ['*.png'], [], true],
  ['two names', ['a.png', 'b.png'], [], true],
  ['a list', [], ['list.txt'], true],
])('%s: whether it may stand for several files', async (_name, inputs, filesFrom, several) => {
  const directory = await temporaryDirectory();
  for (const name of ['a.png', 'b.png']) await copyFile(fixture('photo.png'), join(directory, name));
  await writeFile(join(directory, 'list.txt'), 'a.png\n');
  const host = hostIn(directory);
  const invocation = {host, report: reportFor(host, {}, undefined)};
  const opened = await openInputs({inputs, filesFrom}, invocation, new AbortController().signal);
  await opened.close();
  expect(opened.several).toBe(several);
});
