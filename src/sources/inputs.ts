import {stat} from 'node:fs/promises';
import type {Readable} from 'node:stream';
import {MediaError, systemCode} from '../errors.ts';
import {shellQuoted} from '../shell.ts';
import {fileSource} from './file.ts';
import type {Filters} from './filters.ts';
import {compileGlob, isPattern} from './globs.ts';
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
  async *named(argument: string): AsyncGenerator<Candidate> {
    if (argument === '-') {
      yield {source: this.#stdin(), mention: {}};
      return;
    }
    const name = fromTyped(argument);
    const kind = await this.#kindOf(name);
    if (kind === 'missing' && isPattern(argument)) yield* this.#matching(argument);
    else if (kind === 'directory' && this.#options.recursive) yield* this.#below(name);
    else yield this.#one(name, kind);
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
  async *#below(directory: ByteName): AsyncGenerator<Candidate> {
    const {filters, cwd, follow} = this.#options;
    const rules: WalkRules = {
      takes: relative => filters.takes(relative),
      enters: relative => filters.enters(relative),
      follow,
    };
    const mention = {};
    for await (const found of walk(directory, cwd, rules)) {
      yield this.#found(found, joinNames(directory, found.relative), found.relative || '.', mention);
    }
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
    for await (const found of walk(glob.base, cwd, rules)) {
      if (found.kind === 'unreadable' && found.relative === '' && isMissing(found.error)) continue;
      const name = typed(found.relative);
      yield this.#found(found, name, normalizeName(name), mention);
    }
  }

  #found(found: Found, name: ByteName, relative: ByteName, mention: Mention): Candidate {
    const names = namesOf(name, relative);
    if (found.kind === 'file') {
      const source = {...fileSource(toPath(name), this.#options.cwd, found.isRegular), ...names};
      return {mention, file: {name, isPlain: !found.isLink}, source};
    }
    const error = unreadableDirectory(names.path, found.error);
    // Nobody here knows what is in it, and in which shards.
    const source = {...failingSource(error, names), everyShard: true as const};
    return {mention, file: {name, isPlain: false}, source};
  }
}

type Names = Pick<Source, 'pathBytes' | 'relativePathBytes'> & {path: string; relativePath: string};

function namesOf(name: ByteName, relative: ByteName): Names {
  return {
    path: toText(name),
    ...(isText(name) ? {} : {pathBytes: toBytes(name)}),
    relativePath: toText(relative),
    ...(isText(relative) ? {} : {relativePathBytes: toBytes(relative)}),
  };
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
