import {MediaError} from '../errors.ts';
import type {Outcome} from '../transfer/outcome.ts';
import type {Session} from './session.ts';

/** The error, told together with the page where keys are changed when the service does not know the key. */
export function withProfilePage(error: MediaError, session: Pick<Session, 'profileUrl'>): MediaError {
  const {profileUrl} = session;
  if (error.code !== 'unauthorized' || profileUrl === undefined) return error;
  const {code, message, status, serviceCode} = error;
  const hint = `${error.hint === undefined ? '' : `${error.hint} `}Your keys are at ${profileUrl}`;
  return new MediaError(code, message, {
    hint,
    cause: error,
    ...(status === undefined ? {} : {status}),
    ...(serviceCode === undefined ? {} : {serviceCode}),
  });
}

/** The same for the error of an outcome, if it has one. */
export function outcomeWithProfilePage(outcome: Outcome, session: Session | undefined): Outcome {
  if (!('error' in outcome) || session === undefined) return outcome;
  return {...outcome, error: withProfilePage(outcome.error, session)};
}
