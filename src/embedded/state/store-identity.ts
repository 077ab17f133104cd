import {randomBytes} from 'node:crypto';
import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {claimName, replaceDurably, writeDurably} from '../../lib/files/durable.ts';
import {systemFiles} from '../../lib/files/file-system.ts';
import {isString, matching, oneOf} from '../../lib/json.ts';
import {readStored} from './kept-file.ts';

/** The identity of a data directory; undefined where no service has used it yet. */
export async function identityIn(dataDirectory: string): Promise<string | undefined> {
  const hint = 'Restore it from a backup, or remove it: journals of this service then belong to another one.';
  const shape = {version: oneOf(1), identity: matching(/^[0-9a-f]{32}$/)};
  return (await readStored({path: join(dataDirectory, 'identity.json'), hint}, shape))?.identity;
}

/** The identity of a data directory, random; the first process that asks stores it. `draft`: a free path beside it. */
export async function ensureIdentity(dataDirectory: string, draft: string): Promise<string> {
  const existing = await identityIn(dataDirectory);
  if (existing !== undefined) return existing;
  const identity = randomBytes(16).toString('hex');
  await writeDurably(draft, `${JSON.stringify({version: 1, identity})}\n`, systemFiles);
  await claimName(draft, join(dataDirectory, 'identity.json'), systemFiles);
  return (await identityIn(dataDirectory)) ?? '';
}

/** The one user of a data directory: `profile.json`. `newDraft` makes a free path in the data directory. */
export function userProfile(dataDirectory: string, newDraft: () => string) {
  const path = join(dataDirectory, 'profile.json');
  const hint = 'Restore it from a backup, or remove it and enter the name again.';
  return {
    /** The user's name; undefined until one is set. Rejects if the file is damaged. */
    name: async () => (await readStored({path, hint}, {version: oneOf(1), name: isString}))?.name,
    /** Stores the user's name; undefined removes it. */
    async setName(name: string | undefined): Promise<void> {
      if (name === undefined) return rm(path, {force: true});
      await replaceDurably(path, `${JSON.stringify({version: 1, name})}\n`, newDraft(), systemFiles);
    },
  };
}
