import {
  brokenRequestError,
  type ErrorCode,
  MediaError,
  type MediaErrorDetails,
  quoted,
  tooManyOpen,
} from '../../../errors.ts';
import {
  command,
  fact,
  type Hint,
  type HintParts,
  hint,
  type Message,
  option,
  phrase,
  setting,
} from '../../../hint.ts';
import {isOutOfDescriptors} from '../../../lib/system-code.ts';
import {isLoopback} from '../../../lib/url.ts';
import {isRetryableRefusal, type Refused, retryableRefusals, uploadPath} from '../../service/uploader.ts';
import {type Failure, type FailureVerdict, isOfService} from './judge.ts';

/** The error to show for a failed attempt. `host` names the service; `resends` is as in unknownUploadHint(). */
export function explain(
  failure: Failure,
  verdict: FailureVerdict,
  host: string,
  resends?: boolean,
): MediaError {
  const error = describeFailure(failure, host, verdict.longWaitMs);
  if (verdict.action !== 'unknown') return error;
  const limit =
    error.status === 503
      ? hint` A gateway that limits requests should return 429, which is retried. If it limits how many it takes at a time, send fewer: ${command('sendFewer', 8)}`
      : '';
  const {status, serviceCode} = error;
  // A service whose responses cannot be read would store another attempt too, so the hint does not suggest one.
  const isUnreadable = !resends && /^(not_http|unexpected_response)$/.test(error.code);
  return new MediaError('outcome_unknown', phrase`${error.sentence} ${whyUnknown(failure, verdict)}`, {
    ...{status, serviceCode, cause: error},
    hint: isUnreadable
      ? hint`Check whether the service has the file, and do not send it again before the cause is found. ${error.hint ?? ''}`
      : hint`${unknownUploadHint(resends, true)}${limit}`,
  });
}

const notOfService = hint`Check ${setting('baseUrl')}: the media service does not respond like this.`;

export function describeFailure(failure: Failure, host: string, longWaitMs?: number): MediaError {
  switch (failure.kind) {
    case 'error':
    case 'stopped':
      return failure.error;
    case 'connection':
      return brokenRequestError(failure.cause, host);
    case 'read-stall':
      return new MediaError(
        'stalled',
        `Nothing more could be read from the file for ${seconds(failure.afterMs)}.`,
        {
          hint: hint`Check the disk that it is on${hint`; if that is only slow, raise ${option('timeout')}`}.`,
        },
      );
    case 'stall':
      return new MediaError('stalled', `${host} accepted no more data for ${seconds(failure.afterMs)}.`, {
        hint: hint`On a very slow link, raise ${option('timeout')}.`,
      });
    case 'response-timeout':
      return new MediaError(
        'stalled',
        `${host} did not respond within ${seconds(failure.afterMs)} of the last byte.`,
      );
    case 'unreadable':
      return new MediaError(
        'unexpected_response',
        `${host} returned ${failure.status}, but the response was ${failure.problem}.`,
        {status: failure.status, hint: notOfService},
      );
    case 'premature':
      return new MediaError(
        'premature_response',
        `${host} returned ${failure.status} before it had received the whole file.`,
        {status: failure.status, hint: notOfService},
      );
    case 'refused':
      return describeRefusal(failure, host, longWaitMs);
  }
}

/** The error for a response that is not a success. `longWaitMs`: as in the verdict. */
export function describeRefusal(refusal: Refused, host: string, longWaitMs?: number): MediaError {
  const {status, serviceCode} = refusal;
  const details: MediaErrorDetails = {status, serviceCode};
  const noRecord = refusal.message === undefined;
  if (status === 401) return describeUnauthorized(refusal, host, details);
  if (status === 403 || status === 404) {
    const message = phrase`${host} returned ${String(status)}${said(refusal, 'the key lacks permission, or the base URL is wrong')}`;
    return new MediaError(status === 403 ? 'forbidden' : 'not_found', message, {
      ...details,
      hint: hint`Check that the key may upload and that ${setting('baseUrl')} is right${noRecord ? '; the response is not an error record, so it may come from a proxy in between' : ''}.`,
    });
  }
  if (status >= 300 && status < 400) return describeRedirect(refusal, host, details);
  const [code, did] = refusalVerb(refusal);
  const wait = longWaitMs === undefined ? '' : ` It asks to wait ${longTime(longWaitMs)}.`;
  const message = phrase`${host} ${did} (${String(status)})${said(refusal, plainReason(status))}${wait}`;
  if (longWaitMs === undefined) return new MediaError(code, message, {...details, ...hintFor(status)});
  const longer = command('waitLonger', Math.ceil(longWaitMs / 1000));
  return new MediaError(code, message, {...details, hint: hint`Try again then, or ${longer}.`});
}

