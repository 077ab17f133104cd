import type {KeyVerdict} from '../../engine/service/key-identity.ts';
import {describeRefusal, withFullStop} from '../../engine/transfer/attempt/explain.ts';
import type {Outcome} from '../../engine/transfer/outcome.ts';
import {MediaError, type PlainError} from '../../errors.ts';
import type {Face} from '../../hint.ts';
import {shellQuoted, shellWord} from '../../lib/shell.ts';
import {
  clearVariable,
  existingProfiles,
  hintOptions,
  loginCommandFor,
  orLogin,
  profileOption,
} from '../settings/hint-options.ts';
import {keyOf} from '../settings/profile.ts';
import type {Settings} from '../settings/settings.ts';
import {commandLine, ofSeveral, valued} from './command-line.ts';

/** Why the service does not accept a key; undefined if it does. `hostName`: the service, for the message. */
export function verdictError(verdict: KeyVerdict, hostName: string): MediaError | undefined {
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
    case 'rejected':
      return describeRefusal(verdict.refusal, hostName);
    case 'unclear': {
      const text = `${hostName} could not check the key: ${withFullStop(verdict.message)}`;
      return new MediaError('unexpected_response', text, {
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
  const isStored = baseUrl instanceof URL && keyOf(profile)?.origin === baseUrl.origin;
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

/** The face whose hint for a rejected key is `renewKey`. */
export function withKeyHint(renewKey: string, face = commandLine()): Face {
  return {...face, command: {...face.command, renewKey}};
}

/** The error of a request, with its hint as text: that says where to change the key or the base URL. */
export function requestError(
  error: MediaError,
  settings: Settings | undefined,
  face = commandLine(),
): PlainError {
  // The key of the embedded service is internal.
  if (settings === undefined || settings.baseUrl === 'embedded') return error.inWordsOf(face);
  const {source, place} = settings.baseUrlSource ?? {};
  const baseUrl = source === 'flag' ? face.setting.baseUrl : `the base URL (from ${place})`;
  const keyFace = withKeyHint(refusedKeyHint(settings), face);
  const plain = error.inWordsOf({...keyFace, setting: {...face.setting, baseUrl}});
  if (error.code !== 'forbidden' && error.code !== 'not_found') return plain;
  const before = plain.hint === undefined ? '' : `${plain.hint} `;
  return plain.reword({hint: `${before}To find out which: media doctor${hintOptions(settings)}`});
}

/** Why settings that lack a base URL or a key cannot be used: the first thing to put right. */
export function missingSettings(settings: Settings): PlainError {
  const {host, profileName, profileNames, profile, baseUrl, key} = settings;
  // Without a terminal, login does not ask for the base URL.
  const isBaseUrlAsked = baseUrl !== undefined || host.stderr.isTTY === true;
  const login = `${loginCommandFor(settings)}${isBaseUrlAsked ? '' : ' --base-url URL'}`;
  if (settings.keyFailure !== undefined) return settings.keyFailure.inWordsOf(commandLine());
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
      `Set the base URL: media config set base-url ${baseUrl instanceof URL ? shellWord(baseUrl.href) : 'URL'}${profileOption(settings)}`,
    );
  if (baseUrl === undefined)
    return noKeyError(
      `Nothing is configured yet: profile ${profileName} has no base URL and no API key.`,
      (setBoth ?? 'Try it on this machine with --base-url embedded') +
        orLogin(settings, `store a key: ${login}`),
    );
  return noKeyError(
    `There is no API key for ${originOfBase(settings)}.`,
    `Set MEDIA_API_KEY${orLogin(settings, `store a key: ${login}`)}`,
  );
}

function noKeyError(message: string, hint: string): PlainError {
  return new MediaError('no_key', message, {hint});
}

function originOfBase({baseUrl}: Settings): string {
  return baseUrl instanceof URL ? baseUrl.origin : '';
}

/** Writes the hint of an error as text; `isOfSeveral`: without what is true of one file only. */
export type ErrorWriter = (error: MediaError, isOfSeveral?: boolean) => PlainError;

/**
 * The writer of an outcome's errors. `options`: see commandLine(). `other` is set by commands that lack the options of
 * `media upload`, whose hints must name other ways; its `journal` is one that the user named.
 */
export function errorWriter(
  outcome: Outcome,
  settings: Settings | undefined,
  options: string,
  other?: {journal?: string},
): ErrorWriter {
  const whole = commandLine(options);
  const face = other === undefined ? whole : otherCommand(whole, outcome, {options, ...other});
  return (error, isOfSeveral = false) => requestError(error, settings, isOfSeveral ? ofSeveral(face) : face);
}

/** The face of such a command: some options are those of `media upload` alone. */
function otherCommand(
  face: Face,
  {file: name, isOnce}: Outcome,
  {options, journal}: {options: string; journal?: string},
): Face {
  const memory = journal === undefined ? '--once' : `--journal ${shellQuoted(journal)}`;
  const again = `. To send it again: media upload${options} ${memory} --on-unknown retry ${shellQuoted(name)}`;
  return {
    ...face,
    option: {
      ...face.option,
      concurrency: 'MEDIA_CONCURRENCY',
      contentType: valued('media upload --content-type'),
      filesFrom: 'media upload --files-from',
      retries: undefined,
      retryMaxWait: 'MEDIA_RETRY_MAX_WAIT',
      timeout: undefined,
      types: valued('media upload --types'),
    },
    command: {
      ...face.command,
      sendAgain: (_, isLast) => (isOnce ? ` before you send it again${isLast ? '.' : ''}` : again),
      sendFewer: undefined,
      waitLonger: seconds => `set MEDIA_RETRY_MAX_WAIT=${seconds}s`,
    },
  };
}
