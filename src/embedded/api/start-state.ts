import {rm} from 'node:fs/promises';
import {pipeline} from 'node:stream/promises';
import type {StopSignal} from '../../host.ts';
import type {RandomAccess} from '../../lib/files/random-access.ts';
import {Refusal} from '../exchange/refusal.ts';
import {hashOf} from '../state/keys.ts';
import {seedId} from '../state/stored-record.ts';
import type {SeedFile, Service} from './context.ts';
import {commitUpload, writeUpload} from './upload-route.ts';

/** Stores a seed. Resolves to the reset function, which restores this state and resolves to the number of media. */
export async function storeStartState(
  service: Service,
  seed: AsyncGenerator<SeedFile> | undefined,
  stop?: StopSignal,
): Promise<() => Promise<number>> {
  const {store, keys, profile, resets} = service;
  const seedFiles = seed === undefined ? new Map<string, SeedFile>() : await storeSeed(seed, service, stop);
  const atStart = new Set(await store.ids());
  const name = await profile.name();
  // Removes later uploads, puts back what is missing of the seed, and the keys and the name of the user.
  const reset = async () => {
    await store.remove((await store.ids()).filter(id => !atStart.has(id)));
    for (const [id, file] of seedFiles)
      if (!(await isWhole(id, service))) await restoreSeedFile(id, file, service);
    await keys.restore();
    await profile.setName(name);
    return (await store.ids()).length;
  };
  return () => resets.reset(reset);
}

/** Stores the files that are not stored yet; resolves to all of them, by their IDs. */
async function storeSeed(files: AsyncGenerator<SeedFile>, service: Service, stop?: StopSignal) {
  const seeded = new Map<string, SeedFile>();
  // Eight such loops share the generator, since most of the time is spent waiting for a disk.
  const work = async () => {
    for await (const file of files) {
      stop?.throwIfAborted();
      await storeSeedFile(file, service, id => {
        const same = seeded.get(id);
        if (same !== undefined) file.onSame?.(same.name);
        seeded.set(id, file);
        return same === undefined;
      });
    }
  };
  // All of them end before this rejects, so that none writes into a directory that the caller has left.
  const results = await Promise.allSettled(Array.from({length: 8}, work));
  for (const worker of results) if (worker.status === 'rejected') throw worker.reason;
  return seeded;
}

/** Whether an upload is stored, and neither its record is damaged nor its file cut off. */
async function isWhole(id: string, {store}: Service): Promise<boolean> {
  return (await store.findComplete(id).catch(() => undefined)) !== undefined;
}

/** Stores a file of the seed that was deleted or damaged. */
async function restoreSeedFile(id: string, file: SeedFile, service: Service): Promise<void> {
  const idNow = await storeSeedFile(file, service, one => one === id).catch(cause => {
    throw new Refusal(500, `${file.name} of the seed could not be read again: ${cause.message}`);
  });
  if (idNow !== id) throw new Refusal(500, `${file.name} of the seed has changed since the start.`);
}

/** Stores a file under the ID that follows from its content, if that ID is wanted and not taken; resolves to the ID. */
async function storeSeedFile(
  {contentType, open}: SeedFile,
  service: Service,
  isWanted: (id: string) => boolean,
) {
  const path = service.store.temporaryPath();
  const source = await open();
  try {
    const received = await writeUpload(path, contentType, file => pipeline(chunksOf(source), file));
    const id = seedId(hashOf(`${received.sha256} ${contentType}`));
    if (!isWanted(id) || (await isWhole(id, service))) return id;
    // The time of creation is fixed, so that the state is the same in each run.
    const commitment = {createdAt: 0, canWait: true, identify: async () => id, lastCheck() {}};
    await commitUpload(received, service, commitment);
    return id;
  } finally {
    await source.close();
    await rm(path, {force: true});
  }
}

/** The bytes of a file in order, one megabyte at a time. */
async function* chunksOf(bytes: RandomAccess): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < bytes.size; position += 2 ** 20)
    yield bytes.read(position, Math.min(2 ** 20, bytes.size - position));
}
