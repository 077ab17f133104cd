import {MediaError, unlessBug} from '../../../errors.ts';
import {omitUndefined, own} from '../../../lib/object.ts';
import {printable} from '../../../lib/printable.ts';
import {jsonLine} from '../../output/escape.ts';
import type {SettingList} from '../../output/json-output.ts';
import type {CliCommand, ExitStatus, Invocation} from '../../session/invocation.ts';
import {existingProfiles} from '../../settings/hint-options.ts';
import {profileNameOf, shownBaseUrl} from '../../settings/parse.ts';
import {droppedNote, profileFor, readSetting, settingInForce, withBaseUrl} from '../../settings/profile.ts';
import {type SettingName, settingNames, settingTable} from '../../settings/setting-table.ts';
import {configPath, type Profile, type Profiles, readProfiles, updateProfiles} from '../../settings/store.ts';

/** Declares `media config` and its subcommands; the key is not a setting, and is never printed. */
export function configCommand(config: CliCommand): void {
  const meanings = settingNames.map(name => [name, settingTable[name].meaning] as const);
  config
    .description('Show and change the settings of a profile.')
    .helpList('Settings:', meanings)
    .examples([
      'media config list',
      'media config set base-url https://api.example.com',
      'media config get base-url --profile staging',
    ]);
  config
    .command('list')
    .description('Print all settings in force and where each was set, the profiles, and the settings file.')
    .option('--json', 'print them as JSON')
    .examples(['media config list', 'media config list --profile staging --json'])
    .runs(list);
  config
    .command('get <name>')
    .description('Print one setting; the exit status is 1 when it is not set.')
    .examples(['media config get base-url'])
    .runs(get);
  config
    .command('set <name> <value>')
    .description('Change one setting.')
    .helpList('Settings:', meanings)
    .examples([
      'media config set base-url https://api.example.com',
      'media config set graphql-url https://api.example.com/internal/graphql',
      'media config set profile-url https://app.example.com/profile/edit',
      "media config set key-command 'pass show media/key'",
      'media config set cacert ./company-ca.pem',
      'media config set client-cert ./me.pem',
      'media config set idempotency-keys honoured',
      'media config set limit-rate 2M',
    ])
    .runs(set);
  config
    .command('unset <name>')
    .description('Remove one setting.')
    .examples(['media config unset graphql-url'])
    .runs(async (_options, invocation, word: string) => {
      await updateSetting(invocation, settingName(word));
    });
}

/** Prints the settings in force, not only those of the profile, and hides what may be a password in a URL. */
async function list({json}: {json?: boolean}, {host, globals, stdout, report}: Invocation): Promise<void> {
  const profileName = profileNameOf(host, globals);
  const profiles = await readProfiles(host);
  const profile = storedProfile(profiles, profileName);
  const baseUrl = settingInForce('base-url', {host, globals, profileName, profile})?.value;
  const run = {host, globals, profileName, profile: baseUrl ? profileFor(profile, baseUrl) : profile};
  const settings = settingNames.flatMap(name => {
    const {value = settingTable[name].default, place = 'default'} = settingInForce(name, run) ?? {};
    if (value === undefined) return [];
    const hidden =
      name === 'base-url' ? shownBaseUrl(value, '********') : value.replace(/\/\/[^/]*@/, '//********@');
    return {name, value: hidden, source: place};
  });
  // A value in force may be wrong, since a variable or an edited file was not checked when it was set.
  for (const name of settingNames) {
    const parse = (value: string) => settingTable[name].parse(value, {host, allowHttp: true});
    await readSetting(name, run, parse).catch(error => {
      const {message, hint = ''} = report.inWords(unlessBug(error));
      report.warning(`${name} cannot be used: ${message} ${hint}`.trim());
    });
  }
  const lines = settings.map(
    ({name, value, source}) =>
      `${name}=${printable(value)} (${source === 'default' ? source : `from ${source}`})\n`,
  );
  const [path, names] = [configPath(host), Object.keys(profiles)];
  const text = `${lines.join('')}Profiles: ${names.map(printable).join(', ') || 'none'}\nSettings file: ${path}\n`;
  await stdout.write(json ? jsonLine<SettingList>({settings, profiles: names, path}) : text);
}

/** Stores a setting in the profile, which is created if it does not exist; throws a usage error for a wrong value. */
async function set(_options: object, invocation: Invocation, word: string, text: string): Promise<void> {
  const {host, globals, report} = invocation;
  const name = settingName(word);
  const value = await settingTable[name].parse(text, {host, allowHttp: globals.allowHttp === true});
  const before = await updateSetting(invocation, name, value);
  // A key-command wins over a stored key.
  if (name === 'key-command' && (before.key ?? before['key-store']) !== undefined)
    report.warning('The stored key is no longer used; media logout deletes it.');
}

/** The setting with this name; throws a usage error that names a similar setting, or all. */
function settingName(name: string): SettingName {
  const setting = settingNames.find(setting => setting === name);
  if (setting !== undefined) return setting;
  const bare = (text: string) => text.toLowerCase().replace(/^media_|[^a-z]/g, '');
  const similar = settingNames.find(setting => bare(setting) === bare(name));
  throw new MediaError('usage', `There is no setting "${name}".`, {
    hint: similar === undefined ? `The settings are ${settingNames.join(', ')}.` : `Did you mean ${similar}?`,
  });
}

/** Sets or removes a setting; another base URL removes what belongs to the old one. Resolves to the old profile. */
async function updateSetting(invocation: Invocation, name: SettingName, value?: string): Promise<Profile> {
  const {host, globals, report} = invocation;
  const profileName = profileNameOf(host, globals);
  let before: Profile = {};
  let removed: (keyof Profile)[] = [];
  await updateProfiles(host, profiles => {
    const existing = own(profiles, profileName);
    before = value === undefined ? storedProfile(profiles, profileName) : (existing ?? {});
    const {profile, removedSettings = []} =
      name === 'base-url' ? withBaseUrl(before, value) : {profile: omitUndefined({...before, [name]: value})};
    removed = removedSettings;
    if (existing !== undefined || value !== undefined) profiles[profileName] = profile;
  });
  if (removed.includes('key-store')) {
    const {forgetKeychainEntry} = await import('./store-key.ts');
    await forgetKeychainEntry(profileName, before, invocation);
  }
  const note = droppedNote(before, removed);
  if (note !== undefined) report.note(note);
  return before;
}

/** The profile of that name; the error lists the existing ones. The default profile always exists. */
function storedProfile(profiles: Profiles, name: string): Profile {
  const profile = own(profiles, name);
  if (name === 'default' || profile !== undefined) return profile ?? {};
  throw new MediaError('config_unusable', `There is no profile "${name}".`, {
    hint: `${existingProfiles(Object.keys(profiles))}.`,
  });
}

/** Prints what the profile itself stores, not the value in force; exit status 1 if it stores none. */
async function get(_options: object, {host, globals, stdout}: Invocation, word: string): Promise<ExitStatus> {
  const [profileName, name] = [profileNameOf(host, globals), settingName(word)];
  const value = storedProfile(await readProfiles(host), profileName)[name];
  if (value === undefined) return 1;
  await stdout.write(`${printable(value)}\n`);
  return 0;
}
