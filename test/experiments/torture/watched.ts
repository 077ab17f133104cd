import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {sandboxFor} from '../../engine/service/program.ts';
import {eventually} from '../../support/eventually.ts';
import type {Findings} from '../../support/experiment/experiment.ts';
import {type KeepingOptions, KeepingServer} from '../../support/experiment/keeping-server.ts';
import {sha256Of, uniqueBytes} from '../../support/experiment/verdicts.ts';
import type {Sandbox} from '../../support/media.ts';
import {Watching} from '../../support/watching.ts';
import type {MountSpace} from './mount-space.ts';

/** How long a machine that is busy with other things may take. */
export const patience = {pauseMs: 50};

/** A machine with a directory `in` to watch and a service that counts what it stores. */
export class Watched {
  readonly box: Sandbox;
  readonly server: KeepingServer;
  /** The hash of every file that was written, with its name. */
  readonly #written = new Map<string, string>();
  #watching: Watching | undefined;

  private constructor(box: Sandbox, server: KeepingServer) {
    this.box = box;
    this.server = server;
  }

  static async machine({at, honoursKeys = true}: KeepingOptions = {}): Promise<Watched> {
    const server = await KeepingServer.start({honoursKeys, ...(at && {at})});
    const box = await sandboxFor(server.url);
    await mkdir(join(box.directory, 'in'));
    const settings = honoursKeys ? {'base-url': server.url, 'idempotency-keys': 'honoured'} : {};
    for (const [name, value] of Object.entries(settings)) await box.run(['config', 'set', name, value]);
    return new Watched(box, server);
  }

  path(name: string): string {
    return join(this.box.directory, name);
  }

  /** Starts to watch `in`, in a space of mounts if there is one. */
  watch(space: MountSpace | undefined, ...parameters: string[]): Watching {
    this.#watching = new Watching(space?.inside(this.box) ?? this.box, ['in', '--ndjson', ...parameters]);
    return this.#watching;
  }

  /** Writes a file of its own content; `root` if it is not in the directory of the machine. */
  async write(name: string, size = 3_000, root = this.box.directory): Promise<string> {
    const bytes = uniqueBytes(size);
    const path = join(root, name);
    await mkdir(dirname(path), {recursive: true});
    await writeFile(path, bytes);
    return this.expect(name, bytes);
  }

  /** Counts a content in, which is written in another way. */
  expect(name: string, bytes: Uint8Array): string {
    const sha256 = sha256Of(bytes);
    this.#written.set(sha256, name);
    return sha256;
  }

  /** Resolves when a directory has no files but these. */
  async emptied(directory = this.path('in'), but: () => readonly string[] = () => []): Promise<void> {
    const left = async () => (await filesIn(directory)).filter(name => !but().includes(name));
    const state = async () => ({
      left: await left(),
      stored: this.server.stored.length,
      written: this.count,
      ...this.#watching?.lastWords,
    });
    await eventually(async () => (await left()).length === 0, {...patience, state});
  }

  /**
   * A sentence for every content that is not stored exactly once, or, where files are moved to, not there exactly once. What is
   * `left` where it was is not expected there.
   */
  async wrong(movedTo?: string, left: readonly string[] = []): Promise<string[]> {
    await this.server.idle();
    const wrong: string[] = [];
    const moved = movedTo === undefined ? [] : await filesIn(movedTo);
    const hashes = await Promise.all(
      moved.map(async name => sha256Of(await readFile(join(movedTo ?? '', name)))),
    );
    for (const [sha256, name] of this.#written) {
      const times = this.server.countOf(sha256);
      if (times !== 1) wrong.push(`${name}: stored ${times} times`);
      const there = hashes.filter(hash => hash === sha256).length;
      if (movedTo !== undefined && there !== (left.includes(name) ? 0 : 1))
        wrong.push(`${name}: moved ${there} times`);
    }
    if (this.server.stored.length !== this.#written.size)
      wrong.push(`${this.server.stored.length} stored of ${this.#written.size}`);
    return wrong;
  }

  get count(): number {
    return this.#written.size;
  }
}

/** The files of a directory and of those in it, by their paths below it. */
export async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, {recursive: true, withFileTypes: true}).catch(() => []);
  return entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(directory.length + 1));
}

/** The command in the name of an experiment. */
export function commandWith(parameters: readonly string[]): string {
  return ['media watch', ...parameters].join(' ');
}

/** What came of the files of some machines. */
export function findingsOf(wrong: readonly string[], tried: number, note?: string): Findings {
  return {tried, held: tried - wrong.length, broken: wrong, ...(note === undefined ? {} : {note})};
}