/** The error for a 401. Services check a bearer token, so a request for Basic credentials comes from a gateway. */
function describeUnauthorized(refusal: Refused, host: string, details: MediaErrorDetails): MediaError {
  const isGateway = /(^|,)\s*basic\b/i.test(refusal.challenge ?? '');
  const what = isGateway
    ? `A gateway in front of ${host} asks for a user name and a password`
    : `${host} does not know this API key`;
  return new MediaError('unauthorized', phrase`${what} (401)${said(refusal)}`, {
    ...details,
    hint: isGateway
      ? hint`Correct ${setting('baseUrl')}, or ask the operator of the gateway to let requests with an API key pass.`
      : hint`${command('renewKey')}`,
  });
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

/** What a refusal with this status usually means, for a response without a message; else empty. */
function plainReason(status: number): string {
  if (status === 413) return 'the file is larger than it accepts';
  if (status === 415) return 'it does not accept this content type';
  if (status === 411) return 'it did not receive the Content-Length';
  if (status === 507) return 'it has no room left';
  return '';
}

function hintFor(status: number): {hint?: Hint} {
  if (status === 415)
    return {
      hint: hint`Set the type with ${option('contentType')}, or let the bytes decide with ${option('types', 'content')}.`,
    };
  if (status === 411)
    return {hint: 'A proxy in between may have removed the Content-Length; try without the proxy.'};
  if (status === 507) return {hint: 'Delete what it need not keep, or ask its operator for more room.'};
  if (isRetryableRefusal(status) || status === 503)
    return {hint: hint`Try again later${hint`, or allow more tries with ${option('retries')}`}.`};
  return {};
}

/** The error for a redirect, which is never followed; it names the path on this host, or the other host. */
function describeRedirect({status, location}: Refused, host: string, details: MediaErrorDetails): MediaError {
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
  return new MediaError('redirected', message, {...details, hint: advice});
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

/** Where it may be stored: `resends` true: the next run sends it; false: an option does; undefined: only it is sent. */
export function unknownUploadHint(resends: boolean | undefined, isLast = false): HintParts {
  const how = resends === undefined ? 'single' : resends ? 'next run' : 'option';
  return hint`Check whether the service has the file${command('sendAgain', how, isLast)}`;
}

/** If other files use all descriptors, not even a module can be loaded; any other error is a bug. */
export function openingError(name: string, error: unknown): MediaError {
  if (error instanceof MediaError) return error;
  if (!isOutOfDescriptors(error)) throw error;
  return tooManyOpen(
    phrase`${fact('subject', name, 'was')} not sent`,
    error,
    hint`, or lower ${option('concurrency')}`,
  );
}

/** The end of a sentence: the service's message, shortened, or our `reason` and the words of a page. */
function said({message, words = ''}: Refused, reason = ''): Message {
  const text = message?.trim();
  if (text) return `: ${text.length > 500 ? `${text.slice(0, 500)}...` : sentence(text)}`;
  if (reason === '') return quoted(words);
  return phrase`: ${reason}${words && phrase` ("${fact('page', words)}")`}.`;
}

/** Adds a full stop, unless the text ends with a punctuation mark, as a service's message may. */
export function sentence(text: string): string {
  return /[.!?\u3002\uff01\uff1f\u2026]$/.test(text) ? text : `${text}.`;
}

/** A duration in the largest unit that keeps it precise enough. */
export function longTime(ms: number): string {
  if (ms >= 2 * 3_600_000) return `${Math.round(ms / 3_600_000)} hours`;
  return ms >= 120_000 ? `${Math.round(ms / 60_000)} minutes` : seconds(ms);
}

function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}
