/** As many files at a time as hardly any service finds too many. */
export const modest = 8;

/** With more, one refusal for so many stored files is no sign that there are too many. */
const storedPerRefusal = 40;

/** With few at a time, more failures are none: only if a sixth fails, fewer at a time are worth the time that they take. */
const storedPerFailureOfFew = 6;

/** Failures come together by chance, too. */
const mostOverlooked = 3;

/** A failed attempt, and how many others were in progress when it failed. */
interface Failed {
  /** Its position among all attempts. */
  number: number;
  how: 'refused' | 'broken';
  others: number;
  limit: number;
}

/**
 * Tells the failures that occur with any number of files at a time from those that fewer would prevent, by their share: a
 * service may refuse one request in a hundred, or a line lose it, whatever is sent beside it.
 */
export class Setbacks {
  /** Whether there was one. */
  haveOccurred = false;
  /** How many attempts that were in progress at the last setback have not been refused, if as many as allowed were. */
  unrefused = Number.POSITIVE_INFINITY;
  #mayOverlook = 0;
  /** The attempts up to this one were begun before the last setback: their failures are part of it. */
  #last = 0;

  /** Call for each stored file. */
  stored(limit: number): void {
    const stored = limit > modest ? storedPerRefusal : storedPerFailureOfFew;
    this.#mayOverlook = Math.min(mostOverlooked, this.#mayOverlook + 1 / stored);
  }

  /** What a failure is; `begun`: how many attempts there were until now. */
  kindOf(failed: Failed, begun: number): 'setback' | 'part of the last' | 'by chance' {
    const {number, how, others, limit} = failed;
    const isPart = number <= this.#last;
    if (!isPart && this.#isByChance(failed)) return 'by chance';
    if (!isPart) {
      this.haveOccurred = true;
      this.#last = begun;
      this.unrefused = others + 1 < limit ? Number.POSITIVE_INFINITY : others + 1;
    }
    if (how === 'refused') this.unrefused -= 1;
    return isPart ? 'part of the last' : 'setback';
  }

  /** What breaks may become unknown, which is worth going back from many at a time at once. */
  #isByChance({how, others, limit}: Failed): boolean {
    // A file that was alone would have failed with any limit.
    if (others === 0) return true;
    if (this.#mayOverlook < 1 || (how === 'broken' && limit > modest)) return false;
    this.#mayOverlook -= 1;
    return true;
  }
}
