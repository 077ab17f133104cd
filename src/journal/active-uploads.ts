interface InProgress {
  size: number;
  sha256?: string;
  /** Callbacks of those that wait for its hash or its end; usually there are none. */
  waiting: (() => void)[];
}

/** An upload in progress; later files of the same size may wait for it. */
export type ActiveUpload = ReturnType<ActiveUploads['begin']>;

/** The uploads in progress: as many as are sent at a time, so that each look at all of them is short. */
export class ActiveUploads {
  /** In the order in which they began. */
  readonly #all = new Set<InProgress>();

  /** Whether a file of this size is in progress. */
  has(size: number): boolean {
    for (const one of this.#all) if (one.size === size) return true;
    return false;
  }

  /** Adds an upload; later files of the same size can wait for it until its end(). */
  begin(size: number) {
    const all = this.#all;
    const hasEarlier = this.has(size);
    const own: InProgress = {size, waiting: []};
    all.add(own);
    const wake = () => {
      for (const wakeOne of own.waiting.splice(0)) wakeOne();
    };
    /** An earlier upload that has, or may have, the same content. */
    const earlier = () => {
      const began = [...all];
      const before = began.slice(0, began.indexOf(own));
      return before.find(one => one.size === size && (one.sha256 ?? own.sha256) === own.sha256);
    };
    return {
      /** Whether another file of the same size was already in progress when it began. */
      hasEarlier,

      /** Announces its hash to those that wait for it. */
      announce(sha256: string): void {
        if (own.sha256 === sha256) return;
        own.sha256 = sha256;
        wake();
      },

      /** Resolves when no earlier file with the same content is in progress. Call announce() first. */
      async afterEqual(): Promise<void> {
        // Waits only for earlier files, so that no two wait for each other.
        for (let one = earlier(); one !== undefined; one = earlier())
          await new Promise<void>(resolve => one?.waiting.push(resolve));
      },

      end(): void {
        if (all.delete(own)) wake();
      },
    };
  }
}
