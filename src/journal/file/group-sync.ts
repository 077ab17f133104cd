import {nextTurn} from '../../host.ts';

/** The file that lines are appended to. */
export interface AppendTarget {
  /** Appends all of the bytes. */
  write(bytes: Buffer): Promise<void>;
  /** Makes what was written durable. */
  sync(): Promise<void>;
  /**
   * Finds the bytes that were written last. `refusal`: why the caller must not act on them. Throws if other processes
   * cannot find the bytes.
   */
  look(bytes: Buffer, isRelease: boolean): Promise<{start: number; refusal?: unknown}>;
  /** The line after a group that contains a release. */
  releaseLine(): string;
}

export interface AppendOptions {
  /** Whether the promise waits until the line would survive a crash of the machine. */
  isDurable: boolean;
  /** Whether the line permits sending; only the last writer gets this permission. */
  isRelease: boolean;
  /** Called when the line is in the file, before the promise resolves. */
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
 * Appends lines to a file, one write per group. Lines that arrive during a write or sync share the next one, so each
 * waits for at most the running sync and one more. After a failure, every further line is rejected.
 */
export class GroupSync {
  readonly #target: AppendTarget;
  #pending: Pending[] = [];
  #running: Promise<void> | undefined;
  #failure: {error: unknown} | undefined;

  constructor(target: AppendTarget) {
    this.#target = target;
  }

  /** Resolves when the line is in the file; rejects if it could not be written, synced or acted on. */
  append(text: string, options: AppendOptions): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#pending.push({text, ...options, resolve, reject});
      this.#running ??= this.#run();
    });
  }

  /** Resolves when all lines are settled and everything that could be written is durable. */
  async end(): Promise<void> {
    await this.#running;
    if (this.#failure === undefined) await this.#target.sync();
  }

  async #run(): Promise<void> {
    while (this.#pending.length > 0) {
      // The responses that have arrived are handled first: what they lead to shares one sync.
      await nextTurn();
      const group = this.#pending;
      this.#pending = [];
      if (this.#failure === undefined) await this.#write(group);
      // Has no effect on promises that are already settled.
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
