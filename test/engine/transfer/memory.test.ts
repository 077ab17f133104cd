import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {Uploader, UploadResponse} from '../../../src/engine/service/uploader.ts';
import {Disk} from '../../../src/engine/sources/open/disk.ts';
import {filesIn} from '../../../src/engine/sources/open/file-source.ts';
import type {Source} from '../../../src/engine/sources/open/source.ts';
import type {TransferOptions} from '../../../src/engine/transfer/transfer-options.ts';
import {MediaError} from '../../../src/errors.ts';
import {systemFiles} from '../../../src/lib/files/file-system.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {received} from '../../support/received.ts';
import {memorySource, uploadEach} from '../service/support.ts';

const stored: UploadResponse = {kind: 'stored', received: received('{"id": "med_1"}')};
const refused: UploadResponse = {kind: 'refused', status: 429, retryAfter: '0'};
const options = {retries: 1};

/** Files of these sizes, each of one character: its number. */
async function filesOf(sizes: readonly number[]) {
  const directory = await temporaryDirectory();
  const open = filesIn(directory, new Disk(systemFiles));
  const contents = sizes.map((size, index) => Buffer.alloc(size, String(index)));
  for (const [index, content] of contents.entries())
    await writeFile(join(directory, `${index}.png`), content);
  return contents.map((_, index) => open(`${index}.png`));
}

/** Sends files one after the other; returns the bytes of each attempt, as they are in memory, and copies of them. */
async function send(sizes: readonly number[], responses: UploadResponse[] = [], unsentBytes = 0) {
  const sent: Uint8Array[] = [];
  const copies: string[] = [];
  const wire = {connectMs: 1, unsentBytes};
  const uploader: Uploader = {
    async upload({body: {content, release}}) {
      for await (const chunk of content instanceof Uint8Array ? [content] : content(wire)) {
        sent.push(chunk);
        copies.push(Buffer.from(chunk).toString());
      }
      release?.(wire);
      return responses.shift() ?? stored;
    },
  };
  await uploadEach(await filesOf(sizes), uploader, options);
  return {sent, copies, blocks: new Set(sent.map(({buffer}) => buffer)).size};
}

/** The memory that a check of each file has seen in a dry run. */
async function check(
  contentType: TransferOptions['contentType'] = async () => ({contentType: 'image/png'}),
  stop = new Stop<MediaError>(),
) {
  const seen = new Set<unknown>();
  const uploader: Uploader = {upload: () => Promise.reject(new Error('A dry run sends nothing.'))};
  await uploadEach(await filesOf([5, 9]), uploader, {
    dryRun: true,
    stop,
    async contentType(source, opened) {
      seen.add((await opened.read(0, 1)).buffer);
      return contentType(source, opened);
    },
  });
  return seen;
}

describe('the memory of a file is used for the next one', () => {
  test.each([[[9, 5, 7]], [[60_000, 9]], [[200_000, 70_000]]])(
    'after it was stored: files of %j bytes, each sent whole',
    async sizes => {
      const {copies, blocks} = await send(sizes);
      // A file of more than 64 KiB is sent in several chunks.
      const texts = sizes.map((_, index) => copies.filter(text => text.startsWith(String(index))).join(''));
      expect(texts).toEqual(sizes.map((size, index) => String(index).repeat(size)));
      expect(blocks).toBe(1);
    },
  );

  test.each([
    ['only read', undefined],
    ['refused for what is in it', () => Promise.reject(new MediaError('not_media', 'It is no picture.'))],
  ])('after it was %s', async (_, contentType) => {
    expect((await check(contentType)).size).toBe(1);
  });
});

describe('the memory of a file stays as it is', () => {
  test('while it has not left the process, although the response has come', async () => {
    const {sent, copies, blocks} = await send([9, 9], [], 1);
    expect(sent.map(bytes => Buffer.from(bytes).toString())).toEqual(copies);
    expect(blocks).toBe(2);
  });

  test('after an attempt that failed, whose connection may read on, also when the next one has stored it', async () => {
    const {sent, copies, blocks} = await send([9, 9], [refused]);
    expect(copies).toEqual(['0'.repeat(9), '0'.repeat(9), '1'.repeat(9)]);
    expect(sent.map(bytes => Buffer.from(bytes).toString())).toEqual(copies);
    expect(blocks).toBe(2);
  });

  test('after a bug has ended its attempt, whose connection may read on', async () => {
    const uses: unknown[] = [];
    const buggy = memorySource('a.png', Buffer.alloc(9), {
      read: () => Promise.reject(new TypeError('this.dice is undefined')),
      close: async isUnused => void uses.push(isUnused),
    });
    const uploader: Uploader = {
      async upload({body: {content}}) {
        for await (const _ of content instanceof Uint8Array ? [] : content({connectMs: 1, unsentBytes: 0}));
        return stored;
      },
    };
    await uploadEach([buggy], uploader).catch(() => {});
    expect(uses).toEqual([false]);
  });

  test('after a file that was closed twice: two later ones have one each', async () => {
    const [first, ...others] = await filesOf([9, 9, 9]);
    const open = async (source: Source | undefined) => source?.open(new Stop<Error>());
    const twice = await open(first);
    await twice?.read(0, 9);
    await twice?.close(true);
    await twice?.close(true);
    const opened = await Promise.all(others.map(open));
    const bytes = await Promise.all(opened.map(file => file?.read(0, 9)));
    expect(new Set(bytes.map(one => one?.buffer)).size).toBe(2);
    expect(bytes.map(one => Buffer.from(one ?? []).toString())).toEqual(['1'.repeat(9), '2'.repeat(9)]);
    for (const file of opened) await file?.close();
  });

  test('after a check that a stop has ended, which may go on', async () => {
    const stop = new Stop<MediaError>();
    const seen = await check(() => {
      const reason = new MediaError('interrupted', 'The run was stopped.');
      stop.abort(reason);
      return Promise.reject(reason);
    }, stop);
    for (const block of await check()) seen.add(block);
    expect(seen.size).toBe(2);
  });
});
