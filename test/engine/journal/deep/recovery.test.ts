import {readFile} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import {
  type Bench,
  begin,
  bench,
  formatTransition,
  header,
  inputOf,
  type Journal,
  lookup,
  readJournals,
  type Scope,
  sha256,
  upload,
  withoutSync,
  writeMergedJournal,
} from '../../../support/journal.ts';

const ends = ['done', 'commit', 'failed', 'intent'] as const;
const names = ends.map(end => `${end}-ü.png`);

/** A journal with one input for each way that a run can leave it in. */
async function written(): Promise<{one: Bench; bytes: Buffer}> {
  const one = await bench();
  await one.run(async journal => {
    for (const [index, end] of ends.entries())
      await upload(journal, inputOf(names[index] ?? ''), end, 'med_"\n"');
  });
  return {one, bytes: Buffer.from(await one.text())};
}

/** Every byte of the header and of the last lines, both sides of each line break, and some between. */
function* cuts(bytes: Buffer): Generator<number> {
  for (let length = 0; length <= bytes.length; length += 1) {
    const isAtBreak = bytes[length] === 10 || bytes[length - 1] === 10;
    if (length < header.length || length > bytes.length - 300 || length % 29 === 0 || isAtBreak) yield length;
  }
}

/** What a journal has to know, from its complete lines alone. */
function expected(text: string): Map<string, string> {
  const paths = new Map<string, string>();
  const states = new Map<string, string>();
  let committed = '';
  for (const line of text.split('\n')) {
    let fields: Record<string, string>;
    try {
      fields = JSON.parse(line);
    } catch {
      continue;
    }
    const {event, idempotencyKey = '', path} = fields;
    if (path !== undefined) paths.set(idempotencyKey, path ?? '');
    if (event === 'commit') committed = idempotencyKey;
    const key = event === 'release' ? committed : idempotencyKey;
    const state = {release: 'unknown', done: 'done', failed: 'new', commit: 'new', intent: 'new'}[
      event ?? ''
    ];
    if (state !== undefined) states.set(paths.get(key) ?? '', state);
  }
  return states;
}

describe('a journal cut off', () => {
  it('anywhere: what its whole lines say is known, and it goes on with a line of its own', async () => {
    const {one, bytes} = await written();
    for (const length of cuts(bytes)) {
      await one.write(bytes.subarray(0, length));
      const states = expected(bytes.subarray(0, length).toString());
      await one.run(
        async journal => {
          for (const name of names) {
            const {status} = await lookup(journal, inputOf(name));
            expect(`${length} ${name} ${status}`).toBe(`${length} ${name} ${states.get(name) ?? 'new'}`);
          }
          await upload(journal, inputOf('next.png'), 'failed');
        },
        one.path,
        withoutSync,
      );
      const text = await readFile(one.path);
      // Nothing is ever taken away.
      expect(text.subarray(0, length).equals(bytes.subarray(0, length))).toBe(true);
      const after = text.subarray(length).toString().split('\n');
      expect(after.at(-1)).toBe('');
      expect(() => after.slice(1, -1).map(line => JSON.parse(line))).not.toThrow();
    }
  });

  it('anywhere: can be read, and is left as it is by that', async () => {
    const {one, bytes} = await written();
    for (const length of cuts(bytes)) {
      await one.write(bytes.subarray(0, length));
      const readers = await readJournals([one.path], one.host, {paths: true});
      const states = expected(bytes.subarray(0, length).toString());
      for (const name of names.map(name => Buffer.from(name).toString('latin1'))) {
        const entry = readers[0]?.index.entriesOfPath(name)[0];
        const isDone = states.get(Buffer.from(name, 'latin1').toString()) === 'done';
        expect(entry?.state === 'done').toBe(isDone);
      }
      expect((await one.text()).length).toBe(bytes.subarray(0, length).toString().length);
    }
  });

  it.each([
    ['zero bytes', Buffer.alloc(5000)],
    ['half of a character', Buffer.from([0x7b, 0x22, 0xe6, 0x97])],
    ['a whole line that fits nothing', Buffer.from('{"event":"commit","idempotencyKey":"x","sha256":"00"}')],
  ])('with %s at its end: the next line stands by itself, and all is known', async (_name, tail) => {
    const {one, bytes} = await written();
    await one.write(Buffer.concat([bytes, tail]));
    for (let run = 0; run < 2; run += 1)
      await one.run(async journal =>
        expect(await journal.lookUpUnchanged(inputOf(names[0] ?? ''))).toMatchObject({status: 'done'}),
      );
    const text = await readFile(one.path);
    expect(text.subarray(0, bytes.length + tail.length + 1)).toEqual(
      Buffer.concat([bytes, tail, Buffer.from('\n')]),
    );
  });
});

