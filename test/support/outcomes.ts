import type {Outcome, OutcomeFacts} from '../../src/engine/transfer/outcome.ts';

/** What an outcome has beside its facts; these are those of `a.png`, sent once, unless given. */
type Given<One> = One extends OutcomeFacts ? Omit<One, keyof OutcomeFacts> & Partial<OutcomeFacts> : never;

/** The outcome of a file; the only place where tests make one by hand. */
export function outcomeOf<const Kind extends Given<Outcome>>(given: Kind): OutcomeFacts & Kind {
  return {name: 'a.png', position: 0, attempts: 1, elapsedMs: 1, ...given};
}
