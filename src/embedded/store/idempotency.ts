import {createHash} from 'node:crypto';
import {join} from 'node:path';
import type {Clock} from '../../host.ts';
import {isString, type Shape} from '../../lib/shape.ts';
import {Refusal} from '../exchange/refusal.ts';
import {claimName, renameDurably, writeDurably} from './durable.ts';
import {KeptFile} from './kept-file.ts';
import {isRecordId} from './record-id.ts';
import type {Store, StoredRecord} from './store.ts';

/** What is durable of an idempotency key before its record is committed. */
interface Entry {
  readonly id: string;
  /** SHA-256 and content type of the upload that the key came with. */
  readonly fingerprint: string;
}

const entryShape: Shape<Entry> = {id: isRecordId, fingerprint: isString};

const damageHint =
  'Restore it from a backup, or move it away: an upload with its Idempotency-Key is then stored once more.';

/** How long a second request waits for the first before it is told of it: a cut connection takes a moment to show. */
const inFlightPatienceMs = 1_000;

/**
 * The value of an Idempotency-Key field (draft-ietf-httpapi-idempotency-key-header: a structured-field string), or
 * undefined without one; throws a 400 for any other form.
 */
export function parseIdempotencyKey(field: string | string[] | undefined): string | undefined {
  if (field === undefined) return undefined;
  const match = /^ *"((?:[ !#-[\]-~]|\\["\\])+)" *$/.exec(String(field));
  if (match === null) {
    throw new Refusal(
      400,
      'Idempotency-Key must be one quoted string, such as "8e03978e-40d5-43dd-bc93-6894a57f9324".',
    );
  }
  return (match[1] ?? '').replace(/\\(["\\])/g, '$1');
}

/** The idempotency keys of a data directory: `idempotency/<hash of owner and key>.json`. */
export class IdempotencyEntries {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #inFlight = new Map<string, Promise<unknown>>();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** The name under which a key of an owner is kept. */
  nameOf(owner: string, key: string): string {
    return createHash('sha256')
      .update(JSON.stringify([owner, key]))
      .digest('hex');
  }

  /** Runs an upload unless another of that name runs in this process: then 409, after a short wait for its end. */
  async alone<T>(name: string, upload: () => Promise<T>): Promise<T> {
    const other = this.#inFlight.get(name);
    if (other !== undefined) await this.#settledSoon(other);
    if (this.#inFlight.has(name)) {
      throw new Refusal(409, 'An upload with this Idempotency-Key is still in flight.');
    }
    const running = upload();
    this.#inFlight.set(name, running);
    try {
      return await running;
    } finally {
      this.#inFlight.delete(name);
    }
  }

  /** The record that the name already led to, or undefined; throws a 422 when it was for other content. */
  async recordOf(name: string, fingerprint: string): Promise<StoredRecord | undefined> {
    const entry = await this.#read(name);
    // An entry is written before its record is committed, so one without a record is the trace of a crash.
    const record = entry && (await this.#store.find(entry.id));
    if (entry === undefined || record === undefined) return undefined;
    if (entry.fingerprint !== fingerprint) throw otherContent();
    return record;
  }

  /**
   * Makes the entry durable and returns the ID to commit under: the given one, or that of an entry for the same content
   * which a crash, or another process at this moment, has left without a record. Sharing the ID keeps it one record.
   */
  async claim(name: string, id: string, fingerprint: string): Promise<string> {
    const entry: Entry = {id, fingerprint};
    const draft = this.#store.temporaryPath();
    await writeDurably(draft, `${JSON.stringify(entry)}\n`);
    if (await claimName(draft, this.#path(name))) return id;
    const existing = await this.#read(name);
    if (existing?.fingerprint === fingerprint) return existing.id;
    if (existing !== undefined && (await this.#store.find(existing.id)) !== undefined) throw otherContent();
    const replacement = this.#store.temporaryPath();
    await writeDurably(replacement, `${JSON.stringify(entry)}\n`);
    await renameDurably(replacement, this.#path(name));
    return id;
  }

  async #settledSoon(other: Promise<unknown>): Promise<void> {
    let cancel = () => {};
    const patience = new Promise<void>(resolve => {
      cancel = this.#clock.after(inFlightPatienceMs, resolve);
    });
    await Promise.race([other.catch(() => undefined), patience]);
    cancel();
  }

  #read(name: string): Promise<Entry | undefined> {
    return new KeptFile(this.#path(name), damageHint).read(entryShape);
  }

  #path(name: string): string {
    return join(this.#store.idempotencyDirectory, `${name}.json`);
  }
}

function otherContent(): Refusal {
  return new Refusal(422, 'This Idempotency-Key was used for other content.');
}
