import type {Readable} from 'node:stream';
import {MediaError} from '../errors.ts';
import type {StopSignal} from '../host.ts';
import {compileFilters} from './filters.ts';
import {isPattern} from './globs.ts';
import {type Candidate, Finder} from './inputs.ts';
import {Resumed} from './iterators.ts';
import {Lists, type Separator} from './lists.ts';
import {Seen} from './seen.ts';
import type {Source} from './source.ts';

/** What the command line asks for. */
export interface InputRequest {
  /** Files, directories, patterns; `-` is standard input. */
  inputs: readonly string[];
  /** Whether directories stand for all that is in them. */
  recursive?: boolean;
  /** Whether links to directories are directories. */
  follow?: boolean;
  /** Lists of names, a line each; `-` is standard input. */
  filesFrom?: readonly string[];
  /** Lists of names that end in zero bytes. */
  filesFrom0?: readonly string[];
  include?: readonly string[];
  exclude?: readonly string[];
  /** Whether an input that yields nothing is fine. */
  allowEmpty?: boolean;
  /** The name of what comes on standard input. */
  name?: string;
}

export interface InputContext {
  cwd: string;
  /** Standard input, which Node opens only when it is asked for. */
  stdin: () => Readable;
  temporaryDirectory: string;
  /** Ends the wait for a list with its reason. */
  signal?: StopSignal;
}

/**
 * Yields everything to upload: the inputs in the order given, then the lists; directories depth first in byte order. The
 * same file named twice is yielded once. Rejects with `usage` or `nothing_matched` before the first source if any of
 * the inputs is no good or yields nothing, and never for a single file: such a source rejects when it is opened.
 */
export async function* expandInputs(request: InputRequest, context: InputContext): AsyncGenerator<Source> {
  checkRequest(request);
  const lists = new Lists(context);
  try {
    const inputs = await planInputs(request, context, lists);
    if (!request.allowEmpty) await refuseEmpty(inputs.slice(1));
    const isOne = inputs.length < 2 && lists.count === 0;
    const seen = isOne ? undefined : new Seen(context.cwd);
    for (const input of inputs) {
      let isEmpty = true;
      for await (const {source, file, mention} of await input.candidates()) {
        isEmpty = false;
        if (file === undefined || !(await seen?.isRepeat(file, mention))) yield source;
      }
      if (isEmpty && !request.allowEmpty) throw input.nothing();
    }
  } finally {
    lists.close();
  }
}

function checkRequest({inputs, filesFrom = [], filesFrom0 = [], name, allowEmpty}: InputRequest): void {
  const lists = [...filesFrom, ...filesFrom0];
  if (inputs.length + lists.length === 0 && !allowEmpty) {
    throw new MediaError('nothing_matched', 'There is nothing to upload: no input was named.', {
      hint: 'Name files, as in media upload photo.png, or - for standard input.',
    });
  }
  if ([...inputs, ...lists].filter(input => input === '-').length > 1) {
    throw new MediaError('usage', 'Standard input was named twice, but can be read only once.', {
      hint: lists.includes('-') ? 'Read the list from a file instead, or upload from one.' : 'Name - once.',
    });
  }
  if (name !== undefined && !inputs.includes('-')) {
    throw new MediaError('usage', '--name names what comes on standard input, and no input is -.', {
      hint: 'Use it as in: media upload - --name photo.png < photo.png',
    });
  }
}

async function planInputs(request: InputRequest, context: InputContext, lists: Lists): Promise<Input[]> {
  const {recursive = false, follow = false, include = [], exclude = [], name} = request;
  const filters = await compileFilters(include, exclude);
  const finder = new Finder({
    ...context,
    recursive,
    follow,
    filters,
    ...(name === undefined ? {} : {stdinName: name}),
  });
  const isFiltered = include.length + exclude.length > 0;
  const named = request.inputs.map(
    argument =>
      new Input({
        open: () => finder.named(argument),
        mayBeEmpty: argument !== '-' && (recursive || isPattern(argument)),
        isOnce: false,
        nothing: () =>
          isPattern(argument)
            ? nothingMatched(`No file matches ${argument}`, isFiltered, recursive ? '' : directoriesHint)
            : nothingMatched(`There is no file in ${argument}`, isFiltered),
      }),
  );
  const files: [string, Separator][] = [
    ...(request.filesFrom ?? []).map((file): [string, Separator] => [file, '\n']),
    ...(request.filesFrom0 ?? []).map((file): [string, Separator] => [file, '\0']),
  ];
  for (const [file, separator] of files) {
    const names = await lists.open(file, separator);
    const nothing = () => nothingMatched(`The list ${file} names no file`, isFiltered);
    named.push(new Input({open: async () => finder.listed(names), mayBeEmpty: true, isOnce: true, nothing}));
  }
  return named;
}

const directoriesHint = 'A pattern matches directories, for all that is in them, only with -r. ';

function nothingMatched(what: string, isFiltered: boolean, hint = ''): MediaError {
  const sentence = `${what}${isFiltered ? ' that passes --include and --exclude' : ''}.`;
  return new MediaError('nothing_matched', sentence, {hint: `${hint}With --allow-empty this is no error.`});
}

/** Before anything is sent: a slip in the last argument must not cost half an upload. */
async function refuseEmpty(inputs: readonly Input[]): Promise<void> {
  for (const input of inputs) if (await input.isEmpty()) throw input.nothing();
}

interface InputOptions {
  open: () => Promise<AsyncIterableIterator<Candidate>>;
  mayBeEmpty: boolean;
  /** Whether it can be read only once, as a pipe. */
  isOnce: boolean;
  nothing: () => MediaError;
}

/** One input, which can be asked before its turn whether there is anything in it. */
class Input {
  readonly nothing: () => MediaError;
  readonly #options: InputOptions;
  #begun: Resumed<Candidate> | undefined;

  constructor(options: InputOptions) {
    this.#options = options;
    this.nothing = options.nothing;
  }

  /** Looks as far as the first candidate, and keeps that only of what cannot be read again. */
  async isEmpty(): Promise<boolean> {
    if (!this.#options.mayBeEmpty) return false;
    const rest = await this.#options.open();
    const first = await rest.next();
    if (this.#options.isOnce) this.#begun = new Resumed([first], rest);
    else await rest.return?.();
    return first.done === true;
  }

  async candidates(): Promise<AsyncIterable<Candidate>> {
    return this.#begun ?? this.#options.open();
  }
}
