import {mkdir, stat, symlink, truncate} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {MediaError} from '../../../src/errors.ts';
import {type FileSystem, systemFiles} from '../../../src/lib/files/file-system.ts';
import {holderHere} from '../../../src/lib/files/holder.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {eventually} from '../../support/eventually.ts';
import {
  begin,
  bench,
  changedHandle,
  formatHeader,
  formatTransition,
  formatWriterLine,
  header,
  hostIn,
  inputOf,
  type Journal,
  type JournalHandle,
  largeSourceOf,
  lookup,
  openJournal,
  pathKey,
  readJournals,
  readLookup,
  scope,
  sha256,
  sourceOf,
  type TestInput,
  type Transition,
  unread,
  upload,
  writeMergedJournal,
} from '../../support/journal.ts';

describe('a new journal', () => {
  it('begins with its version, once, and is for its owner alone', async () => {
    const one = await bench();
    await one.run(async () => {});
    expect((await one.text()).split('\n')[0]).toBe(header);
    expect((await stat(one.path)).mode & 0o777).toBe(0o600);
    await one.run(async () => {});
    expect((await one.text()).split(header)).toHaveLength(2);
  });

  it('in a directory that is not there: refused', async () => {
    const one = await bench();
    await one.write('a photo', join(one.directory, 'photo.png'));
    for (const place of ['missing', 'photo.png']) {
      const missing = join(one.directory, place, 'uploads.ndjson');
      await expect(one.run(async () => {}, missing)).rejects.toMatchObject({code: 'file_missing'});
    }
  });
});

it('content that is not what was admitted, although nothing shows it in the times of the file: not committed', async () => {
  const one = await bench();
  const input = inputOf('b.png', 'content');
  await one.run(async journal => {
    await upload(journal, inputOf('a.png', 'another'), 'done');
    const entry = await begin(journal, input, largeSourceOf(input));
    await expect(entry.commit(sha256('another'))).rejects.toMatchObject({code: 'source_changed'});
    await entry.commit(sha256('content'));
    await entry.recordFailure({code: 'rate_limited', message: 'later'});
    await expect(entry.commit(sha256('another'))).rejects.toMatchObject({code: 'source_changed'});
    await entry.commit(sha256('content'));
    await entry.recordStored('{"id":"b"}');
    entry.end();
    // Of a new size, and not hashed before it was sent.
    const large = inputOf('c.png', 'large content');
    const sent = await begin(journal, large, largeSourceOf(large));
    await sent.commit(sha256('large content'));
    await sent.recordFailure({code: 'rate_limited', message: 'later'});
    await expect(sent.commit(sha256('LARGE CONTENT'))).rejects.toMatchObject({code: 'source_changed'});
    sent.end();
  });
  expect(await one.lines()).toContainEqual(
    expect.objectContaining({event: 'commit', sha256: sha256('content')}),
  );
});

it('a large file that has changed just now, and is read to be known: read again while it is sent', async () => {
  const one = await bench();
  const clock = {...one.host.clock, now: () => 1_800_000_000_000};
  const journal = await openJournal(one.path, hostIn(one.directory, {clock}), {scope});
  await upload(journal, inputOf('a.png', 'content'), 'done');
  for (const [ms, isKnown] of [
    [-1_999, false],
    [-2_000, true],
  ] as const) {
    const input = inputOf(`${ms}.png`, 'CONTENT', BigInt(clock.now() + ms) * 1_000_000n);
    const entry = await begin(journal, input, largeSourceOf(input));
    expect(entry.sha256).toBe(isKnown ? sha256('CONTENT') : undefined);
    entry.end();
  }
  await journal.close();
});

