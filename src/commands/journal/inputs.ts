import {MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import type {ContentHash, JournalInput} from '../../journal/journal.ts';
import type {OpenSource, Source} from '../../sources/open/source.ts';

/** An input to be looked for in journals; `hash` works until the next one is asked for. */
export type ListedInput =
  | (Omit<JournalInput, 'types'> & {hash: ContentHash; isLeftOut: boolean})
  | {path: string | Uint8Array; error: MediaError};

/** What `media journal check` is asked to go through. */
export interface ListedInputs {
  inputs: readonly string[];
  /** Whether directories stand for hidden names, too, and for what is no image and no video. */
  all?: boolean;
}

/**
 * Goes through the inputs as `media upload -r` does. What that leaves out is listed as such, since a journal may know it all
 * the same; hidden names, and what could not be opened of it, are not.
 */
export async function* listInputs(
  {inputs, all = false}: ListedInputs,
  host: Host,
): AsyncGenerator<ListedInput> {
  const [{expandInputs}, {isLeftOut}] = await Promise.all([
    import('../../sources/find/expand.ts'),
    import('../../transfer/left-out.ts'),
  ]);
  const context = {cwd: host.cwd(), stdin: () => host.stdin, temporaryDirectory: host.temporaryDirectory()};
  for await (const source of expandInputs({inputs, recursive: true, all}, context)) {
    if (source.found?.isHidden) continue;
    const path = source.relativePath ?? source.name;
    let opened: OpenSource;
    try {
      opened = await source.open(new AbortController().signal);
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      if (!(await isLeftOut(source, error))) yield {path, error};
      continue;
    }
    try {
      yield await describe(path, source, opened);
    } finally {
      await opened.close();
    }
  }
}

async function describe(path: string | Uint8Array, source: Source, opened: OpenSource): Promise<ListedInput> {
  const [{contentHash}, {refuseToTake}, {isLeftOut}] = await Promise.all([
    import('../../lib/files/content-hash.ts'),
    import('../../sources/media-type/decide.ts'),
    import('../../transfer/left-out.ts'),
  ]);
  return {
    path,
    size: opened.size,
    stat: opened.stat,
    hash: () => contentHash(opened),
    isLeftOut: await refuseToTake(source, opened).then(
      () => false,
      error => isLeftOut(source, error),
    ),
  };
}
