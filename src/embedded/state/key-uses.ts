import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import type {Clock} from '../../host.ts';
import {makeDirectory, replaceDurably} from '../../lib/files/durable.ts';
import {systemFiles} from '../../lib/files/file-system.ts';
import {isString, type ShapeOf} from '../../lib/json.ts';
import {readStored} from './kept-file.ts';

/** When a key was last used (ISO 8601, UTC; to the minute), and by which program. */
const useShape = {lastUsedAt: isString, userAgent: isString};

export type KeyUse = ShapeOf<typeof useShape>;

/** The last use of each stored key, in `key-uses/<key id>.json`. For information only, so no request waits for it. */
export function keyUses(dataDirectory: string, clock: Clock) {
  const directory = join(dataDirectory, 'key-uses');
  const recentUses = new Map<string, {at: number; userAgent: string}>();
  let writing: Promise<void> = Promise.resolve();
  const pathOf = (id: string) => join(directory, `${id}.json`);
  /** Replaces the file of a key's last use. */
  const write = async (id: string, use: KeyUse) => {
    await makeDirectory(directory, systemFiles, 0o700);
    await replaceDurably(pathOf(id), `${JSON.stringify(use)}\n`, `${pathOf(id)}.new`, systemFiles);
  };
  return {
    /** Records a use of a key, at most once a minute per program. */
    recordUse(id: string, agent: string): void {
      const userAgent = agent.slice(0, 200);
      const at = clock.now();
      const last = recentUses.get(id);
      if (last?.userAgent === userAgent && at - last.at < 60_000) return;
      recentUses.set(id, {at, userAgent});
      const use: KeyUse = {lastUsedAt: new Date(at).toISOString(), userAgent};
      // A use that cannot be written, for lack of space for example, is no reason to refuse a request.
      writing = writing.then(() => write(id, use)).catch(() => {});
    },

    /** The last use of a key; undefined if it was never used. Rejects if its use cannot be read. */
    async find(id: string): Promise<KeyUse | undefined> {
      await writing;
      return readStored({path: pathOf(id)}, useShape);
    },

    /** Deletes the recorded use of a revoked key. */
    async forget(id: string): Promise<void> {
      await writing;
      recentUses.delete(id);
      await rm(pathOf(id), {force: true}).catch(() => {});
    },

    /** Resolves when all recorded uses are written. */
    waitForWrites: () => writing,
  };
}
