import {MediaError} from '../errors.ts';
import {shellQuoted, shellWord} from '../lib/shell.ts';
import type {KeyVerdict} from '../service/identity.ts';
import {
  clearVariable,
  hintOptions,
  loginCommandFor,
  orLogin,
  profileOption,
} from '../settings/hint-options.ts';
import {keyOf} from '../settings/profile.ts';
import type {Settings} from '../settings/settings.ts';
import {describeRefusal, isOfKey, sentence} from '../transfer/attempt/explain.ts';
import type {Outcome} from '../transfer/outcome.ts';
import type {Invocation} from './invocation.ts';
import type {GeotagFlag} from './values.ts';

/** Why the service refuses a key; undefined if it takes it. `hint` is for a key that the service does not know. */
export function verdictError(verdict: KeyVerdict, hostName: string, hint?: string): MediaError | undefined {
  switch (verdict.status) {
    case 'accepted':
      return undefined;
    case 'unreachable':
      return verdict.error;
    case 'denied': {
      const {httpStatus: status} = verdict;
      const text = `${hostName} returned ${status} for a request with the key.`;
      return new MediaError(status === 404 ? 'not_found' : 'forbidden', text, {
        status,
        hint: 'The key lacks permission (an upload-only key may still upload: see the upload path), or the base URL is wrong.',
      });
    }
    case 'rejected': {
      const error = describeRefusal(verdict.refusal, hostName);
      return hint !== undefined && isOfKey(error) ? error.reword({hint}) : error;
    }
    case 'unclear': {
      const text = sentence(`${hostName} could not check the key: ${verdict.message}`);
      return new MediaError('unexpected_answer', text, {
        status: verdict.httpStatus,
        hint: 'Check the base URL: this may be another service, or a proxy in front of it that responds instead.',
      });
    }
  }
}

/** What to do about a key that the service rejects, depending on where the key came from. */
export function refusedKeyHint(settings: Settings): string {
  const {host, baseUrl, profile, profileUrl} = settings;
  const validKey = `a valid key${profileUrl === undefined ? '' : ` (see ${profileUrl})`}`;
  const login = loginCommandFor(settings);
  const clear = clearVariable(host, 'MEDIA_API_KEY');
  // The profile may have a key for this service, which is not used.
  const isStored = baseUrl?.kind === 'service' && keyOf(profile)?.origin === baseUrl.url.origin;
  switch (settings.key?.source) {
    case 'environment':
      return `The key comes from MEDIA_API_KEY. Set it to ${validKey}${
        isStored ? `, or use the stored key: ${clear}` : orLogin(settings, `store one: ${clear}; ${login}`)
      }`;
    case 'command':
      return `The key-command of the profile must print ${validKey}. To see it: media config get key-command${profileOption(settings)}`;
    default:
      return host.env['CI'] ? `Set MEDIA_API_KEY to ${validKey}.` : `Store ${validKey}: ${login}`;
  }
}

/** Gives the error of a request a hint that fits the source of the key, of the base URL and the profile. */
export function withKeyHint(error: MediaError, settings: Settings | undefined): MediaError {
  // The key of the embedded service is internal.
  if (settings === undefined || settings.baseUrl?.kind === 'embedded') return error;
  if (isOfKey(error)) return error.reword({hint: refusedKeyHint(settings)});
  const {source, place} = settings.baseUrlSource ?? {};
  const where = source === 'flag' ? '' : ` (from ${place})`;
  const hint = error.hint?.replace('the base URL', `the base URL${where}`);
  if (error.code !== 'forbidden' && error.code !== 'not_found') return error.reword({hint});
  const asBefore = hint === undefined ? '' : `${hint} `;
  return error.reword({hint: `${asBefore}To find out which: media doctor${hintOptions(settings)}`});
}

