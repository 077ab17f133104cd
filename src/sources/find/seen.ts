import {isNamedMedia} from '../media-type/decide.ts';
import type {Source} from '../open/source.ts';
import {type ByteName, normalizeName, resolveName} from './names.ts';
import {realPath} from './places.ts';

/** A file by the name that led to it. */
export interface NamedFile {
  name: ByteName;
  /** Whether the name is no link. */
  isPlain: boolean;
  /** Set of what an argument or a list names. */
  isNamed?: true;
  /** Of a link: the name under which the same walk comes across the file itself. */
  target?: string;
}

/**
 * Remembers files by their real path, so that what was named or found twice is sent once. A hard link is another file.
 * What was left out is not sent, and therefore may be named again.
 */
export class Seen {
  readonly #cwd: string;
  readonly #onlyLinks: boolean;
  /** Whether each file is sent for certain; otherwise that is for its bytes to tell. */
  readonly #files = new Map<ByteName, boolean>();
  readonly #hidden = new Set<ByteName>();
  /** The directory asked about last: a walk asks about all files of one after the other. */
  #directory: {name: ByteName; real: ByteName} | undefined;

  /** `onlyLinks`: there is one input and no link is followed, so that only links in a walk may lead to a file again. */
  constructor(cwd: string, {onlyLinks}: {onlyLinks: boolean}) {
    this.#cwd = cwd;
    this.#onlyLinks = onlyLinks;
  }

  /** Whether the file has been there before, or comes under its own name. */
  isRepeat(file: NamedFile, source: Source): boolean | Promise<boolean> {
    return this.#onlyLinks && (file.isPlain || file.isNamed) ? false : this.#isKnown(file, source);
  }

  async #isKnown(file: NamedFile, source: Source): Promise<boolean> {
    if (source.found?.isHidden) return isAddedTwice(this.#hidden, await this.#realPath(file));
    const isSent = await isSentForCertain(source);
    if (file.target !== undefined) {
      const isTargetSent = source.found === undefined || (await isNamedMedia(file.target));
      return isTargetSent || !isSent || (await isMedia(source));
    }
    const real = await this.#realPath(file);
    const first = this.#files.get(real);
    if (first === true || (first === false && (!isSent || (await isMedia(source))))) return true;
    this.#files.set(real, isSent);
    return false;
  }

  async #realPath({name, isPlain}: NamedFile): Promise<ByteName> {
    const absolute = resolveName(this.#cwd, name);
    return isPlain ? this.#realPathInDirectory(absolute) : realPathOrName(absolute);
  }

  /** Of a name that is no link: only its directory has to be looked up. */
  async #realPathInDirectory(absolute: ByteName): Promise<ByteName> {
    const slash = absolute.lastIndexOf('/');
    const name = absolute.slice(0, slash);
    if (this.#directory?.name !== name) this.#directory = {name, real: await realPathOrName(name || '/')};
    return `${this.#directory.real === '/' ? '' : this.#directory.real}${absolute.slice(slash)}`;
  }
}

function isAddedTwice(set: Set<ByteName>, name: ByteName): boolean {
  const isThere = set.has(name);
  set.add(name);
  return isThere;
}

function isSentForCertain({found}: Source): boolean | Promise<boolean> {
  return found === undefined || found.isNamedMedia();
}

/** What cannot be read is neither sent nor left out under another name. */
async function isMedia(source: Source): Promise<boolean> {
  const {sniff} = await import('../media-type/sniff/sniff.ts');
  try {
    const opened = await source.open(new AbortController().signal);
    try {
      return (await sniff(opened))?.isMedia === true;
    } finally {
      await opened.close();
    }
  } catch {
    return false;
  }
}

async function realPathOrName(absolute: ByteName): Promise<ByteName> {
  // What does not exist, or may not be reached, is known by its name alone.
  return realPath(absolute).catch(() => normalizeName(absolute));
}
