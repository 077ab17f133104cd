/** The uploads in progress of files of one size. */
class Group {
  count = 0;
  /** Those whose hash is not known yet, in the order in which they began. */
  readonly unhashed = new Set<ActiveUpload>();
  /** The others, by hash. */
  readonly hashed = new Map<string, Set<ActiveUpload>>();
}

/** An upload in progress; later files of the same size may wait for it. */
export class ActiveUpload {
  /** Whether another file of the same size was already in progress when it began. */
  readonly hasEarlier: boolean;
  readonly #group: Group;
  readonly #number: number;
  readonly #leave: () => void;
  #sha256: string | undefined;
  #hasEnded = false;
  /** Callbacks of those that wait for its hash or its end; usually there are none. */
  #waiting: (() => void)[] = [];

  /** `number`: higher than that of all before it; `leave`: called when it was the last of its group. */
  constructor(group: Group, number: number, leave: () => void) {
    this.hasEarlier = group.count > 0;
    this.#group = group;
    this.#number = number;
    this.#leave = leave;
    group.count += 1;
    group.unhashed.add(this);
  }

  /** Announces its hash to those that wait for it. */
  announce(sha256: string): void {
    if (this.#hasEnded || this.#sha256 === sha256) return;
    this.#withdraw();
    this.#sha256 = sha256;
    const {hashed} = this.#group;
    const equals = hashed.get(sha256);
    if (equals === undefined) hashed.set(sha256, new Set([this]));
    else equals.add(this);
    this.#wake();
  }

  /** Resolves when no earlier file with the same content is in progress. Call announce() first. */
  async afterEqual(): Promise<void> {
    // Waits only for earlier files, so that no two wait for each other.
    for (let one = this.#earlier(); one !== undefined; one = this.#earlier()) await one.#changed();
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#withdraw();
    this.#group.count -= 1;
    if (this.#group.count === 0) this.#leave();
    this.#wake();
  }

  /** An earlier upload that has, or may have, the same content. */
  #earlier(): ActiveUpload | undefined {
    const {unhashed, hashed} = this.#group;
    const [first] = unhashed;
    if (first !== undefined && first.#number < this.#number) return first;
    for (const one of hashed.get(this.#sha256 ?? '') ?? []) if (one.#number < this.#number) return one;
    return undefined;
  }

  #withdraw(): void {
    const {unhashed, hashed} = this.#group;
    if (this.#sha256 === undefined) {
      unhashed.delete(this);
      return;
    }
    const equals = hashed.get(this.#sha256);
    equals?.delete(this);
    if (equals?.size === 0) hashed.delete(this.#sha256);
  }

  #changed(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** The uploads in progress, by size. */
export class ActiveUploads {
  readonly #groups = new Map<number, Group>();
  #count = 0;

  /** Whether a file of this size is in progress. */
  has(size: number): boolean {
    return this.#groups.has(size);
  }

  /** Adds an upload; later files of the same size can wait for it until its end(). */
  begin(size: number): ActiveUpload {
    const group = this.#groups.get(size) ?? new Group();
    this.#groups.set(size, group);
    this.#count += 1;
    return new ActiveUpload(group, this.#count, () => this.#groups.delete(size));
  }
}
