import {createHash, hash as hashAtOnce} from 'node:crypto';
import type {StopSignal} from '../../host.ts';
import type {RandomAccess} from './random-access.ts';

const blockBytes = 1024 * 1024;

/** Content of a known size; `small` reads all of it at once if it is small enough. */
export interface Hashable extends RandomAccess {
  small?(): Promise<{readonly bytes: Uint8Array}> | undefined;
}

/** The SHA-256 of an open source's content, in hex; rejects with the signal's reason if that is aborted first. */
export async function contentHash(source: Hashable, signal?: StopSignal): Promise<string> {
  return (await smallHash(source)) ?? largeHash(source, signal);
}

/** The SHA-256 of content that is small enough to be sent from memory; undefined for larger content. */
export async function smallHash(source: Hashable): Promise<string | undefined> {
  const small = await source.small?.();
  return small === undefined ? undefined : hashAtOnce('sha256', small.bytes, 'hex');
}

/** The SHA-256 of content of any size, which is read once. */
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

/** The SHA-256 of a stream's bytes, in hex; rejects with the error of the stream. */
export async function streamHash(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest('hex');
}