describe('the lines', () => {
  const intent = {
    path: 'a/cat.png',
    size: 4,
    stat: '1700000000123456789 1700000000123456789 1 2',
    types: 'extension',
    contentType: 'image/png',
  };

  it('tell of a small upload: what it is and that it is committed, then its record', async () => {
    const one = await bench();
    const key = await one.run(journal => upload(journal, inputOf('a/cat.png', 'meow'), 'done', 'med_9'));
    const by = expect.stringMatching(/^[0-9a-f]{16}$/);
    expect(await one.lines()).toEqual([
      {event: 'commit', idempotencyKey: key, by, ...intent, sha256: sha256('meow')},
      {event: 'done', idempotencyKey: key, record: {id: 'med_9'}},
    ]);
  });

  it('tell of a large upload before it is hashed', async () => {
    const one = await bench();
    const input = inputOf('a/cat.png', 'meow');
    const key = await one.run(async journal => {
      const entry = await begin(journal, input, largeSourceOf(input));
      await entry.commit(sha256('meow'));
      entry.end();
      return entry.idempotencyKey;
    });
    expect(await one.lines()).toEqual([
      {event: 'intent', idempotencyKey: key, by: expect.any(String), ...intent},
      {event: 'commit', idempotencyKey: key, by: expect.any(String), sha256: sha256('meow')},
    ]);
  });

  it('of 100 small uploads take at most 450 bytes each, beside their records', async () => {
    const one = await bench();
    const record = JSON.stringify({id: 'med_1', urls: []});
    await one.run(async journal => {
      await Promise.all(
        Array.from({length: 100}, async (_, number) => {
          const input = inputOf(`library/2024/album-${number}/photograph-${number}.jpeg`);
          const entry = await begin(journal, input);
          await entry.commit(sha256(input.content));
          await entry.recordStored(record);
          entry.end();
        }),
      );
    });
    expect((await one.text()).length / 100 - record.length).toBeLessThan(450);
  });

  it('hold a failure with its code and message', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png'), 'failed'));
    expect((await one.lines()).at(-1)).toMatchObject({
      event: 'failed',
      error: {code: 'rejected', message: 'the service refused it'},
    });
  });
});

describe('a record', () => {
  it.each([
    ['numbers past 2^53', '{"id":"a","size":9007199254740993123,"x":1.0}'],
    ['a member of that name within', '{"record":{"record":[1,{"record":"}"}]},"id":"a"}'],
    ['a member of that name behind another', '{"id":"a","record":{"id":"b"}}'],
    ['quotes and braces in strings', String.raw`{"id":"\"},{\\","urls":["{","}\\"]}`],
    ['a quote and 1,100 brackets in a string', String.raw`{"id":"a","x":"\"${'['.repeat(1_100)}"}`],
    ['line breaks outside strings', '{"id":"a",\n"size":12345678901234567890}'],
    ['as many as an editor makes, of each kind', '{\r\n"id":"a",\n"x":[1,\n\n2],\r"y":3\r\n}'],
    ['separators and controls', '{"id":"\u2028\u0085\\u0000"}'],
    ['1 MiB, as much as an upload accepts', `{"id":"a","x":"${'x'.repeat(2 ** 20 - 17)}"}`],
    ['500 levels, as many as an upload accepts', `{"id":"a","x":${'['.repeat(499)}${']'.repeat(499)}}`],
  ])('with %s comes back as it was', async (_name, json) => {
    const one = await bench();
    const input = inputOf('a.png');
    await one.run(async journal => {
      const entry = await begin(journal, input);
      await entry.commit(sha256(input.content));
      await entry.recordStored(json);
      entry.end();
      expect(await lookup(journal, input)).toMatchObject({
        status: 'done',
        received: {json: json.replace(/[\r\n]+/g, '')},
      });
    });
    await one.run(async journal => {
      expect(await journal.lookUpUnchanged(input)).toMatchObject({
        received: {json: json.replace(/[\r\n]+/g, '')},
      });
    });
  });
});

describe('what is no record', () => {
  it.each(['', '{"id":"a"', '[]', '"a"', '{"id":"a"}}'])('%j is never written', async json => {
    const one = await bench();
    await one.run(async journal => {
      const entry = await begin(journal, inputOf('a.png', 'content'));
      await entry.commit(sha256('content'));
      await expect(entry.recordStored(json)).rejects.toThrow(/not a journal line/);
      await entry.recordStored('{"id":"a"}');
    });
    expect(await one.lines()).toHaveLength(2);
  });
});

