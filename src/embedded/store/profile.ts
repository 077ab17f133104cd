import {join} from 'node:path';
import {replaceDurably} from '../../lib/files/durable.ts';
import {isString, oneOf, type Shape} from '../../lib/shape.ts';
import {KeptFile} from './kept-file.ts';
import type {Store} from './store.ts';

interface ProfileFile {
  readonly version: 1;
  readonly name: string;
}

const profileShape: Shape<ProfileFile> = {version: oneOf(1), name: isString};

const damageHint = 'Restore it from a backup, or remove it and enter the name again.';

/** The one user of a data directory: `profile.json`. */
export class UserProfile {
  readonly #store: Store;
  readonly #path: string;

  constructor(store: Store) {
    this.#store = store;
    this.#path = join(store.dataDirectory, 'profile.json');
  }

  /** The user's name; undefined until one is set. Rejects if the file is damaged. */
  async name(): Promise<string | undefined> {
    return (await new KeptFile(this.#path, damageHint).read(profileShape))?.name;
  }

  /** Sets the user's name. */
  async setName(name: string): Promise<void> {
    const file: ProfileFile = {version: 1, name};
    await replaceDurably(this.#path, `${JSON.stringify(file)}\n`, this.#store.temporaryPath());
  }
}
