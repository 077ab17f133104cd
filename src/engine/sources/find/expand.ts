import {relative, resolve} from 'node:path';
import {MediaError, refuseStdinTwice} from '../../../errors.ts';
import {command, hint, option} from '../../../hint.ts';
import type {Host, StopSignal} from '../../../host.ts';
import {isBelow, isWithin, toText} from '../../../lib/files/typed-path.ts';
import {itemsUnlessStopped, Stop} from '../../../lib/stop.ts';
import {webUrlError} from '../open/file-source.ts';
import type {Source} from '../open/source.ts';
import {type ListContext, Lists} from './name-lists.ts';
import {Finder, type InputItem} from './named-inputs.ts';
import {seenIn} from './seen.ts';
import {fromPath} from './walk/names.ts';
import {compileFilters, compileGlob, isPattern} from './walk/patterns.ts';

export interface InputRequest {
  /** Files, directories, patterns; `-` is standard input. */
  inputs: readonly string[];
  recursive?: boolean;
  /** Whether directories and patterns include hidden files and files that are neither images nor videos. */
  all?: boolean;
  /** Lists of names, one per line or each ended by a zero byte; `-` is standard input. */
  filesFrom?: readonly string[];
  exclude?: readonly string[];
  /** Whether directories and patterns may yield nothing: what is gone from them is removed from a manifest. */
  prune?: boolean | undefined;
  /** The name for standard input. */
  name?: string;
}

export interface InputContext extends ListContext {
  temporaryDirectory: string;
  /** Called for each link to a directory that is not followed. */
  onUnfollowedLink?(name: string): unknown;
  /** Called for each file that a walk finds; returns the source in its place. */
  mapFile?(source: Source): Source;
}

/** Inputs as they are read on this machine. */
export function inputContext(host: Host): InputContext {
  const {files} = host;
  return {cwd: host.cwd(), files, stdin: () => host.stdin, temporaryDirectory: host.temporaryDirectory()};
}

/**
 * Yields everything to upload: the inputs in the order given, then the lists; directories depth first in byte order. A
 * file that is named or found twice is yielded once. Rejects with `usage` or `nothing_matched` before the first source
 * if an input is invalid, or if a directory or a pattern yields nothing, but not for an empty list or a single bad
 * file: its source rejects when it is opened. Files that may be left out are yielded too, with `found`, since their
 * bytes may decide, and since they are counted.
 */
export async function* expandInputs(request: InputRequest, context: InputContext): AsyncGenerator<Source> {
  checkRequest(request);
  const lists = request.filesFrom?.length ? new Lists(context) : undefined;
  try {
    const inputs = await planInputs(request, context, lists);
    // All are checked before anything is sent, so that a typo in the last one does not end the upload half-way.
    for (const input of inputs.slice(1)) await checkInput(input);
    const isOne = inputs.length < 2 && lists === undefined;
    let isRepeat: ReturnType<typeof seenIn> | undefined;
    for (const input of inputs) {
      let isEmpty = true;
      let hasLinks = false;
      for await (const candidate of input.bufferedItems ?? (await input.open())) {
        if ('unfollowed' in candidate) {
          hasLinks = true;
          context.onUnfollowedLink?.(toText(candidate.unfollowed));
          continue;
        }
        const {source, file} = candidate;
        isEmpty = false;
        // With a single input, only links in a walk can lead to a file again.
        const mayRepeat = file !== undefined && !(isOne && (file.isPlain || file.isNamed));
        if (mayRepeat) {
          isRepeat ??= seenIn(context.cwd, context.files);
          if (await isRepeat(file, source)) continue;
        }
        yield file === undefined || file.isNamed ? source : (context.mapFile?.(source) ?? source);
      }
      if (isEmpty && input.nothing !== undefined) throw input.nothing(hasLinks);
    }
  } finally {
    lists?.close();
  }
}

/** Makes the function that tells whether inputs mean the file at an absolute path, which need not exist. */
export function inputCoverage({inputs = [], recursive = false}: Partial<InputRequest>, cwd: string) {
  const covers = inputs.map(input => {
    const glob = compileGlob(input, recursive);
    const base = resolve(cwd, toText(glob.base));
    return (path: string) =>
      (isPattern(input) && isBelow(path, base) && glob.takes(fromPath(relative(base, path)))) ||
      isWithin(path, resolve(cwd, input));
  });
  return (path: string) => covers.some(coversPath => coversPath(path));
}