it('a response of another service: told at once, so that nothing more is sent, and rejected once it is recorded', async () => {
  const one = await bench();
  await one.run(
    async journal => {
      const entry = await begin(journal, inputOf('a.png', 'content'));
      await entry.commit(sha256('content'));
      const told: string[] = [];
      const recording = entry.recordStored('{"id":"a"}', 'another', ({code}) => told.push(code));
      expect(told).toEqual(['journal_of_other_service']);
      await expect(recording).rejects.toMatchObject({code: 'journal_of_other_service'});
      expect((await one.lines()).at(-1)).toMatchObject({event: 'done', serviceId: 'another'});
    },
    one.path,
    {scope: {...scope, serviceId: 'one'}},
  );
  // The end of a run is in the file, for machines that cannot see its process.
  expect((await one.text()).split('\n').at(-2)).toMatch(/^{"event":"close"/);
});

it('a response of another service than only the first of two headers names: rejected', async () => {
  const one = await bench();
  await one.write(`${formatHeader({...scope, serviceId: 'one'})}${formatHeader(scope)}`);
  await one.run(async journal => {
    const entry = await begin(journal, inputOf('a.png', 'content'));
    await entry.commit(sha256('content'));
    await expect(entry.recordStored('{"id":"a"}', 'two')).rejects.toMatchObject({
      code: 'journal_of_other_service',
    });
  });
});

describe('what responses with these IDs have stored, one after the other', () => {
  it.each<[name: string, of: string | undefined, ids: (string | undefined)[], next: string[]]>([
    ['the ID of the journal, or none', 'one', ['one', undefined], ['done', 'done']],
    ['another ID than the journal', 'one', ['two', 'one', 'two'], ['new', 'done', 'new']],
    ['the first ID, another one, none', undefined, ['one', 'two', undefined], ['done', 'new', 'done']],
    ['none, the first ID, another one', undefined, [undefined, 'one', 'two'], ['done', 'done', 'new']],
  ])(
    '%s: only what the service of the journal has is known to the next run',
    async (_name, of, ids, next) => {
      const one = await bench();
      const options = {scope: {...scope, ...(of !== undefined && {serviceId: of})}};
      const inputs = ids.map((_, number) => inputOf(`${number}.png`));
      const store = async (journal: Journal) => {
        for (const [number, input] of inputs.entries()) {
          const entry = await begin(journal, input);
          await entry.commit(sha256(input.content));
          const end = await entry.recordStored(`{"id":"med_${number}"}`, ids[number]).catch(({code}) => code);
          expect(end).toBe(next[number] === 'new' ? 'journal_of_other_service' : undefined);
          entry.end();
          // The run itself does not skip an equal file for it either.
          const copy = {...input, path: `copy of ${input.path}`};
          expect((await lookup(journal, copy)).status).toBe(next[number]);
        }
      };
      const known = async (journal: Journal) => {
        const found = await Promise.all(inputs.map(input => lookup(journal, input)));
        return found.map(({status}) => status);
      };
      await one.run(store, one.path, options);
      expect(await one.run(known)).toEqual(next);
      await writeMergedJournal(`${one.path}-merged`, await readJournals([one.path], one.host), one.host);
      expect(await one.run(known, `${one.path}-merged`)).toEqual(next);
    },
  );
});

it('what a service declares about keys: the last counts, and the journal stays of its account, part and service', async () => {
  const one = await bench();
  const own = {...scope, account: 'anna', shard: '1/2', serviceId: 'one'};
  for (const honoursKeys of [true, false, false, true])
    await one.run(async journal => journal.recordKeySupport(honoursKeys), one.path, {scope: own});
  const [reader] = await readJournals([one.path], one.host);
  expect(reader?.scope).toEqual({...own, honoursKeys: true});
  expect((await one.text()).match(/"honoursKeys":\w+/g)?.map(text => text.slice(14))).toEqual([
    ...['true', 'false', 'true'],
  ]);
  // The ID that only a response has told is in the next header.
  await one.run(async journal => {
    const entry = await begin(journal, inputOf('a.png', 'content'));
    await entry.commit(sha256('content'));
    await entry.recordStored('{"id":"a"}', 'two');
    journal.recordKeySupport(true);
  }, `${one.path}-2`);
  expect(await one.text(`${one.path}-2`)).toContain('"serviceId":"two","honoursKeys":true}');
});

it.each([
  ['deadline_exceeded', 'deadline_exceeded'],
  ['unauthorized', 'unauthorized'],
  ['connection_refused', 'journal_unverified'],
] as const)('the service is asked which it is, and that ends with %s: %s', async (code, told) => {
  const one = await bench();
  await one.write(formatHeader({...scope, serviceId: 'one'}));
  const identify = () => Promise.reject(new MediaError(code, 'No response.'));
  await expect(one.run(async () => {}, one.path, {identify})).rejects.toMatchObject({code: told});
});

describe('what is known of a file', () => {
  it('an unknown upload that is sent again under another name: what becomes of that', async () => {
    const one = await bench();
    const [input, equal] = [inputOf('a.png', 'content'), inputOf('b.png', 'content')];
    await one.run(journal => upload(journal, input, 'commit'));
    await one.run(async journal => {
      expect(await journal.lookUpUnchanged(input)).toMatchObject({status: 'unknown'});
      const entry = await begin(journal, equal);
      await entry.commit(sha256('content'));
      const found = lookup(journal, input);
      await entry.recordStored('{"id":"a"}');
      entry.end();
      expect(await found).toMatchObject({status: 'done', received: {json: '{"id":"a"}'}});
    });
  });

  it('a hash that reads as the number 0 is a hash', async () => {
    const one = await bench();
    const hash = `0e${'1'.repeat(62)}`;
    const lines: Transition[] = [
      {event: 'commit', key: 'k', sha256: hash, path: 'a.png', size: 4, contentType: 'image/png'},
      {event: 'done', key: 'k', recordJson: '{"id":"a"}'},
    ];
    await one.write(`${formatHeader(scope)}${lines.map(line => formatTransition(line, 'w')).join('')}`);
    await one.run(async journal =>
      expect(await journal.lookUpContent({size: 4, contentType: 'image/png'}, hash)).toMatchObject({
        status: 'done',
      }),
    );
  });

  it('nothing of one that was never begun; a large one of a new size is not read', async () => {
    const one = await bench();
    await one.run(async journal => {
      const input = inputOf('a.png');
      expect(await journal.lookUpUnchanged(input)).toBeUndefined();
      expect(await journal.beginUpload(input, unread)).toMatchObject({
        status: 'new',
        log: {sha256: undefined},
      });
    });
  });

  it.each([17, 5 * 2 ** 30])('all as it was, %i bytes: its record, without reading the file', async size => {
    const one = await bench();
    const input = {...inputOf('a.png'), size};
    await one.run(journal => upload(journal, input, 'done', 'med_7'));
    await one.run(async journal => {
      expect(await journal.lookUpUnchanged(input)).toMatchObject({
        status: 'done',
        received: {json: '{"id":"med_7"}'},
      });
      expect(await journal.lookUpUnchanged(inputOf('a.png', 'other content!'))).toBeUndefined();
    });
  });

  const changed = (path: string, content: string, changes: Partial<TestInput> = {}): TestInput => ({
    ...inputOf(path, content),
    ...changes,
  });
  const stat = {mtimeNs: 1_700_000_000_123_456_789n, ctimeNs: 5n, dev: 1n, ino: 2n};

  it.each([
    ['another mtime', inputOf('a.png', 'content', 5n), 'done'],
    ['another path, as after a rename or in a copy', inputOf('b.png', 'content', 5n), 'done'],
    ['another spelling of its name', inputOf('./x/../a.png', 'content'), 'done'],
    ['no file at all', changed('a.png', 'content', {stat: undefined}), 'done'],
    ['another type', changed('a.png', 'content', {contentType: 'image/gif', typeRule: 'image/gif'}), 'new'],
    [
      'another transform',
      changed('a.png', 'content', {transformRule: 'geotags/2', transform: 'geotags/2'}),
      'new',
    ],
    ['other bytes with the same size and mtime', changed('a.png', 'CONTENT', {stat}), 'new'],
    ['other bytes that are no file', changed('a.png', 'CONTENT', {stat: undefined}), 'new'],
    ['another size', inputOf('a.png', 'contents'), 'new'],
  ])('%s', async (_name, input, status) => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png', 'content'), 'done'));
    for (let run = 0; run < 2; run += 1)
      await one.run(async journal => expect(await lookup(journal, input)).toMatchObject({status}));
  });

  it('with a transform: the line has it after the rule of the types', async () => {
    const one = await bench();
    const input = changed('a.png', 'content', {transformRule: 'geotags/2', transform: 'geotags/2'});
    await one.run(journal => upload(journal, input, 'done'));
    expect((await one.lines())[0]).toMatchObject({types: 'extension geotags/2', transform: 'geotags/2'});
  });

  it('found by its content: a line says so, once, and it has not to be read again', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png', 'content'), 'done'));
    const copy = inputOf('copy.png', 'content', 5n);
    const bytes = {...inputOf('bytes.png', 'content'), stat: undefined};
    for (let run = 0; run < 3; run += 1) {
      await one.run(async journal => {
        expect((await journal.lookUpUnchanged(copy))?.status).toBe(run === 0 ? undefined : 'done');
        for (const input of [copy, bytes]) expect((await lookup(journal, input)).status).toBe('done');
      });
    }
    const seen = (await one.lines()).filter(({event}) => event === 'seen');
    expect(seen.map(({path}) => path)).toEqual(['copy.png', 'bytes.png']);
  });

  it('changed less than two seconds before it was hashed: read again the next time, and only then', async () => {
    const one = await bench();
    const now = 1_800_000_000_000;
    /** A run in which it is so many milliseconds later. */
    const run = async <T>(ms: number, action: (journal: Journal) => Promise<T>): Promise<T> => {
      const clock = {...one.host.clock, now: () => now + ms};
      const journal = await openJournal(one.path, hostIn(one.directory, {clock}), {scope});
      return action(journal).finally(() => journal.close());
    };
    const changedAt = (name: string, content: string, ms: number) =>
      inputOf(name, content, BigInt(now + ms) * 1_000_000n);
    const changed = changedAt('a.png', 'content', -1_999);
    // Whoever changes a file may set the one time back, and not the other.
    const young = {...changed, stat: changed.stat && {...changed.stat, mtimeNs: 5n}};
    const old = changedAt('b.png', 'other', -2_000);
    for (const input of [young, old]) await run(0, journal => upload(journal, input, 'done'));
    await run(0, async journal => {
      expect(await journal.lookUpUnchanged(young)).toBeUndefined();
      expect(await journal.lookUpUnchanged(old)).toMatchObject({status: 'done'});
    });
    for (const known of [undefined, 'done']) {
      await run(3_000, async journal => {
        expect((await journal.lookUpUnchanged(young))?.status).toBe(known);
        expect((await lookup(journal, young)).status).toBe('done');
      });
    }
  });

  it('changed less than two seconds before it was hashed, then long held back by its equal: read again', async () => {
    const one = await bench();
    let now = 1_800_000_000_000;
    const clock = {...one.host.clock, now: () => now};
    const open = () => openJournal(one.path, hostIn(one.directory, {clock}), {scope});
    const journal = await open();
    const first = inputOf('a.png', 'content');
    const young = inputOf('b.png', 'content', BigInt(now - 1_999) * 1_000_000n);
    const entry = await begin(journal, first);
    const held = journal.beginUpload(young, sourceOf(young));
    now += 60_000;
    await entry.commit(sha256(first.content));
    await entry.recordStored('{"id":"med_1"}');
    entry.end();
    expect((await held).status).toBe('done');
    await journal.close();
    const next = await open();
    expect(await next.lookUpUnchanged(young)).toBeUndefined();
    expect(await next.lookUpUnchanged(first)).toMatchObject({status: 'done'});
    await next.close();
  });

  it.each(['intent', 'failed'] as const)('after %s: new', async end => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png'), end));
    await one.run(async journal => expect(await lookup(journal, inputOf('a.png'))).toEqual({status: 'new'}));
    // Once its content is stored, by it or by a copy, its state leads to that upload.
    const copy = inputOf('copy.png', inputOf('a.png').content);
    await one.run(journal => upload(journal, copy, end));
    await one.run(journal => upload(journal, inputOf('a.png'), 'done'));
    await one.run(async journal => expect(await lookup(journal, copy)).toMatchObject({status: 'done'}));
    await one.run(async journal => {
      for (const input of [inputOf('a.png'), copy])
        expect(await journal.lookUpUnchanged(input)).toMatchObject({status: 'done'});
    });
  });

  it('after a commit without an end: unknown under any name and type; other content of its path is not', async () => {
    const one = await bench();
    const key = await one.run(journal => upload(journal, inputOf('a.png', 'content'), 'commit'));
    await one.run(async journal => {
      for (const input of [
        inputOf('a.png', 'content'),
        inputOf('b.png', 'content', 7n),
        changed('a.png', 'content', {contentType: 'image/gif', typeRule: 'image/gif'}),
      ])
        expect(await lookup(journal, input)).toEqual({status: 'unknown', key});
      expect(await lookup(journal, inputOf('a.png', 'CONTENT', 7n))).toEqual({status: 'new'});
    });
  });

  it('after a commit without an end, where keys are honoured: new as it was sent, unknown in any other way', async () => {
    const one = await bench();
    const key = await one.run(journal => upload(journal, inputOf('a.png', 'content'), 'commit'));
    const original = inputOf('b.png', 'content', 7n);
    await one.run(async journal => {
      for (const input of [
        {...original, contentType: 'image/gif', typeRule: 'image/gif'},
        {...original, transformRule: 'geotags/2', transform: 'geotags/2'},
      ])
        expect(await journal.beginUpload(input, sourceOf(input), {resendSince: 0})).toEqual({
          ...{status: 'unknown', key},
        });
      const again = await journal.beginUpload(original, sourceOf(original), {resendSince: 0});
      expect(again).toMatchObject({status: 'new', log: {idempotencyKey: key, unknownKey: key}});
    });
    // A clock that was set back by a little does no harm; by more, nobody knows how old the key is.
    for (const [behindMs, status] of [
      [30_000, 'new'],
      [3_600_000, 'unknown'],
    ] as const) {
      const clock = {...one.host.clock, now: () => one.host.clock.now() - behindMs};
      const journal = await openJournal(one.path, hostIn(one.directory, {clock}), {scope});
      const found = await journal.beginUpload(original, sourceOf(original), {resendSince: 0});
      await journal.close();
      expect(found.status).toBe(status);
    }
  });

  it('done under one type and unknown under another: unknown, or its record where that may be sent again', async () => {
    const one = await bench();
    const gif = changed('a.png', 'content', {contentType: 'image/gif', typeRule: 'image/gif'});
    await one.run(journal => upload(journal, inputOf('a.png', 'content'), 'done', 'med_1'));
    const key = await one.run(journal => upload(journal, gif, 'commit'));
    await one.run(async journal => {
      expect(await journal.lookUpUnchanged(gif)).toEqual({status: 'unknown', key});
      for (const input of [gif, inputOf('a.png', 'content')]) {
        expect(await lookup(journal, input)).toEqual({status: 'unknown', key});
      }
      expect(await lookup(journal, inputOf('b.png', 'content'), true)).toMatchObject({
        status: 'done',
        received: {json: '{"id":"med_1"}'},
      });
    });
  });

  it('after a commit, a refusal and a second commit: unknown', async () => {
    const one = await bench();
    await one.run(async journal => {
      const entry = await begin(journal, inputOf('a.png', 'content'));
      await entry.commit(sha256('content'));
      await entry.recordFailure({code: 'rate_limited', message: 'later'});
      await entry.commit(sha256('content'));
      entry.end();
      expect(await lookup(journal, inputOf('a.png', 'content'))).toMatchObject({status: 'unknown'});
    });
  });

  it('an older content of the path that comes back: its record', async () => {
    const one = await bench();
    await one.run(journal => upload(journal, inputOf('a.png', 'first', 1n), 'done', 'med_1'));
    await one.run(journal => upload(journal, inputOf('a.png', 'other', 2n), 'done', 'med_2'));
    await one.run(async journal => {
      expect(await lookup(journal, inputOf('a.png', 'first', 3n))).toMatchObject({
        received: {json: '{"id":"med_1"}'},
      });
    });
  });
});

