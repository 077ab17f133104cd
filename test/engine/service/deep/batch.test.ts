import {readFile} from 'node:fs/promises';
import {describe, expect, test} from 'vitest';
import {parseRecord} from '../../../../src/engine/service/record.ts';
import type {Uploader} from '../../../../src/engine/service/uploader.ts';
import type {Source} from '../../../../src/engine/sources/open/source.ts';
import {MediaError} from '../../../../src/errors.ts';
import {nextTurn, systemClock} from '../../../../src/host.ts';
import {jpegWith, position, tiffOf} from '../../../media/location/tagged.ts';
import {eventually} from '../../../support/eventually.ts';
import {bench} from '../../../support/journal.ts';
import {fixture} from '../../../support/media.ts';
import {scriptedServer, someRecord} from '../../../support/scripted-server.ts';
import {codes, sources, statuses} from '../batches.ts';
import {clientOf, memorySource, noObserver, uploadEach} from '../support.ts';

describe('retries', () => {
  test('an outage: 30 files with 5 retries each make 130 requests', async () => {
    const {url, requests} = await scriptedServer(...statuses(503));
    const names = Array.from({length: 30}, (_, index) => String(index));
    const outcomes = await uploadEach(sources(...names), clientOf(url), {retries: 5});
    expect(new Set(codes(outcomes))).toEqual(new Set(['failed service_unavailable']));
    await eventually(() => requests.length === 130);
  });
});

