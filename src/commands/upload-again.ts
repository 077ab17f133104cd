import {mkdtemp, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Host} from '../host.ts';
import {shellQuoted} from '../shell.ts';
import type {Outcome} from '../transfer/outcome.ts';

/** Up to so many failed inputs are named in the command itself; more go into a list. */
const mostNamed = 10;

/** Keeps which inputs failed, and says how to upload those again and nothing else. */
export class Again {
  readonly #names: Buffer[] = [];
  /** Whether the command to type can be made of names alone. */
  #isTypeable = true;

  add(outcome: Outcome): void {
    // What stood on standard input is gone.
    if (outcome.status !== 'failed' || outcome.isOnce) return;
    if (outcome.nameBytes !== undefined || /\p{Cc}/u.test(outcome.name)) this.#isTypeable = false;
    this.#names.push(outcome.nameBytes ?? Buffer.from(outcome.name));
  }

  /** What to type; undefined when nothing failed that could be uploaded again. */
  async hint(host: Host, journal: string | undefined): Promise<string | undefined> {
    if (this.#names.length === 0) return undefined;
    if (journal !== undefined) {
      return 'To upload what failed, and nothing else, run the same command again: the journal knows the rest.';
    }
    const inputs =
      this.#isTypeable && this.#names.length <= mostNamed
        ? this.#names.map(name => shellQuoted(name.toString())).join(' ')
        : `--files-from0 ${shellQuoted(await this.#writeList(host))}`;
    return `To upload what failed, and nothing else: media upload ${inputs} (and the options of this run)`;
  }

  async #writeList(host: Host): Promise<string> {
    const path = join(await mkdtemp(join(host.temporaryDirectory(), 'media-failed-')), 'names');
    await writeFile(path, Buffer.concat(this.#names.flatMap(name => [name, Buffer.of(0)])), {mode: 0o600});
    return path;
  }
}
