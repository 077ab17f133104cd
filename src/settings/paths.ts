import {isAbsolute, resolve} from 'node:path';
import envPaths from 'env-paths';
import {MediaError} from '../errors.ts';
import type {Host} from '../host.ts';
import {typedPath} from '../lib/typed-path.ts';

/** Where the settings live: MEDIA_CONFIG_DIR, else the platform's directory for a user's configuration. */
export function configDirectory(host: Host): string {
  const chosen = host.env['MEDIA_CONFIG_DIR'];
  return chosen ? typedPath(host.cwd(), chosen) : ownDirectory('config');
}

/** Where the embedded service keeps what it stores: under the platform's directory for a user's data. */
export function dataDirectory(): string {
  return resolve(ownDirectory('data'), 'embedded');
}

/** Never below the working directory, to which a path that is not absolute would lead. */
function ownDirectory(kind: 'config' | 'data'): string {
  const directory = envPaths('media', {suffix: ''})[kind];
  if (isAbsolute(directory)) return directory;
  throw new MediaError(
    'config_unusable',
    `There is no home directory: ${directory} is not an absolute path.`,
    {
      hint: `Set HOME to an absolute path, or take XDG_${kind.toUpperCase()}_HOME out of the environment.`,
    },
  );
}
