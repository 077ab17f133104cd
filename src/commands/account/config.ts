import {Command} from 'commander';
import {helpDescription, helpList} from '../../cli/help-format.ts';
import {type Cli, type ExitStatus, examples, type Invocation, invocationOf} from '../../cli/invocation.ts';
import {existingProfiles} from '../../cli/key-hints.ts';
import {MediaError} from '../../errors.ts';
import {own} from '../../lib/object.ts';
import {printable} from '../../output/escape.ts';
import {parseProfileName} from '../../settings/parse.ts';
import {droppedNote, withBaseUrl} from '../../settings/profile.ts';
import {type SettingName, settingNames, settingOf} from '../../settings/setting-table.ts';
import {profileOf} from '../../settings/settings.ts';
import {configPath, type Profile, type Profiles, readProfiles, updateProfiles} from '../../settings/store.ts';

export type ConfigOptions =
  | {action: 'list' | 'path' | 'profiles'}
  | {action: 'get' | 'unset'; name: string}
  | {action: 'set'; name: string; value: string};

/** The settings with their meanings, for help. */
function settingsHelp(context: {command: Command}): string {
  const meanings = settingNames.map(name => [name, settingOf(name).meaning] as const);
  return helpList('Settings:', meanings)(context);
}

/** Declares `media config` and its subcommands. */
export function configCommand(cli: Cli, run = runConfig): Command {
  const act = async (options: ConfigOptions, command: Command) => {
    cli.status = await run(options, invocationOf(cli, command));
  };
  const config = new Command('config')
    .helpCommand('help [command]', helpDescription)
    .description('Show and change the settings of a profile.')
    .addHelpText('after', settingsHelp)
    .addHelpText(
      'after',
      examples([
        'media config list',
        'media config set base-url https://api.example.com',
        'media config get base-url --profile staging',
      ]),
    );
  config
    .command('list')
    .description('Print all settings of the profile.')
    .addHelpText('after', examples(['media config list', 'media config list --profile staging']))
    .action((_options, command: Command) => act({action: 'list'}, command));
  config
    .command('get <name>')
    .description('Print one setting; the exit status is 1 when it is not set.')
    .addHelpText('after', examples(['media config get base-url']))
    .action((name: string, _options, command: Command) => act({action: 'get', name}, command));
  config
    .command('set <name> <value>')
    .description('Change one setting.')
    .addHelpText('after', settingsHelp)
    .addHelpText(
      'after',
      examples([
        'media config set base-url https://api.example.com',
        'media config set graphql-url https://api.example.com/internal/graphql',
        'media config set profile-url https://app.example.com/profile/edit',
        "media config set key-command 'pass show media/key'",
        'media config set cacert ./company-ca.pem',
        'media config set client-cert ./me.pem',
        'media config set idempotency-keys honoured',
      ]),
    )
    .action((name: string, value: string, _options, command: Command) =>
      act({action: 'set', name, value}, command),
    );
  config
    .command('unset <name>')
    .description('Remove one setting.')
    .addHelpText('after', examples(['media config unset graphql-url']))
    .action((name: string, _options, command: Command) => act({action: 'unset', name}, command));
  config
    .command('profiles')
    .description('Print the names of all profiles.')
    .addHelpText('after', examples(['media config profiles']))
    .action((_options, command: Command) => act({action: 'profiles'}, command));
  config
    .command('path')
    .description('Print where the settings are stored.')
    .addHelpText('after', examples(['media config path']))
    .action((_options, command: Command) => act({action: 'path'}, command));
  return config;
}

/** Reads or changes the profile's settings; the key is not a setting and is never printed. */
export async function runConfig(options: ConfigOptions, invocation: Invocation): Promise<ExitStatus> {
  const {host, stdout, globals, report} = invocation;
  const profileName = parseProfileName(globals.profile ?? (host.env['MEDIA_PROFILE'] || 'default'));
  switch (options.action) {
    case 'path':
      await stdout.write(`${configPath(host)}\n`);
      return 0;
    case 'profiles':
      await stdout.write(
        Object.keys(await readProfiles(host))
          .map(name => `${printable(name)}\n`)
          .join(''),
      );
      return 0;
    case 'list':
      await stdout.write(listText(storedProfile(await readProfiles(host), profileName)));
      return 0;
    case 'get':
      return printSetting(settingName(options.name), profileName, invocation);
    case 'set': {
      const name = settingName(options.name);
      const context = {cwd: host.cwd(), allowHttp: globals.allowHttp === true};
      const value = settingOf(name).parse(options.value, context);
      if (name === 'base-url') return setBaseUrl(value, profileName, invocation);
      let hasStoredKey = false;
      await updateProfiles(host, profiles => {
        const before = own(profiles, profileName);
        hasStoredKey = before?.key !== undefined || before?.['key-store'] !== undefined;
        profiles[profileName] = {...before, [name]: value};
      });
      if (name === 'key-command' && hasStoredKey)
        report.warning('The stored key is no longer used; media logout deletes it.');
      return 0;
    }
    case 'unset': {
      const name = settingName(options.name);
      if (name === 'base-url') return setBaseUrl(undefined, profileName, invocation);
      await updateProfiles(host, profiles => {
        delete storedProfile(profiles, profileName)[name];
      });
      return 0;
    }
  }
}

/** The setting of that name, or a usage error that names all. */
function settingName(name: string): SettingName {
  const known = settingNames.find(setting => setting === name);
  if (known !== undefined) return known;
  throw new MediaError('usage', `There is no setting "${name}".`, {
    hint: `The settings are ${settingNames.join(', ')}.`,
  });
}

/** The settings of the old service are removed with its base URL. */
async function setBaseUrl(
  value: string | undefined,
  profileName: string,
  {host, report}: Invocation,
): Promise<ExitStatus> {
  let before: Profile = {};
  let dropped: (keyof Profile)[] = [];
  await updateProfiles(host, profiles => {
    before = value === undefined ? storedProfile(profiles, profileName) : (own(profiles, profileName) ?? {});
    const changed = withBaseUrl(before, value);
    dropped = changed.dropped;
    if (own(profiles, profileName) !== undefined || value !== undefined)
      profiles[profileName] = changed.profile;
  });
  if (dropped.includes('key-store')) {
    const {forgetKeychainEntry} = await import('./store-key.ts');
    await forgetKeychainEntry(profileName, before, host, report);
  }
  const note = droppedNote(before, dropped);
  if (note !== undefined) report.note(note);
  return 0;
}

/** The profile of that name; the error lists the existing ones. The default profile always exists. */
function storedProfile(profiles: Profiles, name: string): Profile {
  if (name === 'default' || Object.hasOwn(profiles, name)) return profileOf(profiles, name);
  throw new MediaError('config_unusable', `There is no profile "${name}".`, {
    hint: `${existingProfiles(Object.keys(profiles))}.`,
  });
}

function listText(profile: Profile): string {
  return settingNames
    .map(name => (profile[name] === undefined ? '' : `${name}=${printable(profile[name])}\n`))
    .join('');
}

async function printSetting(
  name: SettingName,
  profileName: string,
  {host, stdout}: Invocation,
): Promise<ExitStatus> {
  const value = storedProfile(await readProfiles(host), profileName)[name];
  if (value === undefined) return 1;
  await stdout.write(`${printable(value)}\n`);
  return 0;
}
