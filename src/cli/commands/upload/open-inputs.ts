import {basename} from 'node:path';
import type {InputContext, InputRequest} from '../../../engine/sources/find/expand.ts';
import type {Shard} from '../../../engine/sources/find/shard.ts';
import {Disk} from '../../../engine/sources/open/disk.ts';
import {filesIn} from '../../../engine/sources/open/file-source.ts';
import type {Source} from '../../../engine/sources/open/source.ts';
import type {TransferOptions} from '../../../engine/transfer/batch.ts';
import {MediaError} from '../../../errors.ts';
import {hintText} from '../../../hint.ts';
import type {Host, StopSignal} from '../../../host.ts';
import {inodeOf} from '../../../lib/files/file-system.ts';
import {resolveUserPath} from '../../../lib/files/typed-path.ts';
import {omitUndefined} from '../../../lib/object.ts';
import {commandLine} from '../../hints/command-line.ts';
import {announceTyping, type Invocation} from '../../session/invocation.ts';
import type {UploadFlags} from './flags.ts';
import {ownFiles} from './run-memory.ts';

type InputFlags = InputRequest & Partial<UploadFlags>;

/** The inputs of a run: a stream of sources, and what is known about it beforehand. */
export interface Inputs {
  sources: AsyncIterable<Source>;
  /** Whether the command line may name several inputs, even if there turns out to be one. */
  several: boolean;
  /** This machine's share of the inputs, with `--shard`. */
  shard?: Shard | undefined;
  /** Whether there are no sources, because the shard has none of the inputs or the lists contain no names. */
  empty: boolean;
  /** The links to directories that were not followed so far. */
  unfollowedLinks?: ReadonlySet<string>;
  /** Reads the inputs again to report the size of each; false if that was not possible to the end. */
  survey(onFile: (bytes: number) => void, signal: AbortSignal): Promise<boolean>;
  /** Closes the lists of names, for a run that fails before it has read the sources. */
  close(): Promise<void>;
}

/** Opens the inputs of the command line, or the share of `--shard`; rejects if one is invalid or matches nothing. */
export async function openInputs(
  options: InputFlags,
  {host, report}: Pick<Invocation, 'host' | 'report'>,
  signal: StopSignal<Error>,
): Promise<Inputs> {
  if (options.clipboard) return clipboardInputs(options, {host, report}, signal);
  if (options.source) return namedInputs(options.inputs, options.source);
  if (options.filesFrom?.includes('-')) announceTyping('the names of files, one per line', {host, report});
  else if (options.inputs.includes('-')) announceTyping('the content of a file', {host, report});
  const [{expandInputs, inputContext, interruptible, resumeIterator}, {autoShard, ownShare, parseShard}] =
    await Promise.all([
      import('../../../engine/sources/find/expand.ts'),
      import('../../../engine/sources/find/shard.ts'),
    ]);
  const value = options.shard;
  const shard = value === undefined ? undefined : value === 'auto' ? autoShard(host.env) : parseShard(value);
  const paths = (await ownFiles(options, host)).map(({path}) => path);
  const writesFiles = paths.length > 0 || host.fileOf('stdout') !== undefined;
  const context = {
    ...inputContext(host),
    signal,
    ...(writesFiles && {mapFile: (await import('./own-files.ts')).withoutOwnFiles(paths, host)}),
  };
  /** Reads the inputs from their beginning, or this machine's share of them. */
  const allSources = (callbacks: Partial<InputContext> = {}) => {
    const sources = expandInputs(options, {...context, ...callbacks});
    return shard === undefined ? sources : ownShare(sources, shard);
  };
  const unfollowedLinks = new Set<string>();
  const iterator = interruptible(allSources({onUnfollowedLink: name => unfollowedLinks.add(name)}), signal);
  const mayBeOne = options.inputs.length === 1 && !options.filesFrom?.length && !options.recursive;
  // Errors show up with the first source; a second source of a pattern shows that it means several.
  const firstSources = [await iterator.next()];
  if (mayBeOne && !firstSources[0]?.done) firstSources.push(await iterator.next());
  return {
    sources: resumeIterator(firstSources, iterator),
    several: !mayBeOne || firstSources.at(-1)?.done !== true,
    shard,
    empty: firstSources[0]?.done === true,
    unfollowedLinks,
    async survey(found, until) {
      const {isRepeatable, survey} = await import('../../../engine/sources/find/survey.ts');
      return (await isRepeatable(options, context)) && survey(allSources(), found, until);
    },
    close: async () => void (await iterator.return?.(undefined)),
  };
}

