import {createHash, randomBytes} from 'node:crypto';
import {join} from 'node:path';
import {type Clock, systemHost} from '../../host.ts';
import {replaceDurably} from '../../lib/files/durable.ts';
import {systemFiles} from '../../lib/files/file-system.ts';
import {withLock} from '../../lib/files/lock.ts';
import {isList, isSha256, isString, listOf, oneOf, optional, type ShapeOf} from '../../lib/json.ts';
import {omitUndefined} from '../../lib/object.ts';
import {Secret} from '../../lib/secrets/secret.ts';
import {ignoreDamage, readStored, requireShape} from './kept-file.ts';
import {keyUses} from './key-uses.ts';

/** The permissions of keys: POST /v1/media/upload; queries to /graphql; everything at /graphql. */
export const allPermissions = ['upload', 'read', 'graphql'] as const;

export type Permission = (typeof allPermissions)[number];

const keyShape = {
  /** SHA-256 of the plain key, hexadecimal. */
  hash: isSha256,
  /** Keys with the same label belong to the same owner, whose idempotency keys stay valid. */
  label: optional(isString),
  /** The name that the owner gave it. */
  name: optional(isString),
  /** The key as it may be shown, by which the owner recognises it. */
  masked: optional(isString),
  permissions: listOf(oneOf(...allPermissions)),
  /** ISO 8601, UTC. */
  createdAt: isString,
  /** ISO 8601, UTC; the key is refused from then on. */
  expiresAt: optional(isString),
};

/** A stored key, without the key itself. */
export type StoredKey = Readonly<ShapeOf<typeof keyShape>>;

export interface KeyOptions extends Pick<StoredKey, 'label' | 'name'> {
  /** The key itself; by default a random one. */
  key?: string;
  /** Default: `upload` and `graphql`. */
  permissions?: readonly Permission[];
  /** How long it is valid, in milliseconds; without it, until the key is revoked. */
  validForMs?: number;
  /** When it expires at the latest, as in a StoredKey; by default at any time. */
  expiresBy?: string | undefined;
  /** Whether the key is stored; otherwise only this process knows it. Default true. */
  persist?: boolean;
}

