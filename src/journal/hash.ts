import {createHash} from 'node:crypto';
import type {StopSignal} from '../host.ts';
import type {OpenSource} from '../sources/open/source.ts';

const blockBytes = 1024 * 1024;

/** The SHA-256 of an opened source's content, in hex; rejects with the signal's reason when that is aborted first. */
export async function contentHash(source: OpenSource, signal?: StopSignal): Promise<string> {
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