describe('damage elsewhere', () => {
  it.each([
    ['half a line', '{"event":"intent","idempoten'],
    ['another word', 'conflict'],
    ['an empty line', ''],
    ['an unknown event', '{"event":"eaten","idempotencyKey":"x","sha256":"00"}'],
    ['a commit of nothing', '{"event":"commit","idempotencyKey":"x","sha256":"00"}'],
    ['a done line without a record', '{"event":"done","idempotencyKey":"KEY","sha256":"00"}'],
    [
      'a record without an ID',
      '{"event":"done","idempotencyKey":"KEY","sha256":"00","record":{"id":"","size":1}}',
    ],
    [
      'a record that is not last',
      '{"event":"done","idempotencyKey":"KEY","record":{"id":"m_1"},"sha256":"00"}',
    ],
    ['a record after a space', '{"event":"done","idempotencyKey":"KEY", "record":{"id":"m_1"}}'],
    ['an intent without a key', '{"event":"intent","by":"w","path":"a","size":1,"contentType":"image/png"}'],
    [
      'an intent with an empty key',
      '{"event":"intent","idempotencyKey":"","by":"w","path":"a","size":1,"contentType":"image/png"}',
    ],
    [
      'an intent of nobody',
      '{"event":"intent","idempotencyKey":"x","path":"a","size":1,"contentType":"image/png"}',
    ],
    ['zero bytes', '\0\0\0'],
  ])('%s: told with its line number, and nothing is changed', async (_name, line) => {
    const {one, bytes} = await written();
    const lines = bytes.toString().split('\n');
    // Of an upload that the lines before it have begun.
    lines.splice(3, 0, line.replace('KEY', JSON.parse(lines[2] ?? '').idempotencyKey));
    await one.write(lines.join('\n'));
    await expect(one.run(async () => {})).rejects.toThrow(/uploads\.ndjson is damaged: line 4 /);
    await expect(readJournals([one.path], one.host)).rejects.toThrow(/line 4 /);
    expect(await one.text()).toBe(lines.join('\n'));
  });

  it('bytes that are not UTF-8 within a line: told', async () => {
    const {one, bytes} = await written();
    const damagedBytes = Buffer.from(bytes);
    damagedBytes[bytes.indexOf('ü')] = 0xff;
    await one.write(damagedBytes);
    await expect(one.run(async () => {})).rejects.toThrow(/line 3 is not a journal line/);
  });

  it('one key for two sizes: told', async () => {
    const {one, bytes} = await written();
    const intent = bytes.toString().split('\n')[2] ?? '';
    const next = '{"event":"alive","by":"w"}';
    await one.write(`${bytes}${intent.replace('"size":', '"size":1')}\n${next}\n`);
    await expect(one.run(async () => {})).rejects.toThrow(/damaged: line \d+ belongs/);
  });
});

