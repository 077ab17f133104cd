import {isAbsolute} from 'node:path';
import type {Invocation} from '../../cli/invocation.ts';
import {MediaError} from '../../errors.ts';
import type {StopSignal} from '../../host.ts';
import type {InputContext} from '../../sources/find/expand.ts';
import type {Shard} from '../../sources/find/shard.ts';
import type {Source} from '../../sources/open/source.ts';
import type {TransferOptions} from '../../transfer/batch.ts';
import type {UploadFlags} from './flags.ts';

/** The inputs of a run: a stream of sources, and what is known of it beforehand. */
export interface Inputs {
  sources: AsyncIterable<Source>;
  /** Whether the command line may stand for several inputs, however many it turns out to be. */
  several: boolean;
  /** This machine's part of the inputs, under `--shard`. */
  shard: Shard | undefined;
  /** Whether there is no source at all, which --allow-empty allows. */
  empty: boolean;
  /** Whether that is because `--shard` left none of them to this run. */
  isEmptyShard: boolean;
  /** The links to directories that were not followed, as far as the sources were asked for. */
  unfollowed: ReadonlySet<string>;
  /** Tells the bytes of each source, by going through the inputs once more; false where it could not do so to the end. */
  survey(found: (bytes: number) => void, signal: AbortSignal): Promise<boolean>;
}

/**
 * The sources that the command line stands for, this machine's share of them under `--shard`. Rejects with a usage error
 * before anything is sent when an input is mistaken or stands for nothing.
 */
export async function openInputs(
  options: UploadFlags,
  {host}: Invocation,
  signal: StopSignal<Error>,
): Promise<Inputs> {
  const [{expandInputs}, {resumed}, {ownShare}] = await Promise.all([
    import('../../sources/find/expand.ts'),
    import('../../sources/find/resumed.ts'),
    import('../../sources/find/shard.ts'),
  ]);
  const shard = await chosenShard(options, host.env);
  await refuseGoneDirectory(options, host.cwd());
  const context = {
    cwd: host.cwd(),
    stdin: () => host.stdin,
    temporaryDirectory: host.temporaryDirectory(),
    signal,
  };
  const allSources = (told: Partial<InputContext> = {}) => {
    const sources = expandInputs(options, {...context, ...told});
    return shard === undefined ? sources : ownShare(sources, shard);
  };
  const unfollowed = new Set<string>();
  const iterator = allSources({unfollowed: name => unfollowed.add(name)})[Symbol.asyncIterator]();
  const named = options.inputs.length + (options.filesFrom?.length ?? 0) + (options.filesFrom0?.length ?? 0);
  const mayBeOne = named === 1 && options.inputs.length === 1 && !options.recursive;
  // Mistakes come out with the first source; a pattern's second one tells that it stands for several.
  const taken = [await iterator.next()];
  if (mayBeOne && !taken[0]?.done) taken.push(await iterator.next());
  return {
    sources: resumed(taken, iterator),
    several: !mayBeOne || taken.at(-1)?.done !== true,
    shard,
    empty: taken[0]?.done === true,
    isEmptyShard: taken[0]?.done === true && shard !== undefined,
    unfollowed,
    async survey(found, until) {
      const {isRepeatable, survey} = await import('../../sources/find/survey.ts');
      return (await isRepeatable(options, context.cwd)) && survey(allSources(), found, until);
    },
  };
}

/** A working directory that was removed could still be read, as an empty one. */
async function refuseGoneDirectory(
  {inputs, filesFrom = [], filesFrom0 = []}: UploadFlags,
  directory: string,
): Promise<void> {
  const isNeeded = [...inputs, ...filesFrom, ...filesFrom0].some(
    input => input !== '-' && !isAbsolute(input),
  );
  if (directory !== '.' || !isNeeded) return;
  const {realpath} = await import('node:fs/promises');
  await realpath(directory, 'buffer').catch(cause => {
    throw new MediaError('file_missing', 'The working directory no longer exists.', {
      hint: 'Change to a directory that exists, as with cd ~, or name files by absolute paths.',
      cause,
    });
  });
}

async function chosenShard(
  {shard}: UploadFlags,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Shard | undefined> {
  if (shard === undefined) return undefined;
  const {autoShard, parseShard} = await import('../../sources/find/shard.ts');
  return shard === 'auto' ? autoShard(env) : parseShard(shard);
}

export type DecideType = TransferOptions['contentType'];

/** With so many files and connections open at a time, descriptors are left even where a process may have only 64. */
const fewAtATime = 16;

/** What decides the content type of each source under these options; a bad --content-type is a usage error. */
export async function typeDecision(options: UploadFlags): Promise<DecideType> {
  const {decideSourceType, loadTypeKnowledge, parseContentType} = await import(
    '../../sources/media-type/decide.ts'
  );
  if (options.concurrency > fewAtATime) await loadTypeKnowledge();
  const contentType = options.contentType === undefined ? undefined : parseContentType(options.contentType);
  return (source, opened) => decideSourceType(source, opened, {types: options.types, contentType});
}
