import {realpath} from 'node:fs/promises';
import {type ByteName, resolveName, toPath, withSlashes} from './names.ts';

/** One naming of a file or directory: an argument, a line of a list. */
export type Mention = object;

/** Remembers files by their real path, so that what was named twice is sent once. A hard link is another file. */
export class Seen {
  readonly #cwd: string;
  readonly #firstMentions = new Map<ByteName, Mention>();
  /** The directory asked about last: a walk asks about all files of one after the other. */
  #directory: {name: ByteName; real: ByteName} | undefined;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Whether an earlier mention has led to this file; one mention may lead to it by several names. */
  async isRepeat(file: {name: ByteName; isPlain: boolean}, mention: Mention): Promise<boolean> {
    const absolute = resolveName(this.#cwd, file.name);
    const real = file.isPlain ? await this.#realPathInDirectory(absolute) : await realPath(absolute);
    const first = this.#firstMentions.get(real);
    if (first === undefined) this.#firstMentions.set(real, mention);
    return first !== undefined && first !== mention;
  }

  /** Of a name that is no link: only its directory has to be looked up. */
  async #realPathInDirectory(absolute: ByteName): Promise<ByteName> {
    const slash = absolute.lastIndexOf('/');
    const name = absolute.slice(0, slash);
    if (this.#directory?.name !== name) this.#directory = {name, real: await realPath(name || '/')};
    return `${this.#directory.real === '/' ? '' : this.#directory.real}${absolute.slice(slash)}`;
  }
}

async function realPath(absolute: ByteName): Promise<ByteName> {
  try {
    return withSlashes((await realpath(toPath(absolute), 'buffer')).toString('latin1'));
  } catch {
    // What does not exist, or may not be reached, is known by its name alone.
    return absolute;
  }
}