describe('a power cut that keeps a later write and loses an earlier one', () => {
  const kept = [
    '{"event":"commit","idempotencyKey":"lost","sha256":"00","by":"w"}',
    '{"event":"release","by":"w","at":"2026-01-01T00:00:00.000Z"}',
  ];

  const zeros = '\0'.repeat(300);
  const half = '{"event":"intent","idempoten';
  const holes: [where: string, hole: string][] = [
    ['in place of lines', zeros],
    ['from the middle of a line on', `${half}${zeros}`],
    ['up to the middle of a line', `${zeros}${half}`],
    ['within a line', `${half}${zeros}${half}`],
    ['within two lines, one after the other', `${half}${zeros}\n${zeros}${half}`],
    ['from the middle of a character on', `\xe6\x97${zeros}`],
  ];

  it.each(holes)(
    'zero bytes %s, then at most one release: what was synced before is known',
    async (_where, hole) => {
      const {one, bytes} = await written();
      await one.write(Buffer.concat([bytes, Buffer.from(`${hole}\n${kept.join('\n')}\n`, 'latin1')]));
      for (let run = 0; run < 2; run += 1)
        await one.run(async journal =>
          expect(await journal.lookUpUnchanged(inputOf(names[0] ?? ''))).toMatchObject({status: 'done'}),
        );
    },
  );

  it('nothing but the length of its first lines: as a new one', async () => {
    const {one} = await written();
    await one.write(Buffer.alloc(246));
    await one.run(journal => upload(journal, inputOf('a.png'), 'done'));
    await one.run(async journal =>
      expect(await journal.lookUpUnchanged(inputOf('a.png'))).toMatchObject({status: 'done'}),
    );
  });

  it('parts of the first line, of several runs: as a new one', async () => {
    const one = await bench();
    await one.write(`${header.slice(0, 30)}\n${header.slice(0, 40)}`);
    await one.run(journal => upload(journal, inputOf('a.png'), 'done'));
    await one.run(async journal => expect((await lookup(journal, inputOf('a.png'))).status).toBe('done'));
    await one.write(`${header.slice(0, 30)}\nnotes`);
    await expect(one.run(async () => {})).rejects.toThrow('is not a journal written by media.');
    expect(await one.text()).toBe(`${header.slice(0, 30)}\nnotes`);
  });

  it.each(holes)(
    'zero bytes %s, and a line after a release, which only a synced journal has: damage',
    async (_where, hole) => {
      const {one, bytes} = await written();
      const lines = [...kept, '{"event":"alive","by":"w","at":"2026-01-01T00:00:00.000Z"}'];
      await one.write(Buffer.concat([bytes, Buffer.from(`${hole}\n${lines.join('\n')}\n`, 'latin1')]));
      await expect(one.run(async () => {})).rejects.toThrow(/damaged: line \d+ is not/);
    },
  );
});

describe('journals joined end to end', () => {
  it('are one journal', async () => {
    const {one, bytes} = await written();
    const other = await written();
    await one.write(Buffer.concat([bytes, other.bytes]));
    await one.run(async journal => {
      expect(await lookup(journal, inputOf(names[0] ?? ''))).toMatchObject({status: 'done'});
      expect(journal.reader.index.size).toBe(8);
    });
  });

  it('an older copy behind: what is done stays done', async () => {
    const {one, bytes} = await written();
    const untilCommit = bytes.toString().split('\n').slice(0, 3).join('\n');
    await one.write(`${bytes}${untilCommit}\n`);
    await one.run(async journal => {
      expect(await journal.lookUpUnchanged(inputOf(names[0] ?? ''))).toMatchObject({status: 'done'});
    });
  });
});

describe('journals joined end to end, of which some name an account or tell which service it is', () => {
  const [url, anna] = ['https://media.example', {account: 'anna'}];
  const partOf = async (own: Partial<Scope>, serviceId?: string) => {
    const one = await bench();
    const begun = async (journal: Journal) => {
      const entry = await begin(journal, inputOf(`${one.directory}.png`));
      await entry.commit(sha256(`content of ${one.directory}.png`));
      await entry.recordStored('{"id":"med_1"}', serviceId);
      entry.end();
    };
    await one.run(begun, one.path, {scope: {service: url, ...own}});
    return one.text();
  };
  const joined = async (...parts: string[]) => {
    const one = await bench();
    await one.write(parts.join(''));
    const open = (own: Partial<Scope>, told?: string) =>
      one.run(async journal => journal.reader.index.size, one.path, {
        scope: {service: url, ...own},
        identify: async () => told,
      });
    return {open, text: () => one.text()};
  };

  it('only one names an account, first or last: they belong to it', async () => {
    const parts = [await partOf(anna), await partOf({})];
    for (const order of [parts, [...parts].reverse()]) {
      const {open} = await joined(...order);
      await expect(open({account: 'ben'})).rejects.toThrow(/belongs to account anna of /);
      expect(await open(anna)).toBe(2);
    }
  });

  it.each([2, 3])('of %i shards: they belong to none, and no shard goes on with them', async count => {
    const shards = Array.from({length: count}, (_, index) => `${index + 1}/${count}`);
    const {open} = await joined(...(await Promise.all(shards.map(shard => partOf({shard})))));
    for (const shard of shards) await expect(open({shard})).rejects.toThrow(/was written for no shard/);
    expect(await open({})).toBe(count);
  });

  it('only one names an account, first or last: merged, they belong to it', async () => {
    const parts = [await partOf(anna), await partOf({})];
    for (const order of [parts, [...parts].reverse()]) {
      const one = await bench();
      for (const [number, part] of order.entries()) await one.write(part, `${one.path}${number}`);
      const readers = await readJournals([`${one.path}0`, `${one.path}1`], one.host);
      await writeMergedJournal(one.path, readers, one.host);
      expect(await one.text()).toContain('"account":"anna"');
    }
  });

  it('only one tells its service, first or last: they belong to it, and a run asks', async () => {
    const parts = [await partOf({}, 'one'), await partOf({})];
    for (const order of [parts, [...parts].reverse()]) {
      const {open} = await joined(...order);
      await expect(open({}, 'two')).rejects.toMatchObject({code: 'journal_of_other_service'});
      await expect(open({})).rejects.toMatchObject({code: 'journal_unverified'});
      expect(await open({}, 'one')).toBe(2);
    }
  });

  it('each tells another service: refused, and left as they are', async () => {
    const {open, text} = await joined(await partOf({}, 'one'), await partOf({}, 'two'));
    const before = await text();
    await expect(open({}, 'one')).rejects.toThrow(/\(ID one\), and .*\(ID two\)\.$/);
    expect(await text()).toBe(before);
  });
});

