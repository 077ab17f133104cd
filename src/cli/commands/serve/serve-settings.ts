import type {ServiceOptions} from '../../../embedded/service.ts';
import {MediaError, throwAs} from '../../../errors.ts';
import type {Host} from '../../../host.ts';
import {readText} from '../../../lib/files/read-text.ts';
import {resolveUserPath} from '../../../lib/files/typed-path.ts';
import {omitUndefined} from '../../../lib/object.ts';
import {defaultPort} from '../../session/start-embedded.ts';

/** The options of `media serve`, as they were typed. */
export interface ServeOptions
  extends Pick<ServiceOptions, 'host' | 'port' | 'publicUrl' | 'maxSize' | 'quota'> {
  allowHost?: string[];
  allowOrigin?: string[];
  seed?: string;
  dataDir?: string;
  ephemeral?: boolean;
  keepKey?: boolean;
  fault?: string[];
  faultPort?: number;
}

export type ServeSettings = Awaited<ReturnType<typeof serveSettings>>;

/** The options of `media serve`, else its variables: `services:` of GitHub and GitLab can pass no options. */
export async function serveSettings(options: ServeOptions, host: Host) {
  const {env} = host;
  const {ephemeral = false, maxSize, quota, faultPort} = options;
  const dataDir = options.dataDir ?? (ephemeral ? undefined : env['MEDIA_SERVE_DATA_DIR'] || undefined);
  const list = options.fault ?? wordsIn(env['MEDIA_SERVE_FAULT']);
  const control = faultPort === undefined ? undefined : {port: faultPort};
  const faults = omitUndefined({list, control});
  return {
    ephemeral,
    dataDir,
    seed: options.seed ?? (env['MEDIA_SERVE_SEED'] || undefined),
    keepsUsedKeys: options.keepKey ?? dataDir !== undefined,
    service: omitUndefined({
      port: options.port ?? portOf(env['MEDIA_SERVE_PORT']),
      host: options.host ?? (env['MEDIA_SERVE_HOST'] || undefined),
      publicUrl: options.publicUrl ?? (env['MEDIA_SERVE_PUBLIC_URL'] || undefined),
      allowHosts: options.allowHost ?? wordsIn(env['MEDIA_SERVE_ALLOW_HOST']),
      allowOrigins: options.allowOrigin ?? wordsIn(env['MEDIA_SERVE_ALLOW_ORIGIN']),
      fixedKey: await chosenKey(env['MEDIA_SERVE_KEY'], env['MEDIA_SERVE_KEY_FILE'], host),
      maxSize,
      quota,
      faults: Object.keys(faults).length === 0 ? undefined : faults,
    }),
  };
}

/** The key that the owner chose, by variable or file; undefined without either. The service checks its form. */
async function chosenKey(key = '', file = '', {cwd, files}: Host): Promise<string | undefined> {
  if (key !== '' && file !== '')
    throw new MediaError('usage', 'MEDIA_SERVE_KEY and MEDIA_SERVE_KEY_FILE are both set.', {
      hint: 'Unset one of them.',
    });
  if (file === '') return key || undefined;
  const hint = 'Point MEDIA_SERVE_KEY_FILE to a file that holds the key, or set MEDIA_SERVE_KEY.';
  const text = await readText(resolveUserPath(cwd(), file), files).catch(
    throwAs('local_failure', `The key in ${file} cannot be read`, hint),
  );
  return text.trim();
}

/** The port in MEDIA_SERVE_PORT, or the default port if that is not set; a usage error if it is not a port. */
function portOf(text = ''): number {
  const port = text === '' ? defaultPort : /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new MediaError('usage', `MEDIA_SERVE_PORT is "${text}", which is not a port.`, {
    hint: 'Use a whole number from 0 to 65535.',
  });
}

/** The words between white space; undefined without any, so that the default of the service holds. */
function wordsIn(text = ''): string[] | undefined {
  const words = text.split(/\s+/).filter(word => word !== '');
  return words.length === 0 ? undefined : words;
}
