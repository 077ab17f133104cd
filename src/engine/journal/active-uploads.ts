interface UploadInProgress {
  size: number;
  sha256?: string;
  /** Called at its next hash or its end; usually nobody waits. */
  waiters: (() => void)[];
}

/** The handle of one upload in progress. */
export type ActiveUpload = ReturnType<ActiveUploads['begin']>;

/** The uploads in progress. They are as few as the concurrency, so each search reads all of them. */
export class ActiveUploads {
  readonly #all = new Set<UploadInProgress>();

  /** Whether a file of this size is in progress. */
  has(size: number): boolean {
    for (const upload of this.#all) if (upload.size === size) return true;
    return false;
  }

  /** Adds an upload. Later files of the same size can wait until its end(). */
  begin(size: number) {
    const all = this.#all;
    const hasEarlier = this.has(size);
    const own: UploadInProgress = {size, waiters: []};
    all.add(own);
    const wake = () => {
      for (const wakeOne of own.waiters.splice(0)) wakeOne();
    };
    /** An earlier upload with the same hash, or of the same size and not hashed yet. */
    const earlierEqual = () => {
      const inOrder = [...all];
      const before = inOrder.slice(0, inOrder.indexOf(own));
      return before.find(upload => upload.size === size && (upload.sha256 ?? own.sha256) === own.sha256);
    };
    return {
      /** Whether another file of the same size was in progress at begin(). */
      hasEarlier,

      /** Sets its hash, and wakes the uploads that wait. */
      announce(sha256: string): void {
        if (own.sha256 === sha256) return;
        own.sha256 = sha256;
        wake();
      },

      /** Resolves when no earlier upload of equal content is in progress. Call announce() first. */
      async waitForEqual(): Promise<void> {
        // An upload waits only for earlier ones, so no two wait for each other.
        for (let upload = earlierEqual(); upload !== undefined; upload = earlierEqual())
          await new Promise<void>(resolve => upload?.waiters.push(resolve));
      },

      end(): void {
        if (all.delete(own)) wake();
      },
    };
  }
}
