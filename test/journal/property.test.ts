import {appendFile} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import type {Journal} from '../../src/journal/run-journal.ts';
import {type Bench, bench, inputOf, lookup, noHash, sha256, withoutSync} from '../support/journal.ts';
import {seeded} from '../support/seeded.ts';

interface Upload {
  content: string;
  state: 'pending' | 'unknown' | 'done' | 'failed';
  key: string;
  /** Unknown when other content of its path was sent: it may be stored all the same. */
  inDoubt?: boolean;
  id?: string;
}

const paths = ['a', 'b/ü', Buffer.from([0xff, 0x61]), Buffer.from([0xfe, 0x61])];
const contents = ['one', 'two', 'three'];

/** A journal under random use, beside what it has to know. */
class Trial {
  readonly #one: Bench;
  readonly #random: (below: number) => number;
  readonly #uploads: Upload[][] = paths.map(() => []);
  readonly #contentOfKey = new Map<string, string>();
  #mtime = 0n;
  #ids = 0;

  constructor(one: Bench, seed: number) {
    this.#one = one;
    const random = seeded(seed);
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

  /** Every path with every content, with an mtime that nobody has seen. */
  async #compare(journal: Journal): Promise<void> {
    for (const [index, path] of paths.entries()) {
      for (const content of contents) {
        this.#mtime += 1n;
        const found = await lookup(journal, inputOf(path, content, this.#mtime));
        expect(found).toMatchObject(this.#expected(index, content));
      }
    }
  }

  #expected(index: number, content: string): object {
    const uploads = this.#uploads[index] ?? [];
    if (uploads.some(({state}) => state === 'unknown')) return {status: 'unknown'};
    const done = uploads.findLast(upload => upload.state === 'done' && upload.content === content);
    return done === undefined ? {status: 'new'} : {status: 'done', recordJson: JSON.stringify({id: done.id})};
  }

  async #step(journal: Journal): Promise<void> {
    const index = this.#random(paths.length);
    const path = paths[index] ?? '';
    const uploads = this.#uploads[index] ?? [];
    const unknown = uploads.find(({state}) => state === 'unknown');
    if (unknown !== undefined && this.#random(2) === 0) return this.#settle(journal, path, unknown);
    const content = contents[this.#random(contents.length)] ?? '';
    this.#mtime += BigInt(this.#random(2));
    const input = inputOf(path, content, this.#mtime * 1000n + BigInt(contents.indexOf(content)));
    const found = await lookup(journal, input);
    expect(found).toMatchObject(this.#expected(index, content));
    if (found.status === 'new' || (found.status === 'unknown' && this.#random(3) === 0)) {
      await this.#upload(journal, input, uploads);
    }
  }

  async #upload(journal: Journal, input: ReturnType<typeof inputOf>, uploads: Upload[]): Promise<void> {
    // Sending other content sets aside what was unknown, which stays in doubt; sending the same leaves it unknown.
    for (const upload of uploads) {
      if (upload.state !== 'unknown' || upload.content === input.content) continue;
      upload.state = 'pending';
      upload.inDoubt = true;
    }
    const hash = sha256(input.content);
    const entry = await journal.begin(input, async () => hash);
    const key = entry.idempotencyKey;
    const known = uploads.find(upload => upload.key === key);
    const upload: Upload = known ?? {content: input.content, key, state: 'pending'};
    if (known === undefined) uploads.push(upload);
    const inDoubt = upload.state === 'unknown' || (upload.state === 'pending' && upload.inDoubt === true);
    expect(entry.inDoubt).toBe(inDoubt);
    if (!inDoubt) upload.state = 'pending';
    const end = this.#random(4);
    if (end > 0) {
      await entry.commit(hash);
      upload.state = 'unknown';
      // The service may hold a record for this key: it must never be sent with anything else.
      const stamp = `${String(input.path)} ${input.content}`;
      expect(this.#contentOfKey.get(key) ?? stamp).toBe(stamp);
      this.#contentOfKey.set(key, stamp);
    }
    if (end === 2) {
      upload.id = `med_${this.#ids++}`;
      await entry.done(JSON.stringify({id: upload.id}));
      upload.state = 'done';
    }
    if (end === 3) {
      await entry.failed({code: 'rejected', message: 'no'});
      upload.state = 'failed';
    }
    entry.end();
  }

  async #settle(journal: Journal, path: string | Uint8Array, unknown: Upload): Promise<void> {
    const entry = journal.unknownsOf(path).find(({key}) => key === unknown.key);
    if (entry === undefined) throw new Error('the journal has forgotten an unknown');
    const isStored = this.#random(2) === 0;
    unknown.id = `med_${this.#ids++}`;
    await journal.settle(entry, isStored ? {uploaded: unknown.id} : 'resend');
    unknown.state = isStored ? 'done' : 'pending';
    unknown.inDoubt = false;
    if (!isStored) expect(await journal.lookup(inputOf(path, 'never seen'), noHash)).toBeDefined();
  }
}

describe('random runs, crashes and torn lines', () => {
  it.each(Array.from({length: 20}, (_, seed) => seed + 1))(
    'seed %i: the journal knows what was told to it',
    async seed => {
      const trial = new Trial(await bench(), seed);
      for (let run = 0; run < 12; run += 1) await trial.run();
    },
  );
});
