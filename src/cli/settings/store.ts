import type {Stats} from 'node:fs';
import {join} from 'node:path';
import {MediaError, systemError, throwAs} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {makeDirectory, renameDurably} from '../../lib/files/durable.ts';
import {LockHeld, withLock} from '../../lib/files/lock.ts';
import {ownershipProblem} from '../../lib/files/ownership.ts';
import {utf8Text} from '../../lib/files/read-text.ts';
import {isObject, parseObject} from '../../lib/json.ts';
import {shellQuoted} from '../../lib/shell.ts';
import {ignoreMissing, undefinedIfThrows} from '../../lib/system-code.ts';
import {configDirectory, isHomeless} from './paths.ts';
import type {SettingName} from './setting-table.ts';

/** A profile as it is stored. */
export type Profile = {[name in SettingName]?: string} & {
  /** The API key; it is sent to `key-origin` and nowhere else. */
  key?: string;
  /** Set if the key is in the keychain instead of this file. */
  'key-store'?: 'keychain';
  /** Scheme, host and port that the key belongs to. */
  'key-origin'?: string;
  /** Whose key it is, if the service said so when it was stored. */
  'key-account'?: string;
};

export type Profiles = Record<string, Profile>;

const fileName = 'config.json';
const privateFile = 0o600;
const privateDirectory = 0o700;

export function configPath(host: Host): string {
  return join(configDirectory(host), fileName);
}

/** Reads all profiles; none if the file or a home is missing. Removes access to the file by other users. */
export async function readProfiles(host: Host): Promise<Profiles> {
  if (isHomeless(host)) return {};
  const path = configPath(host);
  const unreadable = throwAs('config_unusable', `${path} could not be read`);
  const stats = await host.files.lstat(path).catch(ignoreMissing).catch(unreadable);
  if (stats === undefined) return Object.create(null);
  if (stats.isSymbolicLink() || !stats.isFile())
    throw untrustedFileError(
      `${path} is ${stats.isSymbolicLink() ? 'a symbolic link' : 'not a regular file'}`,
      'Put the file itself there, or set MEDIA_CONFIG_DIR to another directory.',
    );
  const directory = configDirectory(host);
  refuseSharedFile(directory, await host.files.stat(directory), host);
  refuseSharedFile(path, stats, host);
  if (host.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
    const what = `${path} may be read by other users, and that could not be changed`;
    const hint = `Run: chmod 600 ${shellQuoted(path)}`;
    await host.files.chmod(path, privateFile).catch(throwAs('config_unusable', what, hint));
  }
  return parseProfiles(utf8Text(await host.files.readFile(path).catch(unreadable)), path);
}

/** Writes the profiles that `change` edits in place; under a lock, so that no other process loses changes. */
export async function updateProfiles(host: Host, change: (profiles: Profiles) => void): Promise<void> {
  const directory = configDirectory(host);
  const path = configPath(host);
  try {
    await makeDirectory(directory, host.files, privateDirectory);
    refuseSharedFile(directory, await host.files.stat(directory), host);
    // Loaded before the lock is taken, since other processes wait for the lock.
    const {default: Conf} = await import('conf');
    await withLock(join(directory, `${fileName}.lock`), host, async () => {
      const profiles = await readProfiles(host);
      change(profiles);
      const draft = `${path}.draft`;
      try {
        const store = new Conf<{profiles: Profiles}>({
          cwd: directory,
          fileExtension: 'json.draft',
          projectName: 'media',
          projectSuffix: '',
          configFileMode: privateFile,
          accessPropertiesByDotNotation: false,
          clearInvalidConfig: true,
        });
        store.set('profiles', profiles);
        // conf writes once, and a disk that gets full takes only a part of that.
        if (parseObject(await host.files.readFile(draft, 'utf8')) === undefined)
          throw Object.assign(new Error('The file was cut off.'), {code: 'ENOSPC'});
        await renameDurably(draft, path, host.files);
      } finally {
        await host.files.rm(draft, {force: true});
      }
    });
  } catch (error) {
    if (error instanceof MediaError) throw error;
    if (error instanceof LockHeld)
      throw new MediaError('config_unusable', error.message, {
        hint: 'Wait until the other media command has ended, then try again. If none is running, remove that file.',
      });
    const hint =
      'Set MEDIA_CONFIG_DIR to a directory that you may write to, or use MEDIA_API_KEY and MEDIA_BASE_URL.';
    throw systemError('config_unusable', `${path} could not be written`, error, hint);
  }
}

/** The profiles of a settings file, also with settings that this version does not know; throws if damaged. */
function parseProfiles(text: string, path: string): Profiles {
  const value: unknown = undefinedIfThrows(() => JSON.parse(text));
  if (value === undefined) throw damagedFileError(path, 'is not valid JSON');
  const profiles: unknown = isObject(value) ? (value['profiles'] ?? {}) : undefined;
  if (!isObject(profiles)) throw damagedFileError(path, 'contains no profiles');
  const checked: Profiles = Object.create(null);
  for (const [name, profile] of Object.entries(profiles)) {
    if (!isObject(profile) || !Object.values(profile).every(setting => typeof setting === 'string'))
      throw damagedFileError(path, `contains a profile "${name}" that is not a set of strings`);
    if (!['keychain', undefined].includes(profile['key-store'] as string | undefined))
      throw damagedFileError(path, `contains a profile "${name}" with an unknown "key-store"`);
    checked[name] = profile;
  }
  return checked;
}

function damagedFileError(path: string, how: string): MediaError {
  return new MediaError('config_unusable', `The settings file ${path} is damaged: it ${how}.`, {
    hint: 'Fix it or move it away; MEDIA_API_KEY and MEDIA_BASE_URL work without it.',
  });
}

/** Refuses a file or a directory that others can write: a key-command of theirs would be run. */
function refuseSharedFile(path: string, stats: Stats, host: Host): void {
  const problem = ownershipProblem(path, stats, host);
  if (problem === undefined) return;
  throw untrustedFileError(problem.why, problem.remedy ?? 'Set MEDIA_CONFIG_DIR to a directory of your own.');
}

function untrustedFileError(why: string, hint: string): MediaError {
  return new MediaError('config_unusable', `${why}, so it is not trusted with a key.`, {hint});
}
