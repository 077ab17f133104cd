import {readdir} from 'node:fs/promises';
import {Readable} from 'node:stream';
import {expect, it} from 'vitest';
import {spooledSource} from '../../../../src/engine/sources/open/spooled.ts';
import {systemFiles} from '../../../../src/lib/files/file-system.ts';
import {CountedStop} from '../../../support/counted-stop.ts';
import {temporaryDirectory} from '../../../support/media.ts';
import {canListOpenFiles, openFiles} from '../../../support/open-files.ts';

/** What is known once a stream has been opened, or could not be. */
async function spooled(stream: () => Readable, signal = new CountedStop<Error>(), files = systemFiles) {
  const temporary = await temporaryDirectory();
  const source = spooledSource({
    what: 'The stream',
    name: 'a.png',
    stream,
    temporaryDirectory: temporary,
    files,
  });
  const opened = await source.open(signal).catch((error: Error) => error);
  const left = async () => ({
    listeners: signal.listeners.size,
    files: await readdir(temporary),
    open: canListOpenFiles ? await openFiles(temporary) : [],
  });
  return {opened, left};
}

const nothing = {listeners: 0, files: [], open: []};

it.each([
  ['is empty', () => Readable.from([]), /was empty/],
  ['yields text', () => Readable.from(['text']), /yields text/],
  [
    'breaks',
    () =>
      new Readable({
        read() {
          this.destroy(new Error('broken'));
        },
      }),
    /could not be read/,
  ],
])('a stream that %s: nothing of it is left', async (_name, stream, message) => {
  const {opened, left} = await spooled(stream);
  expect(opened).toMatchObject({message: expect.stringMatching(message)});
  expect(await left()).toEqual(nothing);
});

it('a stream that is larger than the room for it: a failure of this machine, and nothing of it is left', async () => {
  const writeFile = () => Promise.reject(Object.assign(new Error('full'), {code: 'ENOSPC'}));
  const stream = () => Readable.from([Buffer.from('content')]);
  const {opened, left} = await spooled(stream, new CountedStop(), {...systemFiles, writeFile});
  expect(opened).toMatchObject({
    code: 'local_failure',
    message: expect.stringContaining('could not be stored'),
  });
  expect(await left()).toEqual(nothing);
});

it('a stream that is read to its end: nobody listens any more, and nothing is left once it is closed', async () => {
  const {opened, left} = await spooled(() => Readable.from([Buffer.from('content')]));
  if (opened instanceof Error) throw opened;
  expect((await left()).listeners).toBe(0);
  await opened.close();
  expect(await left()).toEqual(nothing);
});

it('a run that was stopped: the stream, which may never come to an end, is not opened', async () => {
  const stop = new CountedStop<Error>();
  stop.abort(new Error('stopped'));
  let isOpened = false;
  const stream = () => {
    isOpened = true;
    return Readable.from([Buffer.from('content')]);
  };
  const {opened, left} = await spooled(stream, stop);
  expect(opened).toMatchObject({message: 'stopped'});
  expect(isOpened).toBe(false);
  expect(await left()).toEqual(nothing);
});
