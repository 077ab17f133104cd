import {brokenRequestError, type ErrorCode, MediaError, quoted, tooManyOpen} from '../../../errors.ts';
import {command, fact, type Hint, hint, type Message, option, phrase, setting} from '../../../hint.ts';
import {pick} from '../../../lib/object.ts';
import {isOutOfDescriptors} from '../../../lib/system-code.ts';
import {isLoopback} from '../../../lib/url.ts';
import {isRetryableRefusal, type Refused, retryableRefusals, uploadPath} from '../../service/uploader.ts';
import {type Failure, type FailureVerdict, isOfService} from './judge.ts';

/** The error to show for a failed attempt. `host` names the service; `resends` is as in unknownUploadHint(). */
export function explain(failure: Failure, verdict: FailureVerdict, host: string, resends?: boolean) {
  const error = describeFailure(failure, host, verdict.longWaitMs);
  if (verdict.action !== 'unknown') return error;
  const limit =
    error.status === 503
      ? hint` A gateway that limits requests should return 429, which is retried. If it limits how many it takes at a time, send fewer: ${command('sendFewer', 8)}`
      : '';
  const {status, serviceCode} = error;
  // A service whose responses cannot be read would store another attempt too, so the hint does not suggest one.
  const isUnreadable = !resends && /^(not_http|unexpected_response)$/.test(error.code);
  const advice = isUnreadable
    ? hint`Check whether the service has the file, and do not send it again before the cause is found. ${error.hint ?? ''}`
    : hint`${unknownUploadHint(resends, true)}${limit}`;
  const sentence = phrase`${error.sentence} ${whyUnknown(failure, verdict)}`;
  return new MediaError('outcome_unknown', sentence, {status, serviceCode, hint: advice, cause: error});
}

const notOfService = hint`Check ${setting('baseUrl')}: the media service does not respond like this.`;

/** The error for a failure, whether or not the file may be stored. `host`, `longWaitMs`: as in describeRefusal(). */
export function describeFailure(failure: Failure, host: string, longWaitMs?: number): MediaError {
  const status = 'status' in failure ? failure.status : undefined;
  const failed = (code: ErrorCode, sentence: string, advice?: Hint) =>
    new MediaError(code, sentence, {status, hint: advice});
  const after = 'afterMs' in failure ? seconds(failure.afterMs) : '';
  const slowDisk = hint`; if that is only slow, raise ${option('timeout')}`;
  const slowLink = hint`On a very slow link, raise ${option('timeout')}.`;
  switch (failure.kind) {
    case 'error':
    case 'stopped':
      return failure.error;
    case 'connection':
      return brokenRequestError(failure.cause, host);
    case 'read-stall': {
      const sentence = `Nothing more could be read from the file for ${after}.`;
      return failed('stalled', sentence, hint`Check the disk that it is on${slowDisk}.`);
    }
    case 'stall':
      return failed('stalled', `${host} accepted no more data for ${after}.`, slowLink);
    case 'response-timeout':
      return failed('stalled', `${host} did not respond within ${after} of the last byte.`);
    case 'unreadable': {
      const sentence = `${host} returned ${status}, but the response was ${failure.problem}.`;
      return failed('unexpected_response', sentence, notOfService);
    }
    case 'premature': {
      const sentence = `${host} returned ${status} before it had received the whole file.`;
      return failed('premature_response', sentence, notOfService);
    }
    case 'refused':
      return describeRefusal(failure, host, longWaitMs);
  }
}

/** The error for a response that is not a success. `host` names the service; `longWaitMs`: as in FailureVerdict. */
export function describeRefusal(refusal: Refused, host: string, longWaitMs?: number): MediaError {
  const {status} = refusal;
  const details = pick(refusal, ['status', 'serviceCode']);
  const noRecord = refusal.message === undefined;
  if (status === 401) return describeUnauthorized(refusal, host);
  if (status === 403 || status === 404) {
    const message = phrase`${host} returned ${String(status)}${sentenceEnd(refusal, 'the key lacks permission, or the base URL is wrong')}`;
    return new MediaError(status === 403 ? 'forbidden' : 'not_found', message, {
      ...details,
      hint: hint`Check that the key may upload and that ${setting('baseUrl')} is right${noRecord ? '; the response is not an error record, so it may come from a proxy in between' : ''}.`,
    });
  }
  if (status >= 300 && status < 400) return describeRedirect(refusal, host);
  const [code, did] = refusalVerb(refusal);
  const {reason, advice} = usualMeaning(status);
  const message = phrase`${host} ${did} (${String(status)})${sentenceEnd(refusal, reason)}`;
  if (longWaitMs === undefined) return new MediaError(code, message, {...details, hint: advice});
  const wait = phrase`${message} It asks to wait ${longTime(longWaitMs)}.`;
  const then = hint`Try again then, or ${command('waitLonger', Math.ceil(longWaitMs / 1000))}.`;
  return new MediaError(code, wait, {...details, hint: then});
}

/** The error for a 401. Services check a bearer token, so a request for Basic credentials comes from a gateway. */
function describeUnauthorized(refusal: Refused, host: string): MediaError {
  const isGateway = /(^|,)\s*basic\b/i.test(refusal.challenge ?? '');
  const what = isGateway
    ? `A gateway in front of ${host} asks for a user name and a password`
    : `${host} does not know this API key`;
  const advice = isGateway
    ? hint`Correct ${setting('baseUrl')}, or ask the operator of the gateway to let requests with an API key pass.`
    : hint`${command('renewKey')}`;
  const details = {...pick(refusal, ['status', 'serviceCode']), hint: advice};
  return new MediaError('unauthorized', phrase`${what} (401)${sentenceEnd(refusal)}`, details);
}

