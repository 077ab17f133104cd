/** Where lines go. */
export interface AppendTarget {
  /** Appends all of the bytes. */
  write(bytes: Buffer): Promise<void>;
  /** Makes what was written durable. */
  sync(): Promise<void>;
  /**
   * Where the bytes that were written last stand, and what forbids to act on them; throws where nobody else would find
   * them.
   */
  look(bytes: Buffer, isRelease: boolean): Promise<{start: number; refusal?: unknown}>;
  /** The line behind a group in which something is to be acted on. */
  releaseLine(): string;
}

export interface AppendOptions {
  /** Whether the promise waits until the line would survive a crash of the machine. */
  isDurable: boolean;
  /** Whether it allows to act, which only the last writer may do. */
  isRelease: boolean;
  /** Called when the line stands, before the promise resolves. */
  onWritten: (place: Place) => void;
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
 * Appends lines to a file, each group of them by one write. Lines that are appended while a write or sync is running
 * share the next one, so nobody waits for more than the running sync and one more. After a failure it takes no more lines.
 */
export class GroupSync {
  readonly #target: AppendTarget;
  #pending: Pending[] = [];
  #running: Promise<void> | undefined;
  #failure: {error: unknown} | undefined;

  constructor(target: AppendTarget) {
    this.#target = target;
  }

  /** Resolves when the line stands, or rejects with what kept it from being written, made durable or acted on. */
  append(text: string, options: AppendOptions): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#pending.push({text, ...options, resolve, reject});
      this.#running ??= this.#run();
    });
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
      // Those that were settled before are not affected.
      if (this.#failure !== undefined) for (const {reject} of group) reject(this.#failure.error);
    }
    this.#running = undefined;
  }

  async #write(group: readonly Pending[]): Promise<void> {
    const isRelease = group.some(line => line.isRelease);
    const text = group.map(line => line.text).join('');
    const bytes = Buffer.from(isRelease ? text + this.#target.releaseLine() : text);
    try {
      await this.#target.write(bytes);
      if (group.some(line => line.isDurable)) await this.#target.sync();
      const {start, refusal} = await this.#target.look(bytes, isRelease);
      if (refusal !== undefined) this.#failure = {error: refusal};
      settle(group, start, refusal !== undefined);
    } catch (error) {
      this.#failure = {error};
    }
  }
}

function settle(group: readonly Pending[], start: number, isRefused: boolean): void {
  let offset = start;
  for (const line of group) {
    const length = Buffer.byteLength(line.text);
    const isHeld = isRefused && line.isRelease;
    if (!isHeld) line.onWritten({offset, length: length - 1});
    if (!isHeld) line.resolve();
    offset += length;
  }
}