describe('what two writers wrote into one journal', () => {
  const line = (event: 'open' | 'release' | 'close', by: string) => `{"event":"${event}","by":"${by}"}\n`;
  const {content, ...input} = inputOf('a.png');
  const intent = (by: string) =>
    formatTransition({event: 'intent', key: 'k', ...input, path: 'a.png', stat: undefined}, by);
  const commit = (by: string) => formatTransition({event: 'commit', key: 'k', sha256: sha256(content)}, by);
  const failed = (by: string) =>
    formatTransition({event: 'failed', key: 'k', error: {code: 'c', message: 'm'}}, by);
  /** A line about another upload. */
  const of = (key: string, text: string) => text.replace('"idempotencyKey":"k"', `"idempotencyKey":"${key}"`);
  const begun = `${header}\n${line('open', 'A')}${intent('A')}`;
  const sent = `${commit('A')}${line('release', 'A')}`;
  const done = formatTransition({event: 'done', key: 'k', recordJson: '{"id":"med_1"}'}, 'A');
  const resend = formatTransition({event: 'resolved', key: 'k', sha256: sha256(content), as: 'resend'}, 'B');

  it.each([
    ['committed and released', [begun, sent], 'unknown'],
    ['committed, and not released', [begun, commit('A')], 'pending'],
    [
      'committed, then another began, then released',
      [begun, commit('A'), line('open', 'B'), line('release', 'A')],
      'pending',
    ],
    [
      'committed, and given up before the release',
      [begun, commit('A'), failed('A'), line('release', 'A')],
      'failed',
    ],
    [
      'committed, and released by a write that also gives up another file',
      [begun, of('other', intent('A')), commit('A'), of('other', failed('A')), line('release', 'A')],
      'unknown',
    ],
    [
      'committed and released by the next writer, with a late failure of the first in between',
      [begun, line('open', 'B'), intent('B'), commit('B'), failed('A'), line('release', 'B')],
      'unknown',
    ],
    ['given up, then committed anew and released', [begun, commit('A'), failed('A'), sent], 'unknown'],
    ['committed and released after another began', [begun, line('open', 'B'), sent], 'pending'],
    ['the same after that one has ended', [begun, line('open', 'B'), line('close', 'B'), sent], 'pending'],
    ['released, then another began', [begun, sent, line('open', 'B')], 'unknown'],
    ['released, then refused after another began', [begun, sent, line('open', 'B'), failed('A')], 'failed'],
    [
      'released, sent again by another, then refused to the first',
      [begun, sent, line('open', 'B'), intent('B'), commit('B'), line('release', 'B'), failed('A')],
      'unknown',
    ],
    [
      'the same, and the first had begun again before it noticed the other',
      [begun, line('open', 'B'), intent('B'), commit('B'), line('release', 'B'), intent('A'), failed('A')],
      'unknown',
    ],
    ['stored, with an older copy behind: released', [begun, sent, done, begun, sent], 'done'],
    ['the same: refused', [begun, sent, done, begun, sent, failed('A')], 'done'],
    ['the same: to be sent again', [begun, sent, done, begun, sent, resend], 'done'],
  ])('%s', async (_name, parts, state) => {
    const one = await bench();
    await one.write(parts.join(''));
    const [reader] = await readJournals([one.path], one.host, {paths: true});
    const index = reader?.index;
    expect(index?.stateOf(index.rowOf('k'))).toBe(state);
  });
});