/** The code for a refusal, and what the service did in words. */
function refusalVerb(refusal: Refused): [code: ErrorCode, did: string] {
  const {status} = refusal;
  const retryable = retryableRefusals.get(status);
  if (retryable !== undefined) return retryable;
  if (status === 503) return ['service_unavailable', 'is unavailable'];
  if (status < 500 && status !== 408) return ['rejected', 'refused the request'];
  return [status === 507 && isOfService(refusal) ? 'rejected' : 'service_failed', 'failed'];
}

const setType = hint`Set the type with ${option('contentType')}, or let the bytes decide with ${option('types', 'content')}.`;

/** What a refusal with this status usually means (shown if the response has no message), and what to do. */
function usualMeaning(status: number): {reason?: string; advice?: Hint} {
  const noLength = 'A proxy in between may have removed the Content-Length; try without the proxy.';
  const noRoom = 'Delete what it need not keep, or ask its operator for more room.';
  if (status === 411) return {reason: 'it did not receive the Content-Length', advice: noLength};
  if (status === 413) return {reason: 'the file is larger than it accepts'};
  if (status === 415) return {reason: 'it does not accept this content type', advice: setType};
  if (status === 507) return {reason: 'it has no room left', advice: noRoom};
  if (!isRetryableRefusal(status) && status !== 503) return {};
  return {advice: hint`Try again later${hint`, or allow more tries with ${option('retries')}`}.`};
}

/** The error for a redirect, which is never followed; it names the path on this host, or the other host. */
function describeRedirect({status, location, serviceCode}: Refused, host: string): MediaError {
  const isWeb = location !== undefined && /^https?:/i.test(location) && URL.canParse(location);
  const target = isWeb ? new URL(location) : undefined;
  const path = target?.host === host ? target.pathname : undefined;
  const isSlash = path?.endsWith(`${uploadPath}/`);
  const onHost = isSlash ? 'the same URL with a slash at its end' : path && `${path} on the same host`;
  const where = onHost ?? target?.host ?? 'another URL';
  const message = `${host} redirects to ${where} (${status}); redirects are not followed, and the key is sent nowhere else.`;
  const advice = isSlash
    ? `Ask its operator to accept uploads at ${uploadPath}, without the slash: no other base URL helps.`
    : redirectHint(target, host);
  return new MediaError('redirected', message, {status, serviceCode, hint: advice});
}

/** What to check or set after a redirect; `target` is undefined if it does not lead to a web URL. */
function redirectHint(target: URL | undefined, host: string): Hint {
  if (target === undefined) return hint`Check ${setting('baseUrl')}.`;
  if (target.host === host && !target.pathname.endsWith(uploadPath))
    return hint`Check the path of ${setting('baseUrl')}; if it is right, a gateway in front of the service may ask for a login.`;
  const isPlain = target.protocol === 'http:' && !isLoopback(target.hostname);
  const path = target.pathname.replace(/\/$/, '');
  const baseUrl = `${target.origin}${path.endsWith(uploadPath) ? path.slice(0, -uploadPath.length) : ''}`;
  return hint`If that is the service, set it with ${option('baseUrl', baseUrl, isPlain)}`;
}

/** Why the file may be stored, as a sentence. With `isFinal`, an earlier attempt is in doubt, not this one. */
function whyUnknown(failure: Failure, {isFinal}: FailureVerdict): string {
  if (isFinal)
    return 'An earlier attempt with the same key had sent the whole file, so it may or may not be stored.';
  const gateway =
    failure.kind === 'refused' ? ' A gateway that responds like this has often stored nothing.' : '';
  return `The whole file had been sent, so it may or may not be stored.${gateway}`;
}

/** How to check and resend a file. `resends`: the next run does it (true), an option (false), nothing (undefined). */
export function unknownUploadHint(resends: boolean | undefined, isLast = false) {
  const how = resends === undefined ? 'single' : resends ? 'next run' : 'option';
  return hint`Check whether the service has the file${command('sendAgain', how, isLast)}`;
}

/** If other files use all descriptors, not even a module can be loaded; any other error is a bug. */
export function openingError(name: string, error: unknown): MediaError {
  if (error instanceof MediaError) return error;
  if (!isOutOfDescriptors(error)) throw error;
  const fewer = hint`, or lower ${option('concurrency')}`;
  return tooManyOpen(phrase`${fact('subject', name, 'was')} not sent`, error, fewer);
}

/** The end of a sentence about a refusal: the service's message, shortened; without one, our reason and the page. */
function sentenceEnd({message, words = ''}: Refused, reason = ''): Message {
  const text = message?.trim();
  if (text) return `: ${text.length > 500 ? `${text.slice(0, 500)}...` : withFullStop(text)}`;
  if (reason === '') return quoted(words);
  return phrase`: ${reason}${words && phrase` ("${fact('page', words)}")`}.`;
}

/** Adds a full stop, unless the text ends with a punctuation mark, as a service's message may. */
export function withFullStop(text: string): string {
  return /[.!?\u3002\uff01\uff1f\u2026]$/.test(text) ? text : `${text}.`;
}

/** A duration in words: in hours from two hours on, in minutes from two minutes on, else in seconds. */
export function longTime(ms: number): string {
  if (ms >= 2 * 3_600_000) return `${Math.round(ms / 3_600_000)} hours`;
  return ms >= 120_000 ? `${Math.round(ms / 60_000)} minutes` : seconds(ms);
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}
