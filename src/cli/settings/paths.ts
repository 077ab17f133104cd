import {isAbsolute, join} from 'node:path';
import {MediaError} from '../../errors.ts';
import {command, hint, type Message} from '../../hint.ts';
import type {Host} from '../../host.ts';
import {resolveUserPath} from '../../lib/files/typed-path.ts';
import {own} from '../../lib/object.ts';

/** The directory of the settings: MEDIA_CONFIG_DIR, or the platform's directory for user configuration. */
export function configDirectory(host: Host): string {
  const directory = host.env['MEDIA_CONFIG_DIR'];
  return directory ? resolveUserPath(host.cwd(), directory) : absoluteDirectory(host, 'config');
}

/** The directory of the embedded service's uploads: below the platform's directory for user data. */
export function dataDirectory(host: Host): string {
  return join(absoluteDirectory(host, 'data'), 'embedded');
}

/** The directory of the journals of --once: below the platform's directory for user state. */
export function journalDirectory(host: Host): string {
  return join(absoluteDirectory(host, 'state'), 'journals');
}

/** Whether no directory is set or known for the settings, so that there are none. */
export function isHomeless(host: Host): boolean {
  return (
    !host.env['MEDIA_CONFIG_DIR'] && host.homeDirectory() === '' && !isAbsolute(userDirectory(host, 'config'))
  );
}

/** The error of the state directory; its hint names the variable that sets another directory. */
export function stateUnwritableError(host: Host, message: Message, cause?: unknown): MediaError {
  return new MediaError('state_unwritable', message, {
    hint: hint`Set ${variableOf(host, 'state')} to a directory of your own that you may write to${command('uploadWithoutOnce')}`,
    cause,
  });
}

type Kind = 'config' | 'data' | 'state';

/** The variable that says where such files are, such as XDG_CONFIG_HOME or XDG_STATE_HOME. */
function variableOf({platform}: Host, kind: Kind): string {
  if (platform === 'darwin') return 'HOME';
  if (platform === 'win32') return kind === 'config' ? 'APPDATA' : 'LOCALAPPDATA';
  return `XDG_${kind.toUpperCase()}_HOME`;
}

const xdgDefaults = {config: '.config', data: '.local/share', state: '.local/state'};

/** The same directories as the package env-paths, which reads only the environment of its own process. */
function userDirectory(host: Host, kind: Kind): string {
  const [home, isConfig] = [host.homeDirectory(), kind === 'config'];
  if (host.platform === 'darwin')
    return join(home, 'Library', isConfig ? 'Preferences' : 'Application Support', 'media');
  const parent = own(host.env, variableOf(host, kind));
  if (host.platform === 'win32')
    return isConfig
      ? join(parent || join(home, 'AppData', 'Roaming'), 'media', 'Config')
      : join(parent || join(home, 'AppData', 'Local'), 'media', 'Data');
  // The XDG Base Directory Specification.
  return join(parent || join(home, xdgDefaults[kind]), 'media');
}

/** The directory of this kind; throws without a home, since a relative path would lead below the working directory. */
function absoluteDirectory(host: Host, kind: Kind): string {
  const directory = userDirectory(host, kind);
  if (isAbsolute(directory)) return directory;
  const why = `There is no home directory: ${directory} is not an absolute path.`;
  if (kind === 'state') throw stateUnwritableError(host, why);
  throw new MediaError('config_unusable', why, {
    hint: `Set ${kind === 'config' ? 'MEDIA_CONFIG_DIR' : variableOf(host, kind)} to the absolute path of a directory.`,
  });
}
