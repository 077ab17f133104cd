import {existsSync} from 'node:fs';
import {dirname, join} from 'node:path';
import type {Host, StopSignal} from '../host.ts';
import {runChild} from '../lib/child.ts';
import {isObject, parseObject} from '../lib/json.ts';
import type {Secret} from '../lib/secrets/secret.ts';
import {childParameters, isExecutable} from '../package-file.ts';
import type {KeychainRequest} from './keychain-child.ts';

/** Identifies a key: one per profile and origin, so that no setting can send it to another origin. */
export interface KeychainEntry {
  profileName: string;
  origin: string;
}

/** The key, if there is one, or the reason why the keychain could not be used. */
export type KeychainResult = {key: string | undefined} | {failure: string};

/** How long a keychain may take; on a desktop, it may ask the user to unlock it. */
const timeLimitMs = 3000;
const timeLimitWithScreenMs = 60_000;

/** Reads a key from the system's keychain. */
export function readFromKeychain(
  host: Host,
  entry: KeychainEntry,
  stop?: StopSignal,
): Promise<KeychainResult> {
  return ask(host, {action: 'get', account: accountOf(entry)}, stop);
}

/** Puts a key into the system's keychain and reads it back. */
export async function storeInKeychain(
  host: Host,
  entry: KeychainEntry,
  key: Secret,
): Promise<KeychainResult> {
  const result = await ask(host, {action: 'set', account: accountOf(entry), key: key.reveal()});
  return 'key' in result && result.key !== key.reveal() ? {failure: 'it did not store the key'} : result;
}

/** Removes a key from the system's keychain; succeeds if there is none. */
export function removeFromKeychain(host: Host, entry: KeychainEntry): Promise<KeychainResult> {
  return ask(host, {action: 'delete', account: accountOf(entry)});
}

function accountOf({profileName, origin}: KeychainEntry): string {
  return `${profileName} ${origin}`;
}

async function ask(host: Host, request: KeychainRequest, stop?: StopSignal): Promise<KeychainResult> {
  // Its child process would give any program a key that the keychain gives to this executable only.
  if (isExecutable) return {failure: 'a single executable does not use it'};
  if (host.platform === 'linux' && !hasSessionBus(host)) return {failure: 'there is no D-Bus session'};
  const timeoutMs = hasScreen(host) ? timeLimitWithScreenMs : timeLimitMs;
  const end = await runChild(host, {
    command: {program: host.nodePath(), parameters: childParameters('keychain')},
    hasChannel: true,
    input: JSON.stringify(request),
    stderr: 'ignore',
    cwd: dirname(host.nodePath()),
    timeoutMs,
    stop,
  });
  stop?.throwIfAborted();
  if (end.kind === 'timeout') return {failure: `it did not respond within ${timeoutMs / 1000} s`};
  const answer = end.kind === 'ended' ? parseObject(end.stdout.toString()) : undefined;
  if (!isObject(answer)) return {failure: 'the request to it failed'};
  if (typeof answer['failure'] === 'string') return {failure: answer['failure'].replace(/\.$/, '')};
  return {key: typeof answer['key'] === 'string' ? answer['key'] : undefined};
}

function hasSessionBus({env}: Host): boolean {
  const runtime = env['XDG_RUNTIME_DIR'];
  return Boolean(env['DBUS_SESSION_BUS_ADDRESS']) || (runtime ? existsSync(join(runtime, 'bus')) : false);
}

function hasScreen({platform, env}: Host): boolean {
  return platform !== 'linux' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
}
