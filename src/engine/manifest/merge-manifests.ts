import {omitUndefined} from '../../lib/object.ts';
import {addUnknown, type Manifest, renderEntry, type UnknownEntry} from './manifest-file.ts';

/**
 * Merges two changes of a manifest, `base`, by key. A key that one side has not changed is as on the other, also where
 * that has deleted it. Where both have changed it, the entry is kept that has the hash of the file, which is that of
 * `ours` if `hashOf` confirms neither. Without a base, the result has the keys of both.
 */
export async function mergeManifests(
  base: Manifest | undefined,
  theirs: Manifest,
  ours: Manifest,
  hashOf: (key: string) => Promise<string | undefined>,
): Promise<Manifest> {
  const files = await merge(base?.files, theirs.files, ours.files, renderEntry, async (key, their, our) =>
    // Equal for both who join the same two sides.
    their.sha256 === our.sha256
      ? renderEntry(their) < renderEntry(our)
      : their.sha256 === (await hashOf(key)),
  );
  const unknownTwice: [string, UnknownEntry][] = [];
  const unknown = await merge(
    base?.unknown,
    theirs.unknown,
    ours.unknown,
    renderEntry,
    async (key, their) => {
      unknownTwice.push([key, their]);
      return false;
    },
  );
  for (const [key, entry] of unknownTwice) addUnknown(unknown, key, entry);
  const others = await merge(base?.others, theirs.others, ours.others, String, async () => false);
  const serviceId = ours.serviceId ?? theirs.serviceId;
  return {...ours, ...omitUndefined({serviceId}), files, unknown, others};
}

type Entries<Value> = ReadonlyMap<string, Value> | undefined;

/** Merges by key. `takesTheirs` decides where both sides have changed a value in different ways. */
async function merge<Value>(
  base: Entries<Value>,
  theirs: Entries<Value>,
  ours: Entries<Value>,
  textOf: (value: Value) => string,
  takesTheirs: (key: string, their: Value, our: Value) => Promise<boolean>,
): Promise<Map<string, Value>> {
  const merged = new Map<string, Value>();
  for (const key of new Set([...(theirs?.keys() ?? []), ...(ours?.keys() ?? [])])) {
    const [was, their, our] = [base?.get(key), theirs?.get(key), ours?.get(key)];
    const [before, theirText, ourText] = [was, their, our].map(value => value && textOf(value));
    let value = our;
    if (ourText === before) value = their;
    else if (their !== undefined && theirText !== before && theirText !== ourText) {
      if (our === undefined || (await takesTheirs(key, their, our))) value = their;
    }
    if (value !== undefined) merged.set(key, value);
  }
  return merged;
}
