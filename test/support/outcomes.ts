import type {ReceivedRecord} from '../../src/engine/service/record.ts';
import {type Outcome, type OutcomeFacts, storedFacts} from '../../src/engine/transfer/outcome.ts';

/** What an outcome has beside its facts; these are those of `a.png`, sent once, unless given. */
type Given<One> = One extends OutcomeFacts
  ? Omit<One, keyof OutcomeFacts | 'id' | 'url'> & Partial<OutcomeFacts>
  : never;

/** The outcome of a file; the only place where tests make one by hand. */
export function outcomeOf<const Kind extends Given<Outcome>>(
  given: Kind,
): OutcomeFacts & Kind & {id: string; url?: string} {
  const stored = 'record' in given && storedFacts(given as unknown as ReceivedRecord);
  return {file: 'a.png', position: 0, attempts: 1, elapsedMs: 1, ...stored, ...given} as ReturnType<
    typeof outcomeOf<Kind>
  >;
}
