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

/** A line to append, and what becomes of it. Callbacks, since a promise for each line takes longer than the line. */
export interface Line {
  text: string;
  /** Whether `resolve` waits until the line would survive a crash of the machine. */
  isDurable: boolean;
  /** Whether the line permits sending; only the last writer gets this permission. */
  isRelease: boolean;
  /** Called when the line is in the file, before `resolve`. */
  onWritten: (place: Place) => void;
  resolve: () => void;
  /** Called if the line could not be written, synced or acted on; has no effect after `resolve`. */
  reject: (error: unknown) => void;
}

/** A place in a file, in bytes. */
export interface Place {
  offset: number;
  length: number;
}

/**
 * Appends lines to a file, one write per group. Lines that arrive during a write or sync share the next one, so each
 * waits for at most the running sync and one more. After a failure, every further line is rejected.
 */
export class GroupSync {
  readonly #target: AppendTarget;
  #pending: Line[] = [];
  #running: Promise<void> | undefined;
  #failure: {error: unknown} | undefined;

  constructor(target: AppendTarget) {
    this.#target = target;
  }

  /** Appends a line with the next group. */
  append(line: Line): void {
    this.#pending.push(line);
    this.#running ??= this.#run();
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

  async #write(group: readonly Line[]): Promise<void> {
    const isRelease = group.some(line => line.isRelease);
    let text = '';
    for (const line of group) text += line.text;
    if (isRelease) text += this.#target.releaseLine();
    const bytes = Buffer.from(text);
    try {
      await this.#target.write(bytes);
      if (group.some(line => line.isDurable)) await this.#target.sync();
      const {start, refusal} = await this.#target.look(bytes, isRelease);
      if (refusal !== undefined) this.#failure = {error: refusal};
      settle(group, {start, isAscii: bytes.length === text.length}, refusal !== undefined);
    } catch (error) {
      this.#failure = {error};
    }
  }
}

function settle(
  group: readonly Line[],
  {start, isAscii}: {start: number; isAscii: boolean},
  isRefused: boolean,
): void {
  let offset = start;
  for (const line of group) {
    const length = isAscii ? line.text.length : Buffer.byteLength(line.text);
    const isHeld = isRefused && line.isRelease;
    if (!isHeld) line.onWritten({offset, length: length - 1});
    if (!isHeld) line.resolve();
    offset += length;
  }
}
