import {resolve} from 'node:path';
import envPaths from 'env-paths';
import type {Host} from '../host.ts';

/** Where the settings live: MEDIA_CONFIG_DIR, else the platform's directory for a user's configuration. */
export function configDirectory(host: Host): string {
  const chosen = host.env['MEDIA_CONFIG_DIR'];
  return chosen ? resolve(host.cwd(), chosen) : envPaths('media', {suffix: ''}).config;
}

/** Where the embedded service keeps what it stores: under the platform's directory for a user's data. */
export function dataDirectory(): string {
  return resolve(envPaths('media', {suffix: ''}).data, 'embedded');
}