describe('two files of equal content on their way', () => {
  const two = (end: 'done' | 'failed' | 'commit', sources = sourceOf) =>
    bench().then(one =>
      one.run(async journal => {
        const [first, second] = [inputOf('a.png', 'content'), inputOf('b.png', 'content', 5n)];
        const entry = await begin(journal, first, sources(first));
        let found: string | undefined;
        const waiting = journal.beginUpload(second, sources(second)).then(({status}) => {
          found = status;
        });
        await new Promise(resolve => setImmediate(resolve));
        if (end !== 'failed') await entry.commit(sha256('content'));
        await new Promise(resolve => setImmediate(resolve));
        expect(found).toBeUndefined();
        if (end === 'done') await entry.recordStored('{"id":"a"}');
        if (end === 'failed') await entry.recordFailure({code: 'rejected', message: 'no'});
        entry.end();
        await waiting;
        return found;
      }),
    );

  it.each([
    ['stored: the second takes its record', 'done', 'done'],
    ['refused: the second is tried', 'failed', 'new'],
    ['unknown: so is the second', 'commit', 'unknown'],
  ] as const)('the first is %s', async (_name, end, found) => {
    expect(await two(end)).toBe(found);
    // A large one is hashed while it is sent: the second waits for that.
    expect(await two(end, largeSourceOf)).toBe(found);
  });

  it('of equal size only: neither waits for the other', async () => {
    const one = await bench();
    await one.run(async journal => {
      const entries = await Promise.all(
        ['one', 'two', 'six'].map(text => begin(journal, inputOf(text, text))),
      );
      expect(new Set(entries.map(entry => entry.idempotencyKey)).size).toBe(3);
    });
  });

  it('of equal size only, and large: the second waits for the hash of the first, not for its response', async () => {
    const one = await bench();
    await one.run(async journal => {
      const [first, second] = [inputOf('a.png', 'one'), inputOf('b.png', 'two')];
      const entry = await begin(journal, first, largeSourceOf(first));
      let isBegun = false;
      const next = begin(journal, second, largeSourceOf(second)).finally(() => {
        isBegun = true;
      });
      await entry.commit(sha256('one'));
      expect(await eventually(() => isBegun)).toBe(true);
      entry.end();
      (await next).end();
    });
  });
});