/** The API keys of a data directory, in `keys.json` (0600), and of this process. `newDraft`: makes a free path. */
export async function keyRing(dataDirectory: string, newDraft: () => string, clock: Clock) {
  const path = join(dataDirectory, 'keys.json');
  const uses = keyUses(dataDirectory, clock);
  let processKeys: StoredKey[] = [];

  /** The keys in `keys.json`; rejects if it is damaged. */
  const list = async (): Promise<StoredKey[]> => {
    const file = {path, hint: 'Restore it from a backup, or move it away and use a new key.'};
    const {keys = []} = (await readStored(file, {version: oneOf(1), keys: isList})) ?? {};
    return keys.map((key, index) => requireShape(file, key, keyShape, `keys[${index}]`));
  };

  /** The stored keys of the start, and those with a label that this process has created. */
  let storedKeys = await list();

  /** Changes the stored keys, and resolves to those before; two processes do not overwrite each other's. */
  const update = (change: (keys: StoredKey[]) => StoredKey[]): Promise<StoredKey[]> => {
    // Under the lock: reads the keys again, writes them, and deletes the last uses of those that are gone.
    const replace = async () => {
      const before = await list();
      const keys = change(before);
      await replaceDurably(path, `${JSON.stringify({version: 1, keys}, null, 2)}\n`, newDraft(), systemFiles);
      const stay = new Set(keys.map(keyId));
      for (const id of before.map(keyId)) if (!stay.has(id)) await uses.forget(id);
      return before;
    };
    // Longer than it takes to find that a holder in another container is gone (90 s).
    return withLock(`${path}.lock`, systemHost(), replace, 100_000);
  };

  /** Puts what `change` makes of a stored key in its place; resolves to whether the key exists. */
  const updateOne = async (id: string, change: (key: StoredKey) => StoredKey[]): Promise<boolean> => {
    const before = await update(keys => keys.flatMap(key => (keyId(key) === id ? change(key) : key)));
    return before.some(key => keyId(key) === id);
  };

  return {
    /** The stored keys, oldest first. Rejects if they cannot be read. */
    list,

    /** Creates a key and returns it; it cannot be read later. */
    async create(options: KeyOptions = {}): Promise<string> {
      const key = options.key ?? `mk_${randomBytes(24).toString('base64url')}`;
      const now = clock.now();
      const {label, name, validForMs = Number.POSITIVE_INFINITY, expiresBy} = options;
      const latest = expiresBy === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresBy);
      const end = Math.min(now + validForMs, latest);
      const newKey: StoredKey = omitUndefined({
        hash: hashOf(key),
        label,
        name,
        masked: new Secret(key).mask(),
        permissions: [...(options.permissions ?? (['upload', 'graphql'] as const))],
        createdAt: new Date(now).toISOString(),
        expiresAt: Number.isFinite(end) ? new Date(end).toISOString() : undefined,
      });
      if (options.persist === false) processKeys.push(newKey);
      else await update(keys => [...keys, newKey]);
      if (label !== undefined && options.persist !== false) storedKeys.push(newKey);
      return key;
    },

    /**
     * Revokes the keys with a label; with `unused`, only those that were never used, but for the last key, which may be
     * used yet. If the uses of a key cannot be read, it stays.
     */
    async revoke(label: string, which: 'all' | 'unused' = 'all'): Promise<void> {
      const keptHashes = new Set<string>();
      const keys = which === 'all' ? [] : (await list()).filter(key => key.label === label);
      for (const key of keys) {
        const lastUse = await uses.find(keyId(key)).catch(() => 'unreadable');
        if (lastUse !== undefined || key === keys.at(-1)) keptHashes.add(key.hash);
      }
      const stays = (key: StoredKey) => key.label !== label || keptHashes.has(key.hash);
      processKeys = processKeys.filter(stays);
      storedKeys = storedKeys.filter(stays);
      await update(keys => keys.filter(stays));
    },

    /** Restores the stored keys of the start. Keys with a label stay: they belong to whoever started a service. */
    async restore(): Promise<void> {
      const startIds = new Set(storedKeys.map(keyId));
      const isOther = (key: StoredKey) => key.label !== undefined && !startIds.has(keyId(key));
      await update(keys => [...storedKeys, ...keys.filter(isOther)]);
    },

    /** Ends the validity of a key that only this process knows. */
    forget(key: string): void {
      const hash = hashOf(key);
      processKeys = processKeys.filter(known => known.hash !== hash);
    },

    /** Notes that a program has used a key, unless it ends with this process, and is not listed. */
    recordUse(key: StoredKey, agent: string): void {
      if (!processKeys.includes(key)) uses.recordUse(keyId(key), agent);
    },

    /** The last use of a key; undefined if none is recorded. Rejects if the process has no descriptor left. */
    lastUse: (key: StoredKey) => uses.find(keyId(key)).catch(ignoreDamage),

    /** Resolves when all uses are written. */
    waitForWrites: uses.waitForWrites,

    /** Renames a stored key; resolves to whether it exists. */
    rename: (id: string, name: string) => updateOne(id, key => [{...key, name}]),

    /** Revokes one stored key; resolves to whether it existed. */
    revokeOne: (id: string) => updateOne(id, () => []),

    /** The stored key for a plain key; undefined if it is unknown. */
    async find(key: string): Promise<StoredKey | undefined> {
      const keyHash = hashOf(key);
      // Hashes are compared, so that timing reveals nothing about the keys.
      return [...(await list()), ...processKeys].find(({hash}) => hash === keyHash);
    },
  };
}

/** Identifies a stored key on pages and in requests to change it, without revealing anything about the key. */
export function keyId({hash}: StoredKey): string {
  return hash.slice(0, 16);
}

/** Whether a key is no longer valid. */
export function hasExpired({expiresAt}: StoredKey, clock: Clock): boolean {
  // A time that cannot be read has passed.
  return expiresAt !== undefined && !(Date.parse(expiresAt) > clock.now());
}

/** The owner of a key: its label, or the key itself. Each owner has separate idempotency keys. */
export function ownerOf(key: StoredKey): string {
  return key.label === undefined ? `key ${key.hash}` : `label ${key.label}`;
}

/** The SHA-256 of a secret, in hex, by which it is stored and looked up. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
