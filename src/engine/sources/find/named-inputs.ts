import {basename} from 'node:path';
import {MediaError, systemError, tooManyOpen} from '../../../errors.ts';
import {fact, phrase} from '../../../hint.ts';
import {type ByteName, isText, toBytes, toPath, toText} from '../../../lib/files/typed-path.ts';
import {isMissing, isOutOfDescriptors} from '../../../lib/system-code.ts';
import {isNamedMedia} from '../../../media/type/decide.ts';
import {Disk} from '../open/disk.ts';
import {sourceAt} from '../open/file-source.ts';
import type {Source} from '../open/source.ts';
import {spooledSource} from '../open/spooled.ts';
import type {ListContext} from './name-lists.ts';
import type {NamedFile} from './seen.ts';
import {fromPath, isHiddenName, joinNames, normalizeName, resolveName, withSlashes} from './walk/names.ts';
import {compileGlob, type Filters, isPattern} from './walk/patterns.ts';
import {type WalkResult, type WalkRules, walk} from './walk/walk.ts';

/** A source from an input, before it is known whether another input has yielded it too. */
export interface Candidate {
  source: Source;
  /** Its file; absent for standard input. */
  file?: NamedFile;
}

/** What an input yields: a candidate, or a link to a directory, which is reported and not followed. */
export type InputItem = Candidate | {unfollowed: ByteName};

/** What is at a path, following links. */
type Kind = 'regular' | 'directory' | 'other' | 'missing';

export interface FinderOptions extends Pick<ListContext, 'cwd' | 'files' | 'stdin'> {
  recursive: boolean;
  /** Whether walks include hidden files and files that are not media. */
  all: boolean;
  filters: Filters;
  temporaryDirectory: string;
  stdinName?: string | undefined;
}

/** Finds what arguments and names in lists mean; each call reads the file system again. */
export class Finder {
  readonly #options: FinderOptions;
  readonly #disk: Disk;

  constructor(options: FinderOptions) {
    this.#options = options;
    this.#disk = new Disk(options.files);
  }

  /** What an argument means: standard input, a file, the files in a directory, or the matches of a pattern. */
  async candidatesOf(argument: string): Promise<AsyncIterableIterator<InputItem>> {
    if (argument === '-') return only({source: this.#stdin()});
    const name = fromPath(argument);
    const kind = await this.#kindOf(name);
    if (kind === 'missing' && isPattern(argument)) return this.#matching(argument);
    if (kind === 'directory' && this.#options.recursive) return this.#below(name);
    return only(this.#one(name, kind));
  }

  /** What the names in a list mean: like arguments, except that they are never patterns or `-`. */
  async *candidatesOfList(names: AsyncIterable<ByteName>): AsyncGenerator<InputItem> {
    const {filters, recursive} = this.#options;
    for await (const bytes of names) {
      const name = withSlashes(bytes);
      const kind = await this.#kindOf(name);
      const isEntered = kind === 'directory' && recursive;
      if (isEntered && filters.enters(normalizeName(name))) yield* this.#below(name);
      if (!isEntered && filters.takes(normalizeName(name))) yield this.#one(name, kind);
    }
  }

  /** Standard input, under the name that was given for it (without its directories) or `-`. */
  #stdin(): Source {
    const {stdin, temporaryDirectory, files, stdinName} = this.#options;
    const name = stdinName === undefined ? '-' : basename(stdinName);
    return spooledSource({what: 'Standard input', name, stream: stdin, temporaryDirectory, files});
  }

  /** What is at a name, links followed; `missing` also for what cannot be reached. */
  async #kindOf(name: ByteName): Promise<Kind> {
    try {
      const stats = await this.#disk.files.stat(toPath(resolveName(this.#options.cwd, name)));
      return stats.isFile() ? 'regular' : stats.isDirectory() ? 'directory' : 'other';
    } catch {
      return 'missing';
    }
  }

  /** What a name means without a walk; the source of a directory fails when it is opened. */
  #one(name: ByteName, kind: Kind): Candidate {
    const {cwd, recursive} = this.#options;
    const names = namesOf(name, normalizeName(name));
    const file: NamedFile = {name, isPlain: false, isNamed: true};
    // What is in a directory may belong to any shard. A missing name may be a directory on another machine.
    const isAnyones = kind === 'directory' || (kind === 'missing' && recursive);
    const source = {
      ...sourceAt(this.#disk, names.name, toPath(resolveName(cwd, name)), kind === 'regular'),
      ...names,
      ...(isAnyones && {everyShard: true as const}),
    };
    return {file, source};
  }

  /** The files in a directory and the directories in it. */
  async *#below(directory: ByteName): AsyncGenerator<InputItem> {
    const {filters, cwd, files, all} = this.#options;
    const rules: WalkRules = {...filters, hides: relative => !all && isHiddenName(relative)};
    const root = resolveName(cwd, directory);
    for await (const found of walk(root, rules, files))
      yield this.#toCandidate(root, found, joinNames(directory, found.relative), found.relative || '.');
  }

  /** What matches a pattern; nothing, without an error, if its base directory does not exist. */
  async *#matching(pattern: string): AsyncGenerator<InputItem> {
    const {filters, cwd, files, recursive, all} = this.#options;
    const glob = compileGlob(pattern, recursive);
    const userName = (relative: ByteName) => joinNames(glob.base, relative);
    const rules: WalkRules = {
      takes: relative => glob.takes(relative) && filters.takes(normalizeName(userName(relative))),
      enters: relative => glob.enters(relative) && filters.enters(normalizeName(userName(relative))),
      hides: relative => !all && glob.hides(relative),
    };
    const root = resolveName(cwd, glob.base);
    for await (const found of walk(root, rules, files)) {
      if (found.kind === 'unreadable' && found.relative === '' && isMissing(found.error)) continue;
      const name = userName(found.relative);
      yield this.#toCandidate(root, found, name, normalizeName(name));
    }
  }

