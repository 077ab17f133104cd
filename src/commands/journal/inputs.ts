import {MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import type {ContentHash, JournalInput} from '../../journal/journal.ts';
import type {OpenSource, Source} from '../../sources/open/source.ts';

/** An input to look up in journals; `hash` works until the next input is requested. */
export type ListedInput =
  | (Omit<JournalInput, 'types'> & {hash: ContentHash; isLeftOut: boolean})
  | {path: string | Uint8Array; error: MediaError};

/** The inputs of `media journal check`. */
export interface ListedInputs {
  inputs: readonly string[];
  /** Whether directories include hidden files and files that are neither images nor videos. */
  all?: boolean;
}

/**
 * Yields the inputs as `media upload -r` finds them. Files that an upload leaves out as not media are marked, since a
 * journal may still contain them; hidden ones and those that could not be opened are omitted.
 */
export async function* listInputs(
  {inputs, all = false}: ListedInputs,
  host: Host,
): AsyncGenerator<ListedInput> {
  const [{expandInputs}, {isLeftOut}] = await Promise.all([
    import('../../sources/find/expand.ts'),
    import('../../transfer/outcome.ts'),
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
  const [{contentHash}, {rejectNonMedia}, {isLeftOut}] = await Promise.all([
    import('../../lib/files/content-hash.ts'),
    import('../../sources/media-type/decide.ts'),
    import('../../transfer/outcome.ts'),
  ]);
  return {
    path,
    size: opened.size,
    stat: opened.stat,
    hash: () => contentHash(opened),
    isLeftOut: await rejectNonMedia(source, opened).then(
      () => false,
      error => isLeftOut(source, error),
    ),
  };
}
