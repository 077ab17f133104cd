import type {Host} from '../../host.ts';
import {shellWord} from '../../lib/shell.ts';
import {shownBaseUrl} from './parse.ts';
import {type SettingOptions, settingNames, settingTable} from './setting-table.ts';

/** The options that every command takes, as the command line gives them. */
export interface GlobalOptions extends SettingOptions {
  profile?: string;
  allowHttp?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  progress?: boolean;
}

/** A run whose profile and service a command in a hint is to use. */
export interface HintedRun {
  host: Host;
  globals: GlobalOptions;
}

/** The options by which a command in a hint uses this profile and service, such as ` --profile staging`, or nothing. */
export function hintOptions(run: HintedRun): string {
  const {host, globals} = run;
  const baseUrl = globals.baseUrl ?? (host.env['MEDIA_BASE_URL'] || undefined);
  const given = {...globals, baseUrl: baseUrl && shownBaseUrl(baseUrl, 'URL')};
  const words = settingNames.map(name => {
    const {option} = settingTable[name];
    const value = option && given[option];
    return value === undefined ? '' : ` --${name} ${shellWord(value)}`;
  });
  return `${profileOption(run)}${words.join('')}${globals.allowHttp ? ' --allow-http' : ''}`;
}

/** How to correct the base URL where it was set. */
export function correctBaseUrl(run: HintedRun & {baseUrlSource?: {source: string}}, url = 'URL'): string {
  const {source} = run.baseUrlSource ?? {};
  const word = shellWord(url);
  if (source === 'flag') return `Correct it: --base-url ${word}`;
  if (source === 'environment') return `Correct it: MEDIA_BASE_URL=${word}`;
  return `Correct it: media config set base-url ${word}${profileOption(run)}`;
}

/** The command that unsets a variable, for a POSIX shell or PowerShell. */
export function clearVariable({platform}: Host, variable: string): string {
  return platform === 'win32' ? `Remove-Item Env:${variable}` : `unset ${variable}`;
}

/** The login command: it asks for the key, or without a terminal reads it from standard input. */
export function loginCommandFor(run: HintedRun): string {
  return `media login${run.host.stderr.isTTY === true ? '' : ' --key-stdin'}${hintOptions(run)}`;
}

/** The end of a hint that advises MEDIA_API_KEY: in CI, nobody is to log in instead. */
export function orLogin(run: HintedRun, instead: string): string {
  return run.host.env['CI'] ? '.' : `, or ${instead}`;
}

/** ` --profile NAME` for the same profile; empty for `default`, unless MEDIA_PROFILE is set. */
export function profileOption({host: {env}, globals: {profile}}: HintedRun): string {
  const inEnvironment = env['MEDIA_PROFILE'] || undefined;
  const name = profile ?? inEnvironment ?? 'default';
  return name === 'default' && inEnvironment === undefined ? '' : ` --profile ${shellWord(name)}`;
}

/** A hint with more profiles would be hard to read. */
const mostNamed = 8;

/** The beginning of a sentence: `Use --profile staging or --profile test`. */
export function existingProfiles(names: readonly string[]): string {
  if (names.length === 0) return 'No profile is stored. Leave --profile out';
  if (names.length > mostNamed)
    return `Use one of the ${names.length} profiles that media config list --profile default names`;
  return `Use ${names.map(name => `--profile ${shellWord(name)}`).join(' or ')}`;
}
