import type {Clock} from '../../host.ts';
import {claimName, replaceDurably, writeDurably} from '../../lib/files/durable.ts';
import {systemFiles} from '../../lib/files/file-system.ts';
import {isString, type ShapeOf} from '../../lib/json.ts';
import {Refusal} from '../exchange/refusal.ts';
import type {Store} from './data-store.ts';
import {readStored} from './kept-file.ts';
import {hashOf} from './keys.ts';
import {isRecordId, type StoredRecord} from './stored-record.ts';

/** The entry of an idempotency key, stored before its record. `fingerprint`: the upload's SHA-256 and content type. */
const entryShape = {id: isRecordId, fingerprint: isString};

type Entry = ShapeOf<typeof entryShape>;

/** Parses an Idempotency-Key (a quoted string, by the IETF draft); throws a 400 for other forms. */
export function parseIdempotencyKey(field: string | string[] | undefined): string | undefined {
  if (field === undefined) return undefined;
  const match = /^ *"((?:[ !#-[\]-~]|\\["\\])+)" *$/.exec(String(field));
  if (match === null)
    throw new Refusal(
      400,
      'Idempotency-Key must be one quoted string, such as "8e03978e-40d5-43dd-bc93-6894a57f9324".',
    );
  return (match[1] ?? '').replace(/\\(["\\])/g, '$1');
}

/** The idempotency keys of a data directory: `idempotency/<hash of owner and key>.json`. */
export function idempotencyEntries(store: Store, clock: Clock) {
  const inFlight = new Map<string, Promise<unknown>>();
  const pathOf = (name: string) => store.path('idempotency', name);

  /** The entry; with a `fingerprint` only one for that content. Throws a 422 if other content is stored by this key. */
  const entryFor = async (name: string, fingerprint?: string): Promise<Entry | undefined> => {
    const hint =
      'Restore it from a backup, or move it away: an upload with its Idempotency-Key is then stored again.';
    const entry = await readStored({path: pathOf(name), hint}, entryShape);
    if (entry === undefined || fingerprint === undefined || entry.fingerprint === fingerprint) return entry;
    // Entries are written before their records, so an entry without a record is left from a crash.
    if ((await store.find(entry.id)) === undefined) return undefined;
    throw new Refusal(422, 'This Idempotency-Key was already used for other content.');
  };

  /** Resolves when another upload has ended, or after a second: it takes a moment until a broken connection shows. */
  const waitBriefly = (other: Promise<unknown>) =>
    new Promise<void>(resolve => {
      const cancel = clock.after(1_000, resolve);
      void Promise.allSettled([other]).then(cancel).then(resolve);
    });

  return {
    /** The name of the entry for an owner's Idempotency-Key field; undefined without one. */
    entryNameOf(owner: string, field: string | string[] | undefined): string | undefined {
      const key = parseIdempotencyKey(field);
      return key === undefined ? undefined : hashOf(JSON.stringify([owner, key]));
    },

    /** Runs an upload. If another with that name runs in this process, waits shortly for its end, then throws a 409. */
    async runExclusive<T>(name: string, upload: () => Promise<T>): Promise<T> {
      const other = inFlight.get(name);
      if (other !== undefined) await waitBriefly(other);
      if (inFlight.has(name))
        throw new Refusal(409, 'An upload with this Idempotency-Key is still in progress.');
      const running = upload().finally(() => inFlight.delete(name));
      inFlight.set(name, running);
      return running;
    },

    /** The record of an earlier upload with this key, if its file is complete; throws a 422 for other content. */
    async recordOf(name: string, fingerprint?: string): Promise<StoredRecord | undefined> {
      const entry = await entryFor(name, fingerprint);
      return entry && store.findComplete(entry.id);
    },

    /**
     * Stores the entry and returns the ID for the record: the given one, or that of an existing entry for the same
     * content without a record or its file, left by a crash or being uploaded by another process. With the same ID
     * there is only one record.
     */
    async reserveId(name: string, id: string, fingerprint: string): Promise<string> {
      const entry: Entry = {id, fingerprint};
      const text = `${JSON.stringify(entry)}\n`;
      const draft = store.temporaryPath();
      await writeDurably(draft, text, systemFiles);
      if (await claimName(draft, pathOf(name), systemFiles)) return id;
      const existing = await entryFor(name, fingerprint);
      if (existing !== undefined) return existing.id;
      await replaceDurably(pathOf(name), text, store.temporaryPath(), systemFiles);
      return id;
    },
  };
}