describe('too few file descriptors', () => {
  /** What can be opened at a time: files and connections together. */
  class Table {
    #left: number;

    constructor(size: number) {
      this.#left = size;
    }

    take(): void {
      if (this.#left === 0) throw new MediaError('too_many_open_files', 'Too many files are open.');
      this.#left -= 1;
    }

    give(): void {
      this.#left += 1;
    }
  }

  const shortSources = (table: Table, count: number): Source[] =>
    sources(...Array.from({length: count}, (_, index) => `${index}.png`)).map(source => ({
      ...source,
      async open(stop) {
        table.take();
        const opened = await source.open(stop);
        return {...opened, close: async () => table.give()};
      },
    }));

  const received = parseRecord(someRecord);
  if ('problem' in received) throw new Error(received.problem);

  const shortUploader = (table: Table): Uploader => ({
    async upload(request) {
      table.take();
      try {
        await nextTurn();
        request.body.release?.({connectMs: 1, unsentBytes: 0});
        await nextTurn();
        return {kind: 'stored', received};
      } finally {
        table.give();
      }
    },
  });

  const noWaiting = {...systemClock, sleep: () => Promise.reject(new Error('Nothing is to be waited for.'))};

  test.each([
    ['20 files at a time, each with a connection, 13 descriptors', 20, 13],
    ['20 at a time, 20 descriptors: all are taken by files, and none is left for a connection', 20, 20],
    ['2 at a time, 2 descriptors', 2, 2],
  ])('%s: all are uploaded at their first attempt, without retries', async (_, concurrency, descriptors) => {
    const table = new Table(descriptors);
    const told: string[] = [];
    const outcomes = await uploadEach(shortSources(table, 200), shortUploader(table), {
      concurrency,
      clock: noWaiting,
      observer: {
        ...noObserver,
        retrying: (_position, _name, {code}, waitMs) => told.push(`${code} ${waitMs}`),
      },
    });
    expect(outcomes.filter(({status, attempts}) => status === 'uploaded' && attempts === 1)).toHaveLength(
      200,
    );
    expect(new Set(told)).toEqual(new Set(['too_many_open_files undefined']));
  });

  test('none for the connection of a file that was committed for one that closed: nothing was sent, so it is sent later', async () => {
    const table = new Table(13);
    let committed = 0;
    const uploader: Uploader = {
      async upload(request) {
        await request.body.whole?.ready();
        if (request.body.whole !== undefined) committed += 1;
        return shortUploader(table).upload(request);
      },
    };
    const files = shortSources(table, 40).map(
      ({name, open}): Source => ({
        name,
        async open(stop) {
          const opened = await open(stop);
          return {
            ...opened,
            small: async () => ({bytes: await opened.read(0, opened.size), verify: () => {}}),
          };
        },
      }),
    );
    const journal = await (await bench()).open();
    const outcomes = await uploadEach(files, uploader, {concurrency: 20, clock: noWaiting, journal});
    expect(outcomes.map(({status}) => status)).toEqual(Array(40).fill('uploaded'));
    expect(committed).toBeGreaterThan(40);
  });

  test.each([
    ['is gone', {status: 'failed', attempts: 0}],
    [
      'is another',
      {status: 'uploaded', attempts: 1, size: 1_001, contentType: 'image/gif', warning: 'It is b.'},
    ],
    [
      'is the same',
      {status: 'uploaded', attempts: 1, size: 1_001, contentType: 'image/png', warning: 'It is second.'},
    ],
  ])(
    'a file that begins again and then %s: has nothing of its first attempt, and each warning is given once',
    async (how, expected) => {
      const [first, second, other] = sources('a', 'a', 'b');
      if (first === undefined || second === undefined || other === undefined)
        throw new Error('three sources');
      let opened = 0;
      let uploads = 0;
      const file: Source = {
        name: 'second',
        async open(stop) {
          opened += 1;
          if (opened > 1 && how === 'is gone') throw new MediaError('file_missing', 'It is gone.');
          return (opened > 1 && how === 'is another' ? other : second).open(stop);
        },
      };
      const warnings: string[] = [];
      const outcomes = await uploadEach(
        [first, file],
        {
          async upload(request) {
            uploads += 1;
            if (uploads === 2) throw new MediaError('too_many_open_files', 'Too many files are open.');
            await eventually(() => uploads > 1);
            return shortUploader(new Table(1)).upload(request);
          },
        },
        {
          ...{concurrency: 2, clock: noWaiting},
          observer: {...noObserver, warning: (_name, sentence) => warnings.push(sentence)},
          contentType: async ({name}) =>
            name === 'second' && opened > 1 && how === 'is another'
              ? {contentType: 'image/gif', warning: 'It is b.'}
              : {contentType: 'image/png', warning: `It is ${name}.`},
        },
      );
      const {
        file: name,
        position,
        elapsedMs,
        ...facts
      } = outcomes.find(outcome => outcome.file === 'second') ?? {};
      expect(Object.keys(facts).filter(fact => ['size', 'contentType', 'warning'].includes(fact))).toEqual(
        Object.keys(expected).slice(2),
      );
      expect(facts).toMatchObject(expected);
      expect(warnings).toEqual([...new Set(warnings)]);
    },
  );

  test('a file that begins again as another, which has no location: nothing of the other is blanked', async () => {
    const exif = Buffer.concat([Buffer.from('Exif\0\0'), tiffOf(true, [[[0x88_25, 4, [-1]]], position])]);
    const tagged = await jpegWith([1, exif]);
    const other = await readFile(fixture('photo.png'));
    let opened = 0;
    const file: Source = {
      name: 'file',
      open: async stop => {
        opened += 1;
        return memorySource('file', opened === 1 ? tagged : other).open(stop);
      },
    };
    let sent = Buffer.alloc(0);
    let uploads = 0;
    const uploader: Uploader = {
      async upload({body}) {
        uploads += 1;
        if (uploads === 2) throw new MediaError('too_many_open_files', 'Too many files are open.');
        await eventually(() => uploads > 1);
        if (body.content instanceof Uint8Array) throw new Error('sent at once');
        for await (const chunk of body.content({connectMs: 1, unsentBytes: 0}))
          if (uploads > 2) sent = Buffer.from(chunk);
        body.release?.({connectMs: 1, unsentBytes: 0});
        return {kind: 'stored', received};
      },
    };
    const contentType = async () => ({contentType: opened < 2 ? 'image/jpeg' : 'image/png'});
    const options = {concurrency: 2, clock: noWaiting, geotags: 'strip', contentType} as const;
    const outcomes = await uploadEach([memorySource('first', other), file], uploader, options);
    expect(outcomes.find(({file: name}) => name === 'file')).toMatchObject({
      status: 'uploaded',
      geotags: 'none',
    });
    expect(sent.equals(other)).toBe(true);
  });

  test('a file alone: each try is a retry, and it fails when they are spent', async () => {
    const table = new Table(1);
    const waits: number[] = [];
    const outcomes = await uploadEach(shortSources(table, 3), shortUploader(table), {
      concurrency: 1,
      retries: 2,
      clock: {...systemClock, sleep: async ms => void waits.push(ms)},
    });
    expect(codes(outcomes)).toEqual(Array(3).fill('failed too_many_open_files'));
    expect(waits).toHaveLength(6);
  });
});
