/** An upload in progress; later files of the same size may wait for it. */
export class Flight {
  readonly #group: Set<Flight>;
  #earlier: readonly Flight[];
  readonly #leave: () => void;
  #sha256: string | undefined;
  #hasEnded = false;
  /** Callbacks of those that wait for its hash or its end; usually there are none. */
  #waiting: (() => void)[] = [];

  constructor(group: Set<Flight>, leave: () => void) {
    this.#group = group;
    this.#earlier = [...group];
    this.#leave = leave;
  }

  /** Whether another file of the same size was already in progress when it began. */
  get hasEarlier(): boolean {
    return this.#earlier.length > 0;
  }

  /** Announces its hash to those that wait for it. */
  announce(sha256: string): void {
    this.#sha256 = sha256;
    this.#wake();
  }

  /** Resolves when no earlier file with the same content is in progress. Call announce() first. */
  async afterEqual(): Promise<void> {
    // Waits only for earlier files, so that no two wait for each other.
    for (const flight of this.#earlier) while (flight.#mayBe(this.#sha256)) await flight.#changed();
  }

  end(): void {
    this.#hasEnded = true;
    // A later flight that knows this one must not keep all that were ever before it.
    this.#earlier = [];
    this.#group.delete(this);
    if (this.#group.size === 0) this.#leave();
    this.#wake();
  }

  /** Whether it is in progress and may have this content. */
  #mayBe(sha256: string | undefined): boolean {
    return !this.#hasEnded && (this.#sha256 === undefined || this.#sha256 === sha256);
  }

  #changed(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** The uploads in progress, by size. */
export class Flights {
  readonly #groups = new Map<number, Set<Flight>>();

  /** Adds an upload; later files of the same size can wait for it until its end(). */
  begin(size: number): Flight {
    const group = this.#groups.get(size) ?? new Set();
    const flight = new Flight(group, () => {
      if (this.#groups.get(size) === group) this.#groups.delete(size);
    });
    group.add(flight);
    this.#groups.set(size, group);
    return flight;
  }
}
