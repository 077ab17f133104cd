import {isAbsolute} from 'node:path';
import type {Invocation} from '../../cli/invocation.ts';
import {MediaError} from '../../errors.ts';
import {typedPath} from '../../lib/files/typed-path.ts';
import {parseServiceUrl} from '../../settings/parse.ts';
import {type SettingName, settingNames} from '../../settings/store.ts';

/** The setting of that name, or a usage error that names all. */
export function settingName(name: string): SettingName {
  const known = settingNames.find(setting => setting === name);
  if (known !== undefined) return known;
  throw new MediaError('usage', `There is no setting "${name}".`, {
    hint: `The settings are ${settingNames.join(', ')}.`,
  });
}

/** A setting's value as it is stored, or a usage error. */
export function settingValue(name: SettingName, value: string, {host, globals}: Invocation): string {
  switch (name) {
    case 'base-url':
      return value === 'embedded'
        ? value
        : parseServiceUrl(value, 'base URL', globals.allowHttp === true).href.replace(/\/+$/, '');
    case 'graphql-url':
      return parseServiceUrl(value, 'GraphQL URL', globals.allowHttp === true).href;
    case 'profile-url':
      return parseProfileUrl(value);
    case 'key-command':
      if (value.trim() !== '') return value;
      throw new MediaError('usage', 'The key-command is empty.', {
        hint: "Set a command that prints the key, such as 'pass show media/key'.",
      });
    case 'cacert':
    case 'client-cert':
    case 'client-key':
      return absolutePath(typedPath(host.cwd(), value));
    case 'once':
      if (value === 'true' || value === 'false') return value;
      throw new MediaError('usage', `"${value}" is not a value of once.`, {hint: 'Set true or false.'});
    case 'idempotency-keys':
      if (value === 'honoured' || value === 'ignored') return value;
      throw new MediaError('usage', `"${value}" is not a value of idempotency-keys.`, {
        hint: 'Set honoured if the service returns the stored record for a repeated Idempotency-Key, else ignored.',
      });
  }
}

/** A stored path must be valid from every working directory. */
function absolutePath(path: string): string {
  if (isAbsolute(path)) return path;
  throw new MediaError('usage', 'The working directory has no path that could be stored.', {
    hint: 'Give the absolute path of the file.',
  });
}

/** A URL for a browser: with any query and fragment, but no credentials. */
function parseProfileUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '')
    return url.href;
  throw new MediaError('usage', 'That is not the URL of a page, or it contains a user name or password.', {
    hint: 'Give the page where the service shows your keys, such as https://app.example.com/profile/edit',
  });
}