it('a run, or a dry run, that is stopped while a large file is read to be known: reads no further, and forgets it', async () => {
  const one = await bench();
  const input = inputOf('a.png', 'content');
  await one.run(journal => upload(journal, input, 'done'));
  await one.run(async journal => {
    for (const memory of [journal, await readLookup(one.path, one.host, scope)]) {
      const stop = new Stop<Error>();
      let reads = 0;
      const read = async () => {
        reads += 1;
        stop.abort(new Error('Ctrl-C'));
        return Buffer.from('c');
      };
      const looking = memory?.beginUpload({...input, stat: undefined}, {size: 7, read}, {stop});
      await expect(looking).rejects.toThrow('Ctrl-C');
      expect(reads).toBe(1);
    }
    expect(await lookup(journal, inputOf('b.png', 'content'))).toMatchObject({status: 'done'});
  });
});

it('a thousand large files, of which the last one alone was sent: known by its content', async () => {
  const one = await bench();
  const {content, ...last} = inputOf('999.png');
  const intents = Array.from({length: 1000}, (_, at) =>
    formatTransition({event: 'intent', key: `${at}`, ...last, path: `${at}.png`, stat: undefined}, 'w'),
  );
  const commit = formatTransition({event: 'commit', key: '999', sha256: sha256(content)}, 'w');
  const release = formatWriterLine('release', {...holderHere(one.host), token: 'w'}, 0);
  await one.write(`${header}\n${intents.join('')}${commit}${release}`);
  await one.run(async journal =>
    expect(await lookup(journal, inputOf('b.png', content))).toEqual({status: 'unknown', key: '999'}),
  );
});

