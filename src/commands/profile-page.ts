import type {MediaError} from '../errors.ts';
import type {Outcome} from '../transfer/outcome.ts';
import type {Session} from './session.ts';

/** The error, told together with the page where keys are changed when the service does not know the key. */
export function withProfilePage(error: MediaError, session: Pick<Session, 'profileUrl'>): MediaError {
  const {profileUrl} = session;
  if (error.code !== 'unauthorized' || profileUrl === undefined) return error;
  const asBefore = error.hint === undefined ? '' : `${error.hint} `;
  return error.reworded({hint: `${asBefore}Your keys are at ${profileUrl}`});
}

/** The same for the error of an outcome, if it has one. */
export function outcomeWithProfilePage(outcome: Outcome, session: Session | undefined): Outcome {
  if (!('error' in outcome) || session === undefined) return outcome;
  return {...outcome, error: withProfilePage(outcome.error, session)};
}
