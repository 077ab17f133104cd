import {isAbsolute, join} from 'node:path';
import {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {typedPath} from '../lib/files/typed-path.ts';

/** The directory of the settings: MEDIA_CONFIG_DIR, or the platform's directory for user configuration. */
export function configDirectory(host: Host): string {
  const chosen = host.env['MEDIA_CONFIG_DIR'];
  return chosen ? typedPath(host.cwd(), chosen) : absolute(userDirectory(host, 'config'), 'config');
}

/** The directory of the embedded service's uploads: below the platform's directory for user data. */
export function dataDirectory(host: Host): string {
  return join(absolute(userDirectory(host, 'data'), 'data'), 'embedded');
}

/** The directory of the journals of --once: below the platform's directory for user state. */
export function journalDirectory(host: Host): string {
  return join(absolute(userDirectory(host, 'state'), 'state'), 'journals');
}

type Kind = 'config' | 'data' | 'state';

/** The same directories as the package env-paths, which reads only the environment of its own process. */
function userDirectory({platform, env, homeDirectory}: Host, kind: Kind): string {
  const home = homeDirectory();
  switch (platform) {
    case 'darwin':
      return join(
        home,
        'Library',
        {config: 'Preferences', data: 'Application Support', state: 'Application Support'}[kind],
        'media',
      );
    case 'win32':
      return kind === 'config'
        ? join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'media', 'Config')
        : join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'media', 'Data');
    // The XDG Base Directory Specification.
    default:
      return join(
        {
          config: env['XDG_CONFIG_HOME'] || join(home, '.config'),
          data: env['XDG_DATA_HOME'] || join(home, '.local', 'share'),
          state: env['XDG_STATE_HOME'] || join(home, '.local', 'state'),
        }[kind],
        'media',
      );
  }
}

/** A relative path would lead below the working directory. */
function absolute(directory: string, kind: Kind): string {
  if (isAbsolute(directory)) return directory;
  throw new MediaError(
    'config_unusable',
    `There is no home directory: ${directory} is not an absolute path.`,
    {hint: `Set HOME to an absolute path, or unset XDG_${kind.toUpperCase()}_HOME.`},
  );
}
