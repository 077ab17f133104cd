import {readdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {ignoreMissing} from '../../lib/system-code.ts';
import {Refusal} from '../exchange/refusal.ts';
import {readsAtOnce} from './kept-file.ts';

/** The bytes that all uploads of a data directory together may have: at most so many. */
export function quotaOf(most: number) {
  const isLimited = Number.isFinite(most);
  /** By the names of the files. */
  const sizes = new Map<string, number>();
  let stored = 0;
  /** Counts a file that was stored, in place of an earlier one of its name; 0 bytes if it was deleted. */
  const set = (name: string, bytes: number) => {
    if (!isLimited) return;
    stored += bytes - (sizes.get(name) ?? 0);
    if (bytes === 0) sizes.delete(name);
    else sizes.set(name, bytes);
  };
  return {
    /** Whether there is a limit. */
    isLimited,
    set,

    /** Counts what is stored, if there is a limit at all. */
    async prepare(filesDirectory: string): Promise<void> {
      if (!isLimited) return;
      const count = async (name: string) => {
        // Another process may delete it at the same time.
        const file = await stat(join(filesDirectory, name)).catch(ignoreMissing);
        set(name, file?.size ?? 0);
      };
      await Promise.all((await readdir(filesDirectory)).map(name => readsAtOnce(() => count(name))));
    },

    /** Counts an upload that is about to be received into a file; throws a 507 if there are too few bytes left. */
    reserve(name: string, bytes: number): void {
      if (stored + bytes > most)
        throw new Refusal(507, `This service stores at most ${most} bytes, and ${stored} are used.`);
      set(name, bytes);
    },
  };
}
