import {randomBytes} from 'node:crypto';
import {join} from 'node:path';
import {claimName, replaceDurably, writeDurably} from '../../lib/files/durable.ts';
import {isString, matching, oneOf, type Shape} from '../../lib/json.ts';
import {KeptFile} from './kept-file.ts';

const identityShape: Shape<{version: 1; identity: string}> = {
  version: oneOf(1),
  identity: matching(/^[0-9a-f]{32}$/),
};

const identityHint =
  'Restore it from a backup, or remove it: journals of this service then belong to another one.';

/** The identity of a data directory; undefined where no service has used it yet. */
export async function identityIn(dataDirectory: string): Promise<string | undefined> {
  const file = new KeptFile(join(dataDirectory, 'identity.json'), identityHint);
  return (await file.read(identityShape))?.identity;
}

/** The identity of a data directory, created at random by the first process that asks; `draft` is a free path beside it. */
export async function identityOf(dataDirectory: string, draft: string): Promise<string> {
  const known = await identityIn(dataDirectory);
  if (known !== undefined) return known;
  await writeDurably(draft, `${JSON.stringify({version: 1, identity: randomBytes(16).toString('hex')})}\n`);
  await claimName(draft, join(dataDirectory, 'identity.json'));
  return (await identityIn(dataDirectory)) ?? '';
}

interface ProfileFile {
  readonly version: 1;
  readonly name: string;
}

const profileShape: Shape<ProfileFile> = {version: oneOf(1), name: isString};

const damageHint = 'Restore it from a backup, or remove it and enter the name again.';

/** The one user of a data directory: `profile.json`. */
export class UserProfile {
  readonly #path: string;
  readonly #newDraft: () => string;

  /** `newDraft` makes a free path beside it. */
  constructor(dataDirectory: string, newDraft: () => string) {
    this.#path = join(dataDirectory, 'profile.json');
    this.#newDraft = newDraft;
  }

  /** The user's name; undefined until one is set. Rejects if the file is damaged. */
  async name(): Promise<string | undefined> {
    return (await new KeptFile(this.#path, damageHint).read(profileShape))?.name;
  }

  async setName(name: string): Promise<void> {
    const file: ProfileFile = {version: 1, name};
    await replaceDurably(this.#path, `${JSON.stringify(file)}\n`, this.#newDraft());
  }
}