describe('the idempotency key', () => {
  const again = async (end: 'intent' | 'failed' | 'done' | 'commit', input: TestInput) => {
    const one = await bench();
    const first = await one.run(journal => upload(journal, inputOf('a.png', 'content'), end));
    return first === (await one.run(journal => upload(journal, input, 'intent')));
  };

  it.each([
    ['intent, which tells no content, the same file: new', 'intent', inputOf('a.png', 'content'), false],
    ['a refusal, the same file: new', 'failed', inputOf('a.png', 'content'), false],
    ['done, other content: new', 'done', inputOf('a.png', 'CONTENT', 1n), false],
    ['unknown, the same content sent again: the same', 'commit', inputOf('a.png', 'content', 1n), true],
    ['unknown, the same content of another name: the same', 'commit', inputOf('b.png', 'content', 1n), true],
    ['unknown, other content sent: new', 'commit', inputOf('a.png', 'CONTENT'), false],
  ] as const)('after %s', async (_name, end, input, isSame) => {
    expect(await again(end, input)).toBe(isSame);
  });

  it.each([
    ['as another type', {contentType: 'image/gif', typeRule: 'image/gif'}],
    ['without its location', {transformRule: 'geotags/2', transform: 'geotags/2'}],
  ])('an unknown that is sent again %s: a new one, and the first stays in doubt', async (_how, changes) => {
    const one = await bench();
    const key = await one.run(journal => upload(journal, inputOf('a.png', 'content'), 'commit'));
    await one.run(async journal => {
      const entry = await begin(journal, {...inputOf('a.png', 'content'), ...changes});
      expect(entry.unknownKey).toBe(key);
      expect(entry.idempotencyKey).not.toBe(key);
      entry.end();
    });
  });

  it('an unknown that is sent again stays unknown, under one key, until it is done', async () => {
    const one = await bench();
    const input = inputOf('a.png');
    const keys = new Set<string>();
    for (const end of ['commit', 'intent', 'commit', 'intent', 'done'] as const) {
      await one.run(async journal => {
        const [key] = keys;
        if (key !== undefined) expect(await lookup(journal, input)).toEqual({status: 'unknown', key});
        const entry = await begin(journal, input);
        expect(entry.unknownKey).toBe(key);
        keys.add(entry.idempotencyKey);
        if (end !== 'intent') await entry.commit(sha256(input.content));
        if (end === 'done') await entry.recordStored('{"id":"a"}');
        entry.end();
      });
    }
    expect(keys.size).toBe(1);
    await one.run(async journal => expect(await lookup(journal, input)).toMatchObject({status: 'done'}));
  });
});