/** Why nothing can be sent with these settings: no such profile, no base URL, no key, or a key of another origin. */
export function missingSettings(settings: Settings): MediaError {
  const {host, profileName, profileNames, profile, baseUrl, key} = settings;
  // Without a terminal, login does not ask for the base URL.
  const isAsked = baseUrl !== undefined || host.stderr.isTTY === true;
  const login = `${loginCommandFor(settings)}${isAsked ? '' : ' --base-url URL'}`;
  if (settings.keyFailure !== undefined) return settings.keyFailure;
  const setBoth = host.env['CI'] ? 'Set MEDIA_BASE_URL and MEDIA_API_KEY' : undefined;
  if (profileName !== 'default' && !profileNames.includes(profileName)) {
    // Login would refuse a key in the environment.
    const create = key === undefined ? `create it: ${login}` : 'set the service with --base-url URL.';
    const hint = setBoth === undefined ? `, or ${create}` : `. ${setBoth} instead.`;
    return noKeyError(`There is no profile "${profileName}".`, existingProfiles(profileNames) + hint);
  }
  if (baseUrl === undefined && key !== undefined)
    return noKeyError(
      'There is an API key but no base URL to send it to.',
      'Set the service with --base-url URL or MEDIA_BASE_URL.',
    );
  if (settings.keyOfOtherOrigin !== undefined) {
    const other = {...settings.globals, profile: 'NAME', baseUrl: settings.baseUrlSource?.value ?? ''};
    return noKeyError(
      `The stored key belongs to ${settings.keyOfOtherOrigin} and is not sent to ${originOfBase(settings)}.`,
      `Set MEDIA_API_KEY${orLogin(settings, `log in with another profile: ${loginCommandFor({host, globals: other})}`)}`,
    );
  }
  if (profile['key-command'] !== undefined)
    return noKeyError(
      `The key-command of profile ${profileName} has no service to send its key to: the profile has no base URL.`,
      `Set the base URL: media config set base-url ${baseUrl?.kind === 'service' ? shellWord(baseUrl.url.href) : 'URL'}${profileOption(settings)}`,
    );
  if (baseUrl === undefined) {
    return noKeyError(
      `Nothing is configured yet: profile ${profileName} has no base URL and no API key.`,
      (setBoth ?? 'Try it on this machine with --base-url embedded') +
        orLogin(settings, `store a key: ${login}`),
    );
  }
  return noKeyError(
    `There is no API key for ${originOfBase(settings)}.`,
    `Set MEDIA_API_KEY${orLogin(settings, `store a key: ${login}`)}`,
  );
}

function noKeyError(message: string, hint: string): MediaError {
  return new MediaError('no_key', message, {hint});
}

function originOfBase({baseUrl}: Settings): string {
  return baseUrl?.kind === 'service' ? baseUrl.url.origin : '';
}

const mostNamed = 10;

/** The beginning of a sentence: `Use --profile staging or --profile test`. */
export function existingProfiles(names: readonly string[]): string {
  if (names.length === 0) return 'No profile is stored. Leave --profile out';
  const options = names.slice(0, mostNamed).map(name => `--profile ${shellWord(name)}`);
  return `Use ${options.join(' or ')}${names.length > options.length ? ` (media config profiles lists all)` : ''}`;
}

/** The options that hints repeat, so that a pasted command sends nothing that this run would not send. */
export function runOptions(invocation: Invocation, {geotags}: {geotags?: GeotagFlag}): string {
  return hintOptions(invocation) + (geotags === undefined ? '' : ` --geotags ${geotags}`);
}

/** The error with the `options` of this run added to the upload command in its hint. */
export function withRunOptions(error: MediaError, options: string): MediaError {
  if (error.hint === undefined) return error;
  const hint = error.hint.replace(/(: media upload)(?= \S)/, `$1${options.replaceAll('$', '$$$$')}`);
  return hint === error.hint ? error : error.reword({hint});
}

/** The outcome with an error whose hint fits the run: its key, profile, service, and journal options. */
export function withHints(
  outcome: Outcome,
  settings: Settings | undefined,
  options: string,
  other?: {journal?: string},
): Outcome {
  if (!('error' in outcome)) return outcome;
  const error = withKeyHint(outcome.error, settings);
  const hint = other === undefined ? error.hint : error.hint && otherHint(error.hint, outcome, other);
  return {...outcome, error: withRunOptions(error.reword({hint}), options)};
}

function otherHint(hint: string, {name, isOnce}: Outcome, {journal}: {journal?: string}): string {
  const memory = journal === undefined ? '--once' : `--journal ${shellQuoted(journal)}`;
  const command = `media upload ${memory} --on-unknown retry ${shellQuoted(name)}`;
  const again = isOnce ? ' before you send it again' : `. To send it again: ${command}`;
  return hint
    .replace(/\. To send it again, [^;]*/, () => again)
    .replace(', or allow more tries with --retries', '')
    .replace(/add --retry-max-wait (\w+)/, 'set MEDIA_RETRY_MAX_WAIT=$1')
    .replace('--retry-max-wait', 'MEDIA_RETRY_MAX_WAIT')
    .replace('--concurrency', 'MEDIA_CONCURRENCY')
    .replace(/^(?=.*--(?:content-type|files-from))/, 'Use media upload. ');
}
