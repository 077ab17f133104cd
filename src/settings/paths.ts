import {isAbsolute, join} from 'node:path';
import {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {typedPath} from '../lib/files/typed-path.ts';

/** The directory of the settings: MEDIA_CONFIG_DIR, or the platform's directory for user configuration. */
export function configDirectory(host: Host): string {
  const chosen = host.env['MEDIA_CONFIG_DIR'];
  return chosen ? typedPath(host.cwd(), chosen) : absolute(host, 'config');
}

/** The directory of the embedded service's uploads: below the platform's directory for user data. */
export function dataDirectory(host: Host): string {
  return join(absolute(host, 'data'), 'embedded');
}

/** The directory of the journals of --once: below the platform's directory for user state. */
export function journalDirectory(host: Host): string {
  return join(absolute(host, 'state'), 'journals');
}

/** Whether no directory is set or known for the settings, so that there are none. */
export function isHomeless(host: Host): boolean {
  return (
    !host.env['MEDIA_CONFIG_DIR'] && host.homeDirectory() === '' && !isAbsolute(userDirectory(host, 'config'))
  );
}

/** The end of hints about the journal of --once. */
export const orNoOnce = ", or upload without this machine's own journal: --no-once";

/** The error for a directory of journals that cannot be used; `why` has no full stop. */
export function stateUnwritable(host: Host, why: string, cause?: unknown): MediaError {
  return new MediaError('state_unwritable', `${why}.`, {
    hint: `Set ${variableOf(host, 'state')} to a directory that you may write to${orNoOnce}`,
    cause,
  });
}

/** The variable that says where such files are. */
function variableOf({platform}: Host, kind: 'data' | 'state'): string {
  if (platform === 'darwin') return 'HOME';
  return platform === 'win32' ? 'LOCALAPPDATA' : `XDG_${kind.toUpperCase()}_HOME`;
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
function absolute(host: Host, kind: Kind): string {
  const directory = userDirectory(host, kind);
  if (isAbsolute(directory)) return directory;
  const why = `There is no home directory: ${directory} is not an absolute path`;
  if (kind === 'state') throw stateUnwritable(host, why);
  throw new MediaError('config_unusable', `${why}.`, {
    hint: `Set ${kind === 'config' ? 'MEDIA_CONFIG_DIR' : variableOf(host, 'data')} to the absolute path of a directory.`,
  });
}