/** Throws a usage error, or `nothing_matched`, for inputs that cannot be meant together. */
function checkRequest({inputs, filesFrom: lists = [], name}: InputRequest): void {
  if (inputs.length + lists.length === 0)
    throw new MediaError('nothing_matched', 'There is nothing to upload: no input was given.', {
      hint: hint`Name files${hint`, as in ${command('upload', 'photo.png')}, or - for standard input`}.`,
    });
  const isList = lists.includes('-');
  const stdinHint = isList ? 'Read the list from a file instead, or upload from one.' : 'Use - only once.';
  refuseStdinTwice([...inputs, ...lists], stdinHint);
  if (name !== undefined && !inputs.includes('-'))
    throw new MediaError('usage', 'A name is for standard input, but no input is -.', {
      hint: hint`Use it with -, as in: ${command('uploadStdin')}`,
    });
}

/** The inputs in their order. Only the lists are opened yet, so that an unreadable list fails first. */
async function planInputs(request: InputRequest, context: InputContext, lists?: Lists): Promise<Input[]> {
  const {recursive = false, all = false, exclude = [], name, prune} = request;
  const filters = compileFilters(exclude);
  const finder = new Finder({...context, recursive, all, filters, stdinName: name});
  const condition = exclude.length > 0 ? ' that is not excluded' : '';
  const inputs = request.inputs.map(
    (argument): Input => ({
      open: () => finder.candidatesOf(argument),
      isLookedInto: argument !== '-' && (recursive || isPattern(argument)),
      ...(!prune && {nothing: hasLinks => nothingError(argument, condition, {recursive, hasLinks})}),
    }),
  );
  if (lists === undefined) return inputs;
  for (const file of request.filesFrom ?? []) {
    const names = await lists.open(file);
    inputs.push({open: async () => finder.candidatesOfList(names), isLookedInto: true});
  }
  return inputs;
}

/** The error for a directory or a pattern without a file that meets the condition. */
function nothingError(
  argument: string,
  condition: string,
  {recursive, hasLinks}: {recursive: boolean; hasLinks: boolean},
): MediaError {
  const [kind, verb] = isPattern(argument) ? ['pattern', 'matches'] : ['directory', 'contains'];
  const sentence = `The ${kind} ${argument} ${verb} no file${condition}.`;
  const mayMatchDirectories = isPattern(argument) && !recursive;
  const details = {hint: hasLinks ? linksHint : mayMatchDirectories ? directoriesHint : undefined};
  return webUrlError(argument) ?? new MediaError('nothing_matched', sentence, details);
}

const directoriesHint = hint`A pattern matches directories only with ${option('recursive')}.`;

const linksHint = 'Links to directories are not followed: name one to upload what is in it.';

interface Input {
  open: () => Promise<AsyncIterableIterator<InputItem>>;
  /** Whether it is read before its turn, to find out whether it is empty or invalid. */
  isLookedInto: boolean;
  /** The items of a list, which is read only once, if it was read before its turn. */
  bufferedItems?: AsyncIterable<InputItem>;
  /** The error if the input yields nothing, or only unfollowed links; undefined if it may be empty, as a list. */
  nothing?: (hasLinks: boolean) => MediaError;
}

/** Reads an input up to its first candidate, and throws if there is none; keeps what was read of a list. */
async function checkInput(input: Input): Promise<void> {
  if (!input.isLookedInto) return;
  const rest = await input.open();
  const first = [await rest.next()];
  for (let last = first[0]; last && !last.done && 'unfollowed' in last.value; last = first.at(-1))
    first.push(await rest.next());
  if (input.nothing === undefined) {
    input.bufferedItems = resumeIterator(first, rest);
    return;
  }
  await rest.return?.();
  if (first.at(-1)?.done) throw input.nothing(first.length > 1);
}

/** The items, until a signal (not a deadline) interrupts the run: the next is not waited for, since a disk may hang. */
export function interruptible<Item>(items: AsyncIterable<Item>, signal: StopSignal<Error>) {
  const interruption = new Stop<Error>();
  // A deadline ends nothing, since the items that are left are reported.
  const onStop = () => {
    const {reason} = signal;
    if (reason instanceof MediaError && reason.code === 'interrupted') interruption.abort(reason);
  };
  if (signal.aborted) onStop();
  signal.addEventListener('abort', onStop, {once: true});
  return itemsUnlessStopped(items, interruption);
}

/** The items that were already taken from an iterator, then the rest. */
export async function* resumeIterator<Item>(
  first: readonly IteratorResult<Item>[],
  rest: AsyncIterableIterator<Item>,
): AsyncGenerator<Item> {
  try {
    for (const {done, value} of first) {
      if (done) return;
      yield value;
    }
    yield* rest;
  } finally {
    await rest.return?.();
  }
}
