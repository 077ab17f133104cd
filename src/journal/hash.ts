import {createHash, hash as hashAtOnce} from 'node:crypto';
import type {StopSignal} from '../host.ts';
import type {OpenSource} from '../sources/open/source.ts';

const blockBytes = 1024 * 1024;

/** What can be read and hashed of an opened source. */
export type Hashable = Pick<OpenSource, 'size' | 'read' | 'small'>;

/** The SHA-256 of an opened source's content, in hex; rejects with the signal's reason when that is aborted first. */
export async function contentHash(source: Hashable, signal?: StopSignal): Promise<string> {
  return (await smallHash(source)) ?? largeHash(source, signal);
}

/** The SHA-256 of content that is small enough to be sent from memory; undefined of any other, which is not read. */
export async function smallHash(source: Hashable): Promise<string | undefined> {
  const small = await source.small?.();
  return small === undefined ? undefined : hashAtOnce('sha256', small.bytes, 'hex');
}

/** The same of any content, which is read once. */
export async function largeHash(source: Hashable, signal: StopSignal | undefined): Promise<string> {
  const hash = createHash('sha256');
  for (let position = 0; position < source.size; ) {
    signal?.throwIfAborted();
    const block = await source.read(position, blockBytes);
    if (block.length === 0) break;
    hash.update(block);
    position += block.length;
  }
  return hash.digest('hex');
}
