import type {Host} from '../host.ts';
import {shellWord} from '../lib/shell.ts';
import type {GlobalOptions} from './global-options.ts';

/**
 * What a command in a hint has to carry to be about the same profile and service as this run, wherever they were named:
 * ` --profile staging --base-url https://api.example.com`, or nothing.
 */
export function hintOptions(host: Host, options: GlobalOptions): string {
  const baseUrl = options.baseUrl ?? (host.env['MEDIA_BASE_URL'] || undefined);
  const words = [
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...(options.cacert === undefined ? [] : ['--cacert', options.cacert]),
    ...(options.allowHttp ? ['--allow-http'] : []),
  ];
  return `${profileOption(host, options)}${words.map(word => ` ${shellWord(word)}`).join('')}`;
}

/** The command that stores a key: one that asks for it, or without a terminal one that reads it. */
export function loginCommandFor({stderr}: Host, options: string): string {
  return `media login${stderr.isTTY === true ? '' : ' --key-stdin'}${options}`;
}

/** What a command has to carry that reads or changes the profile alone. */
export function profileOption({env}: Host, {profile}: GlobalOptions): string {
  const inEnvironment = env['MEDIA_PROFILE'] || undefined;
  const name = profile ?? inEnvironment ?? 'default';
  return name === 'default' && inEnvironment === undefined ? '' : ` --profile ${name}`;
}
