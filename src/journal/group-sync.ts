/** Where lines go; `write` writes all of the bytes, `sync` makes what was written durable. */
export interface AppendTarget {
  write(bytes: Uint8Array, position: number): Promise<void>;
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
}

export interface AppendOptions {
  /** Whether the promise waits until the line would survive a crash of the machine. */
  durable: boolean;
  /** Whether the line may be taken back when the append fails, since nobody has acted on it. */
  revocable: boolean;
}

/** A place in a file, in bytes. */
export interface Place {
  offset: number;
  length: number;
}

interface Pending extends AppendOptions {
  text: string;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Appends lines to a file. Lines that are appended while a write or sync is running share the next one, so nobody
 * waits for more than the running sync and one more. After a failure it takes no more lines.
 */
export class GroupSync {
  readonly #target: AppendTarget;
  /** Where the next group is written, and where the next line is to stand. */
  #position: number;
  #end: number;
  #pending: Pending[] = [];
  #running: Promise<void> | undefined;
  #failure: {error: unknown} | undefined;

  constructor(target: AppendTarget, position: number) {
    this.#target = target;
    this.#position = position;
    this.#end = position;
  }

  /**
   * Where the line is to stand, and a promise that resolves when it does, or rejects with what kept it from being written
   * or made durable.
   */
  append(line: string, {durable, revocable}: AppendOptions): {place: Place; appended: Promise<void>} {
    const place = {offset: this.#end, length: Buffer.byteLength(line)};
    this.#end += place.length;
    const appended = new Promise<void>((resolve, reject) => {
      this.#pending.push({text: line, durable, revocable, resolve, reject});
      this.#running ??= this.#run();
    });
    return {place, appended};
  }

  /** Resolves when all lines have been dealt with; what could be written is durable then. */
  async end(): Promise<void> {
    await this.#running;
    if (this.#failure === undefined) await this.#target.sync();
  }

  async #run(): Promise<void> {
    // Whoever appends in the same turn belongs to the same group.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const group = this.#pending;
      this.#pending = [];
      if (this.#failure === undefined) await this.#write(group);
      if (this.#failure !== undefined) for (const {reject} of group) reject(this.#failure.error);
    }
    this.#running = undefined;
  }

  async #write(group: readonly Pending[]): Promise<void> {
    const start = this.#position;
    try {
      const bytes = Buffer.from(group.map(({text}) => text).join(''));
      await this.#target.write(bytes, start);
      this.#position += bytes.length;
      settle(group, false);
      if (!group.some(line => line.durable)) return;
      await this.#target.sync();
      settle(group, true);
    } catch (error) {
      this.#failure = {error};
      // Best effort: a commit whose caller was told of the failure would read as an upload of unknown outcome.
      if (group.every(line => line.revocable)) await this.#target.truncate(start).catch(() => {});
    }
  }
}

function settle(group: readonly Pending[], durable: boolean): void {
  for (const line of group) if (line.durable === durable) line.resolve();
}
