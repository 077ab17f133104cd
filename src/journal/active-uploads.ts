/** An upload in progress; later files of the same size may wait for it. */
export class ActiveUpload {
  /** Whether another file of the same size was already in progress when it began. */
  readonly hasEarlier: boolean;
  /** Those of the same size that are in progress, in the order in which they began. */
  readonly #group: Set<ActiveUpload>;
  readonly #leave: () => void;
  #sha256: string | undefined;
  /** Callbacks of those that wait for its hash or its end; usually there are none. */
  #waiting: (() => void)[] = [];

  /** `leave`: called when it was the last of its group. */
  constructor(group: Set<ActiveUpload>, leave: () => void) {
    this.hasEarlier = group.size > 0;
    this.#group = group.add(this);
    this.#leave = leave;
  }

  /** Announces its hash to those that wait for it. */
  announce(sha256: string): void {
    if (this.#sha256 === sha256) return;
    this.#sha256 = sha256;
    this.#wake();
  }

  /** Resolves when no earlier file with the same content is in progress. Call announce() first. */
  async afterEqual(): Promise<void> {
    // Waits only for earlier files, so that no two wait for each other.
    for (let one = this.#earlier(); one !== undefined; one = this.#earlier())
      await new Promise<void>(resolve => one.#waiting.push(resolve));
  }

  end(): void {
    if (!this.#group.delete(this)) return;
    if (this.#group.size === 0) this.#leave();
    this.#wake();
  }

  /** An earlier upload that has, or may have, the same content. */
  #earlier(): ActiveUpload | undefined {
    for (const one of this.#group) {
      if (one === this) break;
      if (one.#sha256 === undefined || one.#sha256 === this.#sha256) return one;
    }
    return undefined;
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** The uploads in progress, by size. */
export class ActiveUploads {
  readonly #groups = new Map<number, Set<ActiveUpload>>();

  /** Whether a file of this size is in progress. */
  has(size: number): boolean {
    return this.#groups.has(size);
  }

  /** Adds an upload; later files of the same size can wait for it until its end(). */
  begin(size: number): ActiveUpload {
    const group = this.#groups.get(size) ?? new Set();
    this.#groups.set(size, group);
    return new ActiveUpload(group, () => this.#groups.delete(size));
  }
}
