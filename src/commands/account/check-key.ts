import type {Invocation} from '../../cli/invocation.ts';
import {verdictError} from '../../cli/key-hints.ts';
import {type Session, within} from '../../cli/session.ts';
import {checkUploadPath} from '../../cli/upload-path.ts';
import {exitStatusOf, type MediaError} from '../../errors.ts';
import {accountOfKey, verifyKey} from '../../service/identity.ts';
import {isOfKey} from '../../transfer/attempt/explain.ts';
import type {NewKey} from './store-key.ts';

/** Asks the service about a key, and whose it is. Rejects if it does not accept the key, or cannot be asked. */
export async function checkKey(
  invocation: Invocation,
  {client, hostName, settings}: Session,
  timeoutMs: number,
): Promise<Pick<NewKey, 'verdict' | 'account'>> {
  const verdict = await within(invocation, timeoutMs, signal => verifyKey(client, signal));
  // A key for uploads only may be denied.
  const error = verdict.status === 'denied' ? undefined : verdictError(verdict, hostName);
  if (error !== undefined) throw error.reworded({hint: refusalHint(error, settings.profileUrl)});
  if (verdict.status !== 'accepted') return {verdict};
  return {verdict, account: await within(invocation, timeoutMs, signal => accountOfKey(client, signal))};
}

function refusalHint(error: MediaError, profileUrl: string | undefined): string {
  const {code, hint} = error;
  const storeAnyway = 'Nothing was stored. To store the key unchecked, add --no-verify.';
  if (isOfKey(error))
    return `Nothing was stored. Copy the key again from the profile page of the service${profileUrl === undefined ? '.' : `: ${profileUrl}`}`;
  return exitStatusOf[code] === 6 || code === 'unexpected_answer' ? storeAnyway : (hint ?? storeAnyway);
}

/** Warns if uploads would fail at the base URL, as `media doctor` does. */
export async function warnOfUploadPath(
  invocation: Invocation,
  session: Session,
  timeoutMs: number,
): Promise<void> {
  const result = await within(invocation, timeoutMs, signal => checkUploadPath(session, signal));
  if (result.status === 'warning') invocation.report.warning(`${result.message}.`);
  if (result.status === 'failed')
    invocation.report.warning(`${result.error.message} ${result.error.hint ?? ''}`.trim());
}
