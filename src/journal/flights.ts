/** One file on its way, as those of the same size that come after it see it. */
export class Flight {
  readonly #group: Set<Flight>;
  readonly #earlier: readonly Flight[];
  readonly #leave: () => void;
  #sha256: string | undefined;
  #hasEnded = false;
  /** Those who wait for its hash or its end: most of the time nobody does. */
  #waiting: (() => void)[] = [];

  constructor(group: Set<Flight>, leave: () => void) {
    this.#group = group;
    this.#earlier = [...group];
    this.#leave = leave;
  }

  /** Whether a file of the same size was on its way before it. */
  get hasEarlier(): boolean {
    return this.#earlier.length > 0;
  }

  /** Tells its hash to those that wait for it. */
  tell(sha256: string): void {
    this.#sha256 = sha256;
    this.#wake();
  }

  /** Resolves when no earlier file of the same content is on its way any more. Its own hash has to be told first. */
  async afterTwins(): Promise<void> {
    // Only on earlier ones, so that no two wait for each other.
    for (const flight of this.#earlier) while (flight.#mayBe(this.#sha256)) await flight.#changed();
  }

  end(): void {
    this.#hasEnded = true;
    this.#group.delete(this);
    if (this.#group.size === 0) this.#leave();
    this.#wake();
  }

  /** Whether it is on its way with this content, as far as that is known. */
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

/** The files on their way, by their sizes. */
export class Flights {
  readonly #groups = new Map<number, Set<Flight>>();

  /** Takes up a file; whoever comes after it with the same size can wait for it until its end(). */
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
