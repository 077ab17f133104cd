import type {Entry} from './index.ts';
import {idIn, type PathKey, pathKey} from './lines.ts';
import type {JournalReader} from './reader.ts';
import type {ContentHash, JournalInput} from './run-journal.ts';

/** Whether an input stands in the journals exactly once, and if not, why. */
export interface Verdict {
  status: 'once' | 'missing' | 'doubled' | 'unknown';
  path: PathKey;
  /** For people: what was found instead. */
  reason: string;
  /** The IDs that the service gave it. */
  ids: string[];
}

/** `keeper` is the journal that holds all of a path that stands. */
export type KeptVerdict = Verdict & {keeper?: JournalReader | undefined};

interface Found {
  reader: JournalReader;
  entry: Entry;
}

/** Some journals taken together. */
export class JournalSet {
  readonly #holders = new Map<PathKey, JournalReader[]>();

  constructor(readers: readonly JournalReader[]) {
    for (const reader of readers) {
      for (const path of reader.index.paths()) {
        const holders = this.#holders.get(path);
        if (holders === undefined) this.#holders.set(path, [reader]);
        else holders.push(reader);
      }
    }
  }

  /** Proves an input by its path and content: exactly one stored copy of it, and no upload of unknown outcome. */
  async prove(input: JournalInput, hash: ContentHash): Promise<Verdict> {
    const path = pathKey(input.path);
    const found = this.#entriesOf(path);
    const unknown = firstUnknown(found);
    if (unknown !== undefined) return verdict('unknown', path, unknownReason(unknown));
    const sameSize = found.filter(({entry}) => entry.state === 'done' && entry.size === input.size);
    const isPlain = sameSize.length === 1 && sameSize[0]?.entry.mtimeNs === input.mtimeNs;
    const same = isPlain || sameSize.length === 0 ? sameSize : await withHash(sameSize, await hash());
    const ids = await idsOf(same);
    if (ids.length === 1) return verdict('once', path, '', ids);
    if (ids.length > 1) return verdict('doubled', path, `stored ${ids.length} times`, ids);
    return verdict('missing', path, await missingReason(found));
  }

  /** Proves all paths by what the journals themselves tell, in the order in which they come first. */
  async *proveAll(): AsyncGenerator<KeptVerdict> {
    for (const [path, holders] of this.#holders) yield await this.#provePath(path, holders);
  }

  async #provePath(path: PathKey, holders: readonly JournalReader[]): Promise<KeptVerdict> {
    const found = this.#entriesOf(path);
    const unknown = firstUnknown(found);
    if (unknown !== undefined) return verdict('unknown', path, unknownReason(unknown));
    const stands = holders.some(({index}) => index.lastOf(path)?.state === 'done');
    if (!stands) return verdict('missing', path, await missingReason(found));
    const done = found.filter(({entry}) => entry.state === 'done');
    if (done.length === 1) return {...verdict('once', path, ''), keeper: done[0]?.reader};
    const ids = await idsOf(done);
    for (const keeper of holders) {
      const kept = done.filter(({reader}) => reader === keeper);
      // A journal that goes on with a copy of another holds all that the other does.
      if ((await idsOf(kept)).length < ids.length) continue;
      return (await isStoredTwice(kept))
        ? verdict('doubled', path, 'the same content was stored more than once', ids)
        : {...verdict('once', path, '', ids), keeper};
    }
    return verdict('doubled', path, `stored ${ids.length} times, by several journals`, ids);
  }

  #entriesOf(path: PathKey): Found[] {
    return (this.#holders.get(path) ?? []).flatMap(reader =>
      [...reader.index.entriesOf(path)].map(entry => ({reader, entry})),
    );
  }
}

function verdict(status: Verdict['status'], path: PathKey, reason: string, ids: string[] = []): Verdict {
  return {status, path, reason, ids};
}

/** An unknown outcome that another of the journals does not know to be done. */
function firstUnknown(found: readonly Found[]): Found | undefined {
  const done = new Set(found.filter(({entry}) => entry.state === 'done').map(({entry}) => entry.key));
  return found.find(({entry}) => entry.state === 'unknown' && !done.has(entry.key));
}

function unknownReason({reader}: Found): string {
  return `sent, and no outcome is recorded in ${reader.shown}`;
}

async function missingReason(found: readonly Found[]): Promise<string> {
  const [latest] = found;
  if (latest === undefined) return 'in none of the journals';
  if (latest.entry.state === 'done') return 'stored with other content only';
  return entryReason(latest.reader, latest.entry);
}

/** Why an entry is not stored, as a phrase. */
export async function entryReason(reader: JournalReader, entry: Entry): Promise<string> {
  switch (entry.state) {
    case 'failed': {
      const {code, message} = await reader.failureOf(entry);
      return message || code;
    }
    case 'unknown':
      return 'sent, and no outcome is recorded';
    case 'pending':
      return entry.released ? 'to be sent again' : 'not sent to its end';
    case 'done':
      return '';
  }
}

async function withHash(found: readonly Found[], sha256: string): Promise<Found[]> {
  const hashes = await Promise.all(found.map(({reader, entry}) => reader.hashOf(entry)));
  return found.filter((_, index) => hashes[index] === sha256);
}

/** The same record told twice, as in a copy of a journal, is one. */
async function idsOf(found: readonly Found[]): Promise<string[]> {
  const records = await Promise.all(found.map(({reader, entry}) => reader.recordOf(entry)));
  return [...new Set(records.map(idIn))];
}

/** Within one journal a path may have had several contents, each of them stored once. */
async function isStoredTwice(found: readonly Found[]): Promise<boolean> {
  const hashes = await Promise.all(found.map(({reader, entry}) => reader.hashOf(entry)));
  const ids = await Promise.all(found.map(async one => (await idsOf([one]))[0]));
  return found.some((_, one) =>
    found.some((_, other) => hashes[one] === hashes[other] && ids[one] !== ids[other]),
  );
}
