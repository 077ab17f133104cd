import {createHash, randomBytes, timingSafeEqual} from 'node:crypto';
import {open, rm, stat} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../../host.ts';
import {defined} from '../../lib/defined.ts';
import {isList, isSha256, isString, listOf, oneOf, optional, type Shape} from '../../lib/shape.ts';
import {systemCode} from '../../lib/system-code.ts';
import {Refusal} from '../exchange/refusal.ts';
import {renameDurably, writeDurably} from './durable.ts';
import {KeptFile} from './kept-file.ts';

/** The permissions of keys: POST /v1/media/upload, and /graphql. */
export type Permission = 'upload' | 'graphql';

const permissions: readonly Permission[] = ['upload', 'graphql'];

/** A stored key, without the key itself. */
export interface StoredKey {
  /** SHA-256 of the plain key, hexadecimal. */
  readonly hash: string;
  readonly label?: string;
  readonly permissions: readonly Permission[];
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

export interface KeyOptions {
  /** Default: both. */
  permissions?: readonly Permission[];
  /** Keys with the same label belong to the same owner, whose idempotency keys stay valid. */
  label?: string;
  /** Whether the key is stored; otherwise only this process knows it. Default true. */
  persist?: boolean;
}

interface KeyFile {
  version: 1;
  keys: StoredKey[];
}

const keyShape: Shape<StoredKey> = {
  hash: isSha256,
  label: optional(isString),
  permissions: listOf(oneOf(...permissions)),
  createdAt: isString,
};

const fileShape: Shape<{version: 1; keys: unknown[]}> = {version: oneOf(1), keys: isList};

const damageHint = 'Restore it from a backup, or move it away and use a new key.';

const lockStaleAfterMs = 10_000;
const lockPatienceMs = 20_000;

/** The API keys of a data directory, in `keys.json` (0600), and those of this process only. */
export class KeyRing {
  readonly #path: string;
  readonly #clock: Clock;
  #processKeys: StoredKey[] = [];

  constructor(dataDirectory: string, clock: Clock) {
    this.#path = join(dataDirectory, 'keys.json');
    this.#clock = clock;
  }

  /** Rejects if the stored keys cannot be read. */
  async prepare(): Promise<void> {
    await this.#read();
  }

  /** Creates a key and returns it; it cannot be read later. */
  async create(options: KeyOptions = {}): Promise<string> {
    const key = `mk_${randomBytes(24).toString('base64url')}`;
    const stored: StoredKey = defined({
      hash: hashOf(key),
      label: options.label,
      permissions: [...(options.permissions ?? permissions)],
      createdAt: new Date(this.#clock.now()).toISOString(),
    });
    if (options.persist === false) this.#processKeys.push(stored);
    else await this.#update(keys => [...keys, stored]);
    return key;
  }

  /** Revokes every key with a label. */
  async revoke(label: string): Promise<void> {
    this.#processKeys = this.#processKeys.filter(key => key.label !== label);
    await this.#update(keys => keys.filter(key => key.label !== label));
  }

  /** The stored key for a plain key; undefined if it is unknown. */
  async find(key: string): Promise<StoredKey | undefined> {
    const presented = Buffer.from(hashOf(key));
    let found: StoredKey | undefined;
    // All keys are compared in constant time, so that timing reveals nothing about the stored hashes.
    for (const stored of [...(await this.#read()), ...this.#processKeys]) {
      const candidate = Buffer.from(stored.hash);
      if (candidate.length === presented.length && timingSafeEqual(candidate, presented)) found = stored;
    }
    return found;
  }

  async #read(): Promise<StoredKey[]> {
    const file = new KeptFile(this.#path, damageHint);
    const {keys = []} = (await file.read(fileShape)) ?? {};
    return keys.map((key, index) => file.checked(key, keyShape, `keys[${index}]`));
  }

  async #update(change: (keys: StoredKey[]) => StoredKey[]): Promise<void> {
    const release = await this.#lock();
    const draft = `${this.#path}.${randomBytes(8).toString('hex')}`;
    try {
      const file: KeyFile = {version: 1, keys: change(await this.#read())};
      await writeDurably(draft, `${JSON.stringify(file, null, 2)}\n`);
      await renameDurably(draft, this.#path);
    } finally {
      await rm(draft, {force: true});
      await release();
    }
  }

  /** Locks `keys.json.lock`, so that two processes do not overwrite each other's keys. */
  async #lock(): Promise<() => Promise<void>> {
    const lock = `${this.#path}.lock`;
    const deadline = this.#clock.monotonic() + lockPatienceMs;
    while (true) {
      try {
        await (await open(lock, 'wx', 0o600)).close();
        return () => rm(lock, {force: true});
      } catch (error) {
        if (systemCode(error) !== 'EEXIST') throw error;
        if (this.#clock.monotonic() > deadline) {
          throw new Error(`Another process holds ${lock}; remove it if none does.`, {cause: error});
        }
      }
      await this.#removeStale(lock);
      await this.#clock.sleep(10);
    }
  }

  async #removeStale(lock: string): Promise<void> {
    const age = await stat(lock).then(
      found => this.#clock.now() - found.mtimeMs,
      () => 0,
    );
    if (age > lockStaleAfterMs) await rm(lock, {force: true});
  }
}

/** The owner of a key: its label, or the key itself. Each owner has separate idempotency keys. */
export function ownerOf(key: StoredKey): string {
  return key.label === undefined ? `key ${key.hash}` : `label ${key.label}`;
}

/**
 * Returns the key of a request (interface, part 5). Throws a 401 for an unknown key, and `deniedStatus` without a bearer
 * token or the permission.
 */
export async function authorize(
  authorization: string | undefined,
  permission: Permission,
  keys: KeyRing,
  deniedStatus: 403 | 404,
): Promise<StoredKey> {
  const token = /^bearer +(.*)$/i.exec(authorization ?? '')?.[1]?.trim() ?? '';
  if (token === '') throw denied(deniedStatus, 'The request carries no API key.');
  const key = await keys.find(token);
  if (key === undefined) throw new Refusal(401, 'The API key is unknown.', {'WWW-Authenticate': 'Bearer'});
  if (!key.permissions.includes(permission)) {
    throw denied(deniedStatus, `The API key lacks the permission "${permission}".`);
  }
  return key;
}

function denied(status: 403 | 404, message: string): Refusal {
  return new Refusal(status, status === 404 ? 'There is nothing here.' : message);
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
