/** An upload in progress; later files of the same size may wait for it. */
export class ActiveUpload {
  readonly size: number;
  /** Whether another file of the same size was already in progress when it began. */
  readonly hasEarlier: boolean;
  /** All that are in progress, in the order in which they began. */
  readonly #all: Set<ActiveUpload>;
  #sha256: string | undefined;
  /** Callbacks of those that wait for its hash or its end; usually there are none. */
  #waiting: (() => void)[] = [];

  constructor(size: number, hasEarlier: boolean, all: Set<ActiveUpload>) {
    this.size = size;
    this.hasEarlier = hasEarlier;
    this.#all = all.add(this);
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
    if (this.#all.delete(this)) this.#wake();
  }

  /** An earlier upload that has, or may have, the same content. */
  #earlier(): ActiveUpload | undefined {
    for (const one of this.#all) {
      if (one === this) break;
      if (one.size === this.size && (one.#sha256 ?? this.#sha256) === this.#sha256) return one;
    }
    return undefined;
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** The uploads in progress: as many as are sent at a time, so that each look at all of them is short. */
export class ActiveUploads {
  readonly #all = new Set<ActiveUpload>();

  /** Whether a file of this size is in progress. */
  has(size: number): boolean {
    for (const one of this.#all) if (one.size === size) return true;
    return false;
  }

  /** Adds an upload; later files of the same size can wait for it until its end(). */
  begin(size: number): ActiveUpload {
    return new ActiveUpload(size, this.has(size), this.#all);
  }
}
