/** How many reasons are shown; files with other reasons are only counted. */
const mostGroups = 20;
/** How many file names are listed for one reason. */
const mostNames = 3;

/** The files with one reason; `first` is the detail of the first file. */
export interface Group<Detail> {
  count: number;
  names: string[];
  reason: string;
  first: Detail;
}

/** Counts files by reason, so that 400,000 of them take no more memory and screen space than 20. */
export class Groups<Detail> {
  readonly #groups = new Map<string, Group<Detail>>();
  #others = 0;

  /** One more file; those with the same `key` share their reason. */
  add(key: string, name: string, reason: string, detail: Detail): void {
    const group = this.#groups.get(key);
    if (group !== undefined) {
      group.count += 1;
      if (group.names.length < mostNames) group.names.push(name);
    } else if (this.#groups.size < mostGroups)
      this.#groups.set(key, {count: 1, names: [name], reason, first: detail});
    else this.#others += 1;
  }

  /** The groups, and how many files have another reason than the first twenty; it is empty afterwards. */
  take(): {groups: Group<Detail>[]; others: number} {
    const taken = {groups: [...this.#groups.values()], others: this.#others};
    this.#groups.clear();
    this.#others = 0;
    return taken;
  }
}
