import {readdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {limited} from '../../lib/limited.ts';
import {ignoreMissing} from '../../lib/system-code.ts';
import {Refusal} from '../exchange/refusal.ts';

/** The bytes that all uploads of a data directory together may have. */
export class Quota {
  readonly #most: number;
  /** Whether there is a limit. */
  readonly isLimited: boolean;
  /** By the names of the files. */
  readonly #sizes = new Map<string, number>();
  #stored = 0;
  #reserved = 0;

  constructor(most: number) {
    this.#most = most;
    this.isLimited = Number.isFinite(most);
  }

  /** Counts what is stored, if there is a limit at all. */
  async prepare(filesDirectory: string): Promise<void> {
    if (!this.isLimited) return;
    const count = async (name: string) => {
      // Another process may delete it at the same time.
      const file = await stat(join(filesDirectory, name)).catch(ignoreMissing);
      this.set(name, file?.size ?? 0);
    };
    const inTurn = limited(32);
    await Promise.all((await readdir(filesDirectory)).map(name => inTurn(() => count(name))));
  }

  /** Sets bytes aside for an upload until the returned function is called; throws a 507 if there are not as many. */
  reserve(bytes: number): () => void {
    if (this.#stored + this.#reserved + bytes > this.#most) {
      throw new Refusal(
        507,
        `This service stores at most ${this.#most} bytes, and ${this.#stored} are used.`,
      );
    }
    this.#reserved += bytes;
    return () => {
      this.#reserved -= bytes;
    };
  }

  /** Counts a file that was stored, in place of an earlier one of its name; 0 bytes if it was deleted. */
  set(name: string, bytes: number): void {
    if (!this.isLimited) return;
    this.#stored += bytes - (this.#sizes.get(name) ?? 0);
    if (bytes === 0) this.#sizes.delete(name);
    else this.#sizes.set(name, bytes);
  }
}
