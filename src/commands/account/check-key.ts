import type {Invocation} from '../../cli/invocation.ts';
import {verdictError} from '../../cli/key-hints.ts';
import {newClient, within} from '../../cli/session.ts';
import {adviseOnUploadPath} from '../../cli/upload-path-advice.ts';
import {exitStatusOf, type MediaError} from '../../errors.ts';
import type {Secret} from '../../lib/secrets/secret.ts';
import type {ServiceClient} from '../../service/client.ts';
import {accountOfKey, verifyKey} from '../../service/identity.ts';
import {checkUploadPath} from '../../service/probe.ts';
import type {Settings} from '../../settings/settings.ts';
import {isOfKey} from '../../transfer/attempt/explain.ts';
import type {NewKey} from './store-key.ts';

/** A key that is not stored yet, and the service that it is for. */
export interface UncheckedKey {
  baseUrl: URL;
  key: Secret;
  /** How long to wait for an answer, in milliseconds. */
  timeout: number;
}

/** Asks the service about a key, and whose it is. Rejects if it does not accept the key, or cannot be asked. */
export async function checkKey(
  invocation: Invocation,
  settings: Settings,
  unchecked: UncheckedKey,
): Promise<Pick<NewKey, 'verdict' | 'account'>> {
  const {graphqlUrl, profileUrl} = settings;
  const address = {...unchecked, graphqlUrl};
  const verdict = await ask(invocation, settings, address, verifyKey);
  // A key for uploads only may be denied.
  const error = verdict.status === 'denied' ? undefined : verdictError(verdict, unchecked.baseUrl.host);
  if (error !== undefined) throw error.reworded({hint: refusalHint(error, profileUrl)});
  if (verdict.status !== 'accepted') return {verdict};
  return {verdict, account: await ask(invocation, settings, address, accountOfKey)};
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
  settings: Settings,
  unchecked: UncheckedKey,
): Promise<void> {
  const verdict = await ask(invocation, settings, unchecked, checkUploadPath);
  const advice = adviseOnUploadPath(verdict, unchecked.baseUrl, settings);
  if (advice.status === 'warning') invocation.report.warning(`${advice.message}.`);
  if (advice.status === 'failed')
    invocation.report.warning(`${advice.error.message} ${advice.error.hint ?? ''}`.trim());
}

async function ask<Verdict>(
  invocation: Invocation,
  settings: Settings,
  {key, timeout, ...address}: UncheckedKey & {graphqlUrl?: URL | undefined},
  question: (client: ServiceClient, signal: AbortSignal) => Promise<Verdict>,
): Promise<Verdict> {
  const client = newClient(invocation, address, key, settings);
  try {
    return await within(invocation, timeout, signal => question(client, signal));
  } finally {
    await client.close();
  }
}
