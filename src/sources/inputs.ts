import {stat} from 'node:fs/promises';
import type {Readable} from 'node:stream';
import {MediaError, systemCode} from '../errors.ts';
import {shellQuoted} from '../shell.ts';
import {fileSource, sourceAt} from './file.ts';
import type {Filters} from './filters.ts';
import {compileGlob, isPattern} from './globs.ts';
import {Mapped} from './iterators.ts';
import {
  type ByteName,
  fromTyped,
  isText,
  joinNames,
  normalizeName,
  resolveName,
  toBytes,
  toPath,
  toText,
  withSlashes,
} from './names.ts';
import type {Mention} from './seen.ts';
import type {Source} from './source.ts';
import {stdinSource} from './stdin.ts';
import {type Found, type WalkRules, walk} from './walk.ts';

/** Something that an input yields, before it is known whether another input has yielded it too. */
export interface Candidate {
  source: Source;
  mention: Mention;
  /** The file that it is; standard input is none. */
  file?: {name: ByteName; isPlain: boolean};
}

/** What a name stands for, links followed. */
type Kind = 'regular' | 'directory' | 'other' | 'missing';

export interface FinderOptions {
  cwd: string;
  recursive: boolean;
  follow: boolean;
  filters: Filters;
  stdin: () => Readable;
  temporaryDirectory: string;
  /** The name of what comes on standard input. */
  stdinName?: string;
}

/** Finds what arguments and the names in lists stand for; each call looks anew. */
export class Finder {
  readonly #options: FinderOptions;

  constructor(options: FinderOptions) {
    this.#options = options;
  }

  /** What an argument stands for: standard input, a file, all in a directory, or what a pattern matches. */
  async named(argument: string): Promise<AsyncIterableIterator<Candidate>> {
    if (argument === '-') return only({source: this.#stdin(), mention: {}});
    const name = fromTyped(argument);
    const kind = await this.#kindOf(name);
    if (kind === 'missing' && isPattern(argument)) return this.#matching(argument);
    if (kind === 'directory' && this.#options.recursive) return this.#below(name);
    return only(this.#one(name, kind));
  }

  /** What the names in a list stand for: as arguments do, but a name in a list is never a pattern and never `-`. */
  async *listed(names: AsyncIterable<ByteName>): AsyncGenerator<Candidate> {
    const {filters, recursive} = this.#options;
    for await (const bytes of names) {
      const name = withSlashes(bytes);
      const kind = await this.#kindOf(name);
      const isEntered = kind === 'directory' && recursive;
      if (isEntered && filters.enters(normalizeName(name))) yield* this.#below(name);
      if (!isEntered && filters.takes(normalizeName(name))) yield this.#one(name, kind);
    }
  }

  #stdin(): Source {
    const {stdin, temporaryDirectory, stdinName} = this.#options;
    const source = stdinSource({
      stdin: stdin(),
      temporaryDirectory,
      ...(stdinName === undefined ? {} : {name: stdinName}),
    });
    return {...source, path: source.name, relativePath: source.name};
  }

  async #kindOf(name: ByteName): Promise<Kind> {
    try {
      const stats = await stat(toPath(resolveName(this.#options.cwd, name)));
      return stats.isFile() ? 'regular' : stats.isDirectory() ? 'directory' : 'other';
    } catch {
      return 'missing';
    }
  }

  #one(name: ByteName, kind: Kind): Candidate {
    const {cwd, recursive} = this.#options;
    const names = namesOf(name, normalizeName(name));
    const mention = {};
    const file = {name, isPlain: false};
    if (kind === 'directory') {
      const refusal = new MediaError('not_a_file', `${names.path} is a directory, not a file.`, {
        hint: `To upload what is in it: media upload -r ${shellQuoted(names.path)}`,
      });
      return {mention, file, source: {...failingSource(refusal, names), everyShard: true}};
    }
    // What is missing here may be a directory elsewhere, with files of this shard in it.
    const isAnyones = kind === 'missing' && recursive;
    const source = {
      ...fileSource(toPath(name), cwd, kind === 'regular'),
      ...names,
      ...(isAnyones ? {everyShard: true as const} : {}),
    };
    return {mention, file, source};
  }

  /** All in a directory. */
  #below(directory: ByteName): AsyncIterableIterator<Candidate> {
    const {filters, cwd, follow} = this.#options;
    const rules: WalkRules = {
      takes: relative => filters.takes(relative),
      enters: relative => filters.enters(relative),
      follow,
    };
    const mention = {};
    const absolute = resolveName(cwd, directory);
    return new Mapped(walk(directory, cwd, rules), found =>
      foundBelow(absolute, found, joinNames(directory, found.relative), found.relative || '.', mention),
    );
  }

  async *#matching(pattern: string): AsyncGenerator<Candidate> {
    const {filters, cwd, follow, recursive} = this.#options;
    const glob = await compileGlob(pattern, recursive);
    const typed = (relative: ByteName) => joinNames(glob.base, relative);
    const rules: WalkRules = {
      takes: relative => glob.takes(relative) && filters.takes(normalizeName(typed(relative))),
      enters: relative => glob.enters(relative) && filters.enters(normalizeName(typed(relative))),
      follow,
    };
    const mention = {};
    const absolute = resolveName(cwd, glob.base);
    for await (const found of walk(glob.base, cwd, rules)) {
      if (found.kind === 'unreadable' && found.relative === '' && isMissing(found.error)) continue;
      const name = typed(found.relative);
      yield foundBelow(absolute, found, name, normalizeName(name), mention);
    }
  }
}

/** What a walk of the directory at an absolute path has found there, under the name it is shown by. */
function foundBelow(
  absolute: ByteName,
  found: Found,
  name: ByteName,
  relative: ByteName,
  mention: Mention,
): Candidate {
  const names = namesOf(name, relative);
  if (found.kind === 'file') {
    const path = toPath(joinNames(absolute, found.relative));
    const source = {...sourceAt(names.path, path, found.isRegular), ...names};
    return {mention, file: {name, isPlain: !found.isLink}, source};
  }
  const error = unreadableDirectory(names.path, found.error);
  // Nobody here knows what is in it, and in which shards.
  const source = {...failingSource(error, names), everyShard: true as const};
  return {mention, file: {name, isPlain: false}, source};
}

interface Names {
  path: string;
  pathBytes?: Buffer;
  relativePath: string;
  relativePathBytes?: Buffer;
}

async function* only(candidate: Candidate): AsyncGenerator<Candidate> {
  yield candidate;
}

function namesOf(name: ByteName, relative: ByteName): Names {
  const names: Names = {path: toText(name), relativePath: toText(relative)};
  if (!isText(name)) names.pathBytes = toBytes(name);
  if (!isText(relative)) names.relativePathBytes = toBytes(relative);
  return names;
}

function failingSource(error: MediaError, names: Names): Source {
  return {name: names.path, typeName: names.path, ...names, open: () => Promise.reject(error)};
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');
}

function unreadableDirectory(name: string, cause: unknown): MediaError {
  const code = systemCode(cause);
  if (isMissing(cause))
    return new MediaError('file_missing', `The directory ${name} is there no more.`, {cause});
  if (code === 'EMFILE' || code === 'ENFILE') {
    return new MediaError(
      'too_many_open_files',
      `The directory ${name} could not be read: too many files are open.`,
      {
        cause,
        hint: 'Raise the limit with ulimit -n.',
      },
    );
  }
  const reason = code === 'EACCES' || code === 'EPERM' ? 'permission denied' : (code ?? String(cause));
  return new MediaError('file_unreadable', `The directory ${name} could not be read: ${reason}.`, {cause});
}