/** The picture in the clipboard, or the files that were copied in a file manager. */
async function clipboardInputs(
  options: InputFlags,
  {host, report}: Pick<Invocation, 'host' | 'report'>,
  signal: StopSignal<Error>,
): Promise<Inputs> {
  const {inputs, filesFrom = [], shard, name} = options;
  if (inputs.length + filesFrom.length > 0 || shard !== undefined)
    throw new MediaError('usage', '--clipboard takes no other input, and no --shard.', {
      hint: 'Upload the others with a command of their own.',
    });
  const {pictureSource, readClipboard} = await import('../../../engine/sources/clipboard/clipboard.ts');
  const content = await readClipboard(host, signal);
  if ('files' in content) {
    if (content.warning !== undefined) report.warning(content.warning);
    return namedInputs(content.files, filesIn(host.cwd(), new Disk(host.files)));
  }
  const picture = name === undefined ? content : {...content, name: basename(name)};
  const source = pictureSource(picture, host);
  return namedInputs([picture.name], () => source);
}

/** Exactly these inputs, in this order: none of the names is a pattern, and no file is left out. */
function namedInputs(names: readonly string[], source: (name: string) => Source): Inputs {
  const sources = async function* () {
    for (const name of names) yield source(name);
  };
  return {
    sources: sources(),
    several: names.length > 1,
    empty: names.length === 0,
    async survey(found, until) {
      const {survey} = await import('../../../engine/sources/find/survey.ts');
      return survey(sources(), found, until);
    },
    async close() {},
  };
}

/** The function that decides the content type of each source; an invalid --content-type is a usage error. */
export async function typeDecision(flags: UploadFlags): Promise<TransferOptions['contentType']> {
  const {decideSourceType, parseContentType} = await import('../../../media/type/decide.ts');
  const {types} = flags;
  const contentType = flags.contentType === undefined ? undefined : parseContentType(flags.contentType);
  return async (source, opened) => {
    const {warning, ...decision} = await decideSourceType(source, opened, {types, contentType});
    return {...decision, ...omitUndefined({warning: warning && hintText(warning, commandLine())})};
  };
}

/** Throws a usage error if two of the journal, the lists and standard output are one file, which would be lost. */
export async function refuseSameFile({filesFrom = [], ...memory}: UploadFlags, host: Host): Promise<void> {
  const files = [
    ...(await ownFiles(memory, host)),
    ...filesFrom.map(path => ({what: path === '-' ? '--files-from -' : '--files-from', path})),
  ];
  const optionOfFile = new Map<string | undefined, string>();
  optionOfFile.set(host.fileOf('stdout'), 'standard output');
  for (const {what, path} of files) {
    const isStdin = what === '--files-from -';
    const inode = isStdin
      ? host.fileOf('stdin')
      : await inodeOf(resolveUserPath(host.cwd(), path), 'file', host.files);
    if (inode === undefined) continue;
    const other = optionOfFile.get(inode);
    // A list that is named twice is read twice.
    if (other !== undefined && (other !== what || what !== '--files-from')) {
      const pathText = isStdin ? '' : `, ${path}`;
      const hint = 'Use a different file for each.';
      throw new MediaError('usage', `${what} and ${other} are the same file${pathText}.`, {hint});
    }
    optionOfFile.set(inode, what);
  }
}
