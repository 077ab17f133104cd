import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import type {ContentHash, JournalInput} from '../journal/journal.ts';
import type {OpenSource, Source} from '../sources/source.ts';

/** An input to be looked for in journals; `hash` works until the next one is asked for. */
export type ListedInput =
  | (JournalInput & {hash: ContentHash})
  | {path: string | Uint8Array; error: MediaError};

/** Goes through the inputs as `media upload -r` does. */
export async function* listInputs(inputs: readonly string[], host: Host): AsyncGenerator<ListedInput> {
  const {expandInputs} = await import('../sources/expand.ts');
  const context = {cwd: host.cwd(), stdin: () => host.stdin, temporaryDirectory: host.temporaryDirectory()};
  for await (const source of expandInputs({inputs, recursive: true}, context)) {
    const path = source.relativePathBytes ?? source.relativePath ?? source.name;
    let opened: OpenSource;
    try {
      opened = await source.open(new AbortController().signal);
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      yield {path, error};
      continue;
    }
    try {
      yield await describe(path, source, opened, host);
    } finally {
      await opened.close();
    }
  }
}

async function describe(
  path: string | Uint8Array,
  source: Source,
  opened: OpenSource,
  host: Host,
): Promise<ListedInput> {
  const {contentHash} = await import('../journal/hash.ts');
  const file = source.pathBytes ?? resolve(host.cwd(), source.path ?? source.name);
  // Standard input has none, so that its content decides.
  const mtimeNs = await stat(file, {bigint: true}).then(
    stats => stats.mtimeNs,
    () => 0n,
  );
  return {path, size: opened.size, mtimeNs, hash: () => contentHash(opened)};
}
