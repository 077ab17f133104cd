/** So many more than were ever stored may be sent: all of them may be refused, and a batch may retry little more. */
const mostRefused = 96;

/** With so many bytes in progress, which is more than any line holds, more files do not fill it any better. */
const enough = {bytes: 64 * 1024 * 1024, files: 16};

/** The same until one was stored: of a batch whose key is refused, no more is sent in vain. */
const enoughUnanswered = {bytes: 16 * 1024 * 1024, files: 8};

/**
 * Where a connection takes so long to open, those of the next step are opened before it. Where it takes less, all the steps of a
 * run wait no longer for connections than the run takes to start.
 */
const slowToOpenMs = 20;

/** The files that are being sent, and how fast the connections were opened that they are sent over. */
export class Sending {
  files = 0;
  stored = 0;
  #bytes = 0;
  #fastestMs: number | undefined;

  begin(size: number): void {
    this.files += 1;
    this.#bytes += size;
  }

  /** Call when bytes have left over a connection that took so long to open. */
  sent(connectMs: number): void {
    this.#fastestMs = Math.min(connectMs, this.#fastestMs ?? connectMs);
  }

  end(size: number): void {
    this.files -= 1;
    this.#bytes -= size;
  }

  /** How many may be sent under this limit: with enough bytes in progress few, and fewer until one was stored. */
  within(limit: number): number {
    const most = Math.min(limit, this.stored + mostRefused);
    const {bytes, files} = this.stored > 0 ? enough : enoughUnanswered;
    return this.#bytes < bytes ? most : Math.min(most, files);
  }

  /** Whether connections take long to open, and so many files would not be too many bytes, if all are like those that are sent. */
  areWorthOpening(files: number): boolean {
    const {bytes} = this.stored > 0 ? enough : enoughUnanswered;
    return (this.#fastestMs ?? 0) >= slowToOpenMs && this.#bytes * files < bytes * this.files;
  }
}
