import {withRunOptions} from '../../../cli/hint-commands.ts';
import {withKeyHint} from '../../../cli/key-hints.ts';
import type {Session} from '../../../cli/session.ts';
import type {Host} from '../../../host.ts';
import type {Outcome} from '../../../transfer/outcome.ts';

/** The outcome with an error, if it has one, whose hint fits the key, profile and service of the run. */
export function worded(
  outcome: Outcome,
  session: Pick<Session, 'keyFacts'> | undefined,
  {host, options}: {host: Host; options: string},
): Outcome {
  if (!('error' in outcome)) return outcome;
  const error = withKeyHint(outcome.error, session?.keyFacts, host);
  return {...outcome, error: withRunOptions(error, options)};
}
