import {appendFile} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import {
  type Bench,
  begin,
  bench,
  inputOf,
  type Journal,
  lookup,
  pathKey,
  sha256,
  type TestInput,
  withoutSync,
} from '../../support/journal.ts';
import {seededRandom} from '../../support/seeded.ts';

interface Upload {
  content: string;
  state: 'pending' | 'unknown' | 'done' | 'failed';
  key: string;
  id?: string;
}

const paths = ['a', 'b/ü', Buffer.from([0xff, 0x61]), Buffer.from([0xfe, 0x61])];
const contents = ['one', 'two', 'three'];

/** A journal under random use, beside what it has to know. */
class Trial {
  readonly #one: Bench;
  readonly #random: (below: number) => number;
  readonly #uploads: Upload[] = [];
  readonly #contentOfKey = new Map<string, string>();
  #mtime = 0n;
  #ids = 0;

  constructor(one: Bench, seed: number) {
    this.#one = one;
    const random = seededRandom(seed);
    this.#random = below => Math.floor(random() * below);
  }

  async run(): Promise<void> {
    const steps = 1 + this.#random(6);
    await this.#one.run(
      async journal => {
        await this.#compare(journal);
        for (let step = 0; step < steps; step += 1) await this.#step(journal);
      },
      this.#one.path,
      withoutSync,
    );
    const tail = '{"event":"done","idempotencyKey":"00000000-'.slice(0, this.#random(60));
    if (this.#random(2) === 0) await appendFile(this.#one.path, tail);
  }

  /** Every content at some path, in a state that nobody has seen. */
  async #compare(journal: Journal): Promise<void> {
    for (const content of contents) {
      this.#mtime += 1n;
      const found = await lookup(journal, inputOf(this.#pathOf(), content, this.#mtime));
      expect(found).toMatchObject(this.#expected(content));
    }
  }

  #pathOf(): string | Uint8Array {
    return paths[this.#random(paths.length)] ?? '';
  }

  #ofContent(content: string): Upload[] {
    return this.#uploads.filter(upload => upload.content === content);
  }

  #expected(content: string): object {
    const uploads = this.#ofContent(content);
    const unknown = uploads.find(({state}) => state === 'unknown');
    if (unknown !== undefined) return {status: 'unknown', key: unknown.key};
    const done = uploads.find(({state}) => state === 'done');
    return done === undefined ? {status: 'new'} : {status: 'done', received: {record: {id: done.id}}};
  }

  async #step(journal: Journal): Promise<void> {
    const content = contents[this.#random(contents.length)] ?? '';
    const unknown = this.#ofContent(content).find(({state}) => state === 'unknown');
    if (unknown !== undefined && this.#random(2) === 0) return this.#settle(journal, unknown);
    // One state of a file has one content, whatever its path.
    this.#mtime += BigInt(this.#random(2));
    const input = inputOf(this.#pathOf(), content, this.#mtime * 1000n + BigInt(contents.indexOf(content)));
    const found = await lookup(journal, input);
    expect(found).toMatchObject(this.#expected(content));
    if (found.status === 'new' || (found.status === 'unknown' && this.#random(3) === 0))
      await this.#upload(journal, input);
  }

  async #upload(journal: Journal, input: TestInput): Promise<void> {
    const entry = await begin(journal, input);
    const key = entry.idempotencyKey;
    const known = this.#uploads.find(upload => upload.key === key);
    const upload: Upload = known ?? {content: input.content, key, state: 'pending'};
    if (known === undefined) this.#uploads.push(upload);
    expect(entry.unknownKey).toBe(upload.state === 'unknown' ? key : undefined);
    const end = this.#random(4);
    if (end > 0) {
      await entry.commit(sha256(input.content));
      upload.state = 'unknown';
      // The service may hold a record for this key: it must never be sent with anything else.
      expect(this.#contentOfKey.get(key) ?? input.content).toBe(input.content);
      this.#contentOfKey.set(key, input.content);
    }
    if (end === 2) {
      upload.id = `med_${this.#ids++}`;
      await entry.recordStored(JSON.stringify({id: upload.id}));
      upload.state = 'done';
    }
    if (end === 3 && !entry.unknownKey) {
      await entry.recordFailure({code: 'rejected', message: 'no'});
      upload.state = 'failed';
    }
    entry.end();
  }

  async #settle(journal: Journal, unknown: Upload): Promise<void> {
    const found = paths.flatMap(path => journal.reader.entriesOf(pathKey(path), 'unknown'));
    for (const entry of found) {
      if ((await journal.reader.lineOf(entry)).key !== unknown.key) continue;
      const isStored = this.#random(2) === 0;
      unknown.id = `med_${this.#ids++}`;
      await journal.settle(entry, isStored ? {id: unknown.id} : undefined);
      unknown.state = isStored ? 'done' : 'pending';
      return;
    }
    throw new Error('the journal has forgotten an unknown');
  }
}

describe('random runs, crashes and torn lines', () => {
  it.each(Array.from({length: 10}, (_, seed) => seed + 1))(
    'seed %i: the journal knows what was told to it',
    async seed => {
      const trial = new Trial(await bench(), seed);
      for (let run = 0; run < 12; run += 1) await trial.run();
    },
  );
});