  /** What a walk found below its absolute root; `name`: the name to show, `relative`: for shards and the journal. */
  #toCandidate(root: ByteName, result: WalkResult, name: ByteName, relative: ByteName) {
    if (result.kind === 'unfollowed') return {unfollowed: name};
    const names = namesOf(name, relative);
    if (result.kind === 'unreadable') {
      const open = () => Promise.reject(directoryError(names.name, result.error));
      // What is in the directory may belong to any shard.
      return {file: {name, isPlain: false}, source: {...names, everyShard: true as const, open}};
    }
    const {kind, isLink, isRegular, target} = result;
    const file: NamedFile = {name, isPlain: !isLink, ...(target && {target: toText(target)})};
    const path = toPath(joinNames(root, result.relative));
    const source = Object.assign(sourceAt(this.#disk, names.name, path, isRegular), names);
    const foundInput = {isHidden: kind === 'hidden', isNamedMedia: () => isNamedMedia(names.name)};
    return {file, source: this.#options.all ? source : {found: foundInput, ...source}};
  }
}

type Names = Pick<Source, 'name' | 'nameBytes' | 'relativePath'>;

async function* only(candidate: Candidate): AsyncGenerator<Candidate> {
  yield candidate;
}

/** The names of a source: to show, for shards and the journal, and as bytes if the first is not UTF-8. */
function namesOf(name: ByteName, relative: ByteName): Names {
  const names = {name: toText(name), relativePath: toPath(relative)};
  return isText(name) ? names : {...names, nameBytes: toBytes(name)};
}

/** The error for a directory that a walk has found, but cannot read. */
function directoryError(name: string, cause: unknown): MediaError {
  const gone = phrase`The directory ${fact('file', name)} no longer exists.`;
  if (isMissing(cause)) return new MediaError('file_missing', gone, {cause});
  const failed = phrase`The directory ${fact('file', name)} could not be read`;
  if (isOutOfDescriptors(cause)) return tooManyOpen(failed, cause);
  return systemError('file_unreadable', failed, cause);
}