describe('settling an unknown', () => {
  const settled = async (record?: {id: string}) => {
    const one = await bench();
    const key = await one.run(journal => upload(journal, inputOf('a.png', 'content'), 'commit'));
    await one.run(async journal => {
      const [entry] = journal.reader.entriesOf(pathKey('a.png'), 'unknown');
      if (entry !== undefined) await journal.settle(entry, record);
    });
    return {one, key};
  };

  it('as uploaded: done with a record of that ID, for that content alone', async () => {
    const {one} = await settled({id: 'med "5"'});
    await one.run(async journal => {
      expect(await lookup(journal, inputOf('a.png', 'content', 1n))).toMatchObject({
        status: 'done',
        received: {json: String.raw`{"id":"med \"5\""}`},
      });
      expect(await lookup(journal, inputOf('a.png', 'CONTENT', 2n))).toEqual({status: 'new'});
    });
  });

  it('to be sent again: new, under the same key, even after another crash', async () => {
    const {one, key} = await settled();
    for (const end of ['intent', 'commit'] as const) {
      const input = inputOf('a.png', 'content', 9n);
      await one.run(async journal => expect(await upload(journal, input, end)).toBe(key));
    }
  });
});

describe('a path that is not UTF-8', () => {
  it('is told by its bytes', async () => {
    const one = await bench();
    const path = Buffer.from([0x61, 0xff, 0x2f, 0xe9, 0x0a]);
    await one.run(journal => upload(journal, inputOf(path), 'done'));
    expect((await one.lines())[0]).toMatchObject({
      path: 'a\ufffd/\ufffd\n',
      pathBase64: path.toString('base64'),
    });
    await one.run(async journal => {
      expect(await journal.lookUpUnchanged(inputOf(path))).toMatchObject({status: 'done'});
      for (const other of ['a\ufffd/\ufffd\n', 'aÿ/é\n', Buffer.from([0x61, 0xfe])])
        expect(await journal.lookUpUnchanged({...inputOf(path), path: other})).toBeUndefined();
    });
  });

  it.each(['ü/日本.png', 'line\nbreak "quoted" \\ .png', '\u2028'])(
    '%j is, and its bytes mean the same',
    async path => {
      const one = await bench();
      await one.run(journal => upload(journal, inputOf(path), 'done'));
      expect((await one.lines())[0]).toMatchObject({path});
      expect((await one.lines())[0]).not.toHaveProperty('pathBase64');
      await one.run(async journal => {
        expect(await journal.lookUpUnchanged(inputOf(Buffer.from(path)))).toMatchObject({status: 'done'});
      });
    },
  );
});

