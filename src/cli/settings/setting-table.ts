import {isAbsolute} from 'node:path';
import {parseServiceUrl} from '../../engine/service/service-url.ts';
import {MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {resolveUserPath} from '../../lib/files/typed-path.ts';
import {
  concurrencyValue,
  durationValue,
  keysValue,
  rateValue,
  type ValueKind,
} from '../../lib/value-kinds.ts';
import {checkPrivateKey, readAuthorities} from './certificates.ts';

/** Where a value is set: its working directory, and with `allowHttp` http to other machines is allowed. */
interface SettingContext {
  host: Host;
  allowHttp: boolean;
}

/** The options of every command that overrule a setting, as `program.ts` declares them. */
export interface SettingOptions {
  baseUrl?: string;
  cacert?: string;
}

interface SettingKind {
  meaning: string;
  /**
   * Which service gets a profile's value: the one at its base URL, those at the origin of that; `if known`: any until
   * the profile has a base URL. The value is removed when the base URL changes to that of another service.
   */
  belongsTo?: 'base URL if known' | 'origin' | 'origin if known';
  option?: keyof SettingOptions;
  /** The environment variable that overrules it. */
  variable?: string;
  /** The value that is in force where nothing else is set. */
  default?: string;
  /** Checks a value, or the file that it names, and returns what is stored; a usage error for a bad value. */
  parse: (value: string, context: SettingContext) => string | Promise<string>;
}

const kinds = {
  'base-url': {
    meaning: 'the service, such as https://api.example.com, or embedded',
    option: 'baseUrl',
    variable: 'MEDIA_BASE_URL',
    parse: (value, {allowHttp}) =>
      value === 'embedded' ? value : parseServiceUrl(value, 'base URL', allowHttp).href.replace(/\/+$/, ''),
  },
  'graphql-url': {
    meaning: 'where GraphQL requests go (default: /graphql on the host of base-url)',
    belongsTo: 'origin',
    parse: (value, {allowHttp}) => parseServiceUrl(value, 'GraphQL URL', allowHttp).href,
  },
  'profile-url': {
    meaning: 'the page where the service shows your keys',
    belongsTo: 'origin',
    parse: parsePageUrl,
  },
  'key-command': {
    meaning: 'a shell command that prints the key',
    belongsTo: 'origin',
    parse: parseCommand,
  },
  cacert: {
    meaning: 'a PEM file of certificate authorities to trust',
    option: 'cacert',
    parse: (value, {host}) => parsePath(value, host, readAuthorities),
  },
  'client-cert': {
    meaning: 'a PEM file with the certificate of this machine',
    belongsTo: 'origin if known',
    variable: 'MEDIA_CLIENT_CERT',
    parse: (value, {host}) => parsePath(value, host, readAuthorities),
  },
  'client-key': {
    meaning: 'a PEM file with the private key of client-cert (default: the same file)',
    belongsTo: 'origin if known',
    variable: 'MEDIA_CLIENT_KEY',
    parse: (value, {host}) => parsePath(value, host, checkPrivateKey),
  },
  'idempotency-keys': {
    meaning: 'whether the service stores a repeated upload once: honoured (1), ignored (0) or declared by it',
    belongsTo: 'base URL if known',
    default: 'declared',
    variable: 'MEDIA_IDEMPOTENCY_KEYS',
    parse: ofKind('idempotency-keys', keysValue),
  },
  once: {
    meaning: 'true to skip what this machine has already uploaded',
    default: 'false',
    parse: ofKind('once', oneOf('true', 'false')),
  },
  concurrency: {
    meaning: 'how many files at a time',
    variable: 'MEDIA_CONCURRENCY',
    default: 'auto',
    parse: ofKind('concurrency', concurrencyValue),
  },
  'limit-rate': {
    meaning: 'bytes per second for all files together',
    variable: 'MEDIA_LIMIT_RATE',
    default: 'none',
    parse: ofKind('limit-rate', rateValue),
  },
  'retry-max-wait': {
    meaning: 'the longest Retry-After or outage to wait for',
    variable: 'MEDIA_RETRY_MAX_WAIT',
    default: '5m',
    parse: ofKind('retry-max-wait', durationValue),
  },
} satisfies Record<string, SettingKind>;

export type SettingName = keyof typeof kinds;

/** All that is to be said of each setting of a profile, except what it does. */
export const settingTable: Record<SettingName, SettingKind> = kinds;

/** The settings of a profile that `media config` reads and writes. */
export const settingNames = Object.keys(settingTable) as SettingName[];

/** Reads a value of a setting; a usage error if it is not of this kind. */
export function parseValue<Value>(
  name: string,
  {read, takes}: Pick<ValueKind<Value>, 'read' | 'takes'>,
  text: string,
): Value {
  const value = read(text);
  if (value !== undefined) return value;
  throw new MediaError('usage', `"${text}" is not a value of ${name}.`, {hint: `Use ${takes}.`});
}

/** Checks a value that is stored as it was typed. */
function ofKind(name: string, kind: Pick<ValueKind<unknown>, 'read' | 'takes'>): SettingKind['parse'] {
  return text => {
    parseValue(name, kind, text);
    return text;
  };
}

function oneOf(...words: readonly string[]) {
  return {takes: words.join(' or '), read: (text: string) => words.find(word => word === text)};
}

function parseCommand(value: string): string {
  if (value.trim() !== '') return value;
  throw new MediaError('usage', 'The key-command is empty.', {
    hint: "Set a command that prints the key, such as 'pass show media/key'.",
  });
}

/** The absolute path of a file that `check` accepts: it must be valid from every working directory. */
async function parsePath(value: string, host: Host, check: (host: Host, path: string) => Promise<unknown>) {
  const path = resolveUserPath(host.cwd(), value);
  await check(host, path);
  if (isAbsolute(path)) return path;
  throw new MediaError('usage', 'The working directory has no path that could be stored.', {
    hint: 'Give the absolute path of the file.',
  });
}

/** A URL for a browser: with any query and fragment, but no credentials. */
function parsePageUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '')
    return url.href;
  throw new MediaError('usage', 'That is not the URL of a page, or it contains a user name or password.', {
    hint: 'Give the page where the service shows your keys, such as https://app.example.com/profile/edit',
  });
}
