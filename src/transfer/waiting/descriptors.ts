/**
 * Limits how many files are in progress once the process has run out of file descriptors. A file that gets none yields: it
 * closes what it has opened, and begins again when another one has ended. Each file that ends raises the limit a little.
 */
export class Descriptors {
  #inProgress = 0;
  #most = Number.POSITIVE_INFINITY;
  /** Whether there were others in progress when the last file began; they may have ended since. */
  #hasCompany = false;
  readonly #waiting: (() => void)[] = [];

  /** Runs `work` when there is room; again, for as long as it resolves to undefined because it yielded. */
  async use<Result>(work: () => Promise<Result | undefined>): Promise<Result> {
    for (;;) {
      while (this.#inProgress >= Math.floor(this.#most))
        await new Promise<void>(resolve => this.#waiting.push(resolve));
      this.#hasCompany = this.#inProgress > 0;
      this.#inProgress += 1;
      let result: Result | undefined;
      try {
        result = await work();
      } finally {
        this.#inProgress -= 1;
        if (result !== undefined) this.#most += 1 / this.#most;
        this.#waiting.shift()?.();
      }
      if (result !== undefined) return result;
    }
  }

  /** Lowers the limit to the other files in progress; false if there were none, which could make room. */
  yieldDescriptor(): boolean {
    if (!this.#hasCompany) return false;
    this.#most = Math.max(1, this.#inProgress - 1);
    return true;
  }
}