describe('a file that cannot be a journal', () => {
  it.each([
    ['a photograph', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR', /is not a journal written by media\./],
    ['a text', 'hello', /is not a journal written by media\./],
    ['another NDJSON', '{"event":"done"}\n', /is not a journal written by media\./],
    ['an empty first line', `\n${header}\n`, /is not a journal written by media\./],
    ['more zeros than a first write has', '\0'.repeat(4097), /is not a journal written by media\./],
    ['a whole line of them', `${'\0'.repeat(4097)}\n${header}\n`, /is not a journal written by media\./],
    [
      'a later version',
      '{"journal":"media","version":3,"service":"https://media.example"}\n',
      /version 3, but this version of media reads only version 2\./,
    ],
    [
      'a later version that was cut off before its first line break',
      '{"journal":"media","version":3,"service":"https://media.example"}',
      /version 3, but this version of media reads only version 2\./,
    ],
    [
      'the first version, which knew no service',
      '{"journal":"media","version":1}\n',
      /version 1, but this version of media reads only version 2\./,
    ],
    ['no service', '{"journal":"media","version":2}\n', /does not name a service/],
    ['no version', '{"journal":"media"}\n', /version undefined/],
  ])('%s: refused and left as it is', async (_name, text, message) => {
    const one = await bench();
    await one.write(text);
    await expect(one.run(async () => {})).rejects.toThrow(message);
    await expect(readJournals([one.path], one.host)).rejects.toThrow(message);
    expect(await one.text()).toBe(text);
  });

  it('a large file without a line break: refused before all of it is read', async () => {
    const one = await bench();
    await one.write(header.slice(0, 20));
    await truncate(one.path, 2 ** 28);
    let most = 0;
    const open = async (...parameters: Parameters<FileSystem['open']>) => {
      const handle = await systemFiles.open(...parameters);
      const read: JournalHandle['read'] = (buffer, offset, length, position) => {
        most = Math.max(most, position + length);
        return handle.read(buffer, offset, length, position);
      };
      return changedHandle(handle, {read});
    };
    const files = {...systemFiles, open} as FileSystem;
    await expect(readJournals([one.path], {...one.host, files})).rejects.toThrow(
      /longer than any journal line/,
    );
    expect(most).toBeLessThan(2 ** 26);
  });

  it('a symbolic link, a directory: refused', async () => {
    const one = await bench();
    await one.write('', join(one.directory, 'real'));
    await symlink('real', one.path);
    await expect(one.run(async () => {})).rejects.toThrow(/is a symbolic link, so it is not a journal\./);
    await mkdir(join(one.directory, 'folder'));
    await expect(one.run(async () => {}, join(one.directory, 'folder'))).rejects.toThrow(/is a directory/);
    expect(await one.text(join(one.directory, 'real'))).toBe('');
  });

  it('a FIFO: refused, without waiting for somebody to write to it', async () => {
    const one = await bench();
    await execa('mkfifo', [one.path]);
    await expect(one.run(async () => {})).rejects.toThrow(/is not a regular file/);
    await expect(readJournals([one.path], one.host)).rejects.toThrow(/is not a regular file/);
  });
});
