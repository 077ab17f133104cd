import {dirname, join} from 'node:path';
import type {Host, StopSignal} from '../../host.ts';
import {runChild} from '../../lib/child.ts';
import {parseObject} from '../../lib/json.ts';
import {childParameters, isExecutable} from '../../package-file.ts';
import type {KeychainRequest, KeychainResponse} from './keychain-child.ts';

/** How long a keychain may take; on a desktop, it may ask the user to unlock it. */
const timeLimitMs = 3000;
const timeLimitWithScreenMs = 60_000;

/** Reads, stores or removes the key of a profile and an origin, so that no setting sends it to another service. */
export async function askKeychain(
  host: Host,
  {profileName, origin, ...request}: Omit<KeychainRequest, 'account'> & {profileName: string; origin: string},
  stop?: StopSignal,
): Promise<KeychainResponse> {
  // Its child process would give any program a key that the keychain gives to this executable only.
  if (isExecutable) return {failure: 'a single executable does not use it'};
  if (host.platform === 'linux' && !hasSessionBus(host)) return {failure: 'there is no D-Bus session'};
  const {platform, env} = host;
  const hasScreen = platform !== 'linux' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
  const timeoutMs = hasScreen ? timeLimitWithScreenMs : timeLimitMs;
  const end = await runChild(host, {
    command: {program: host.nodePath(), parameters: childParameters('keychain')},
    hasChannel: true,
    input: JSON.stringify({...request, account: `${profileName} ${origin}`}),
    stderr: 'ignore',
    cwd: dirname(host.nodePath()),
    timeoutMs,
    stop,
  });
  stop?.throwIfAborted();
  if (end.kind === 'timeout') return {failure: `it did not respond within ${timeoutMs / 1000} s`};
  const response = end.kind === 'ended' ? parseObject(end.stdout.toString()) : undefined;
  return (response as KeychainResponse | undefined) ?? {failure: 'the request to it failed'};
}

/** Whether there is a D-Bus session, without which Linux has no keychain. */
function hasSessionBus({env, files}: Host): boolean {
  const runtime = env['XDG_RUNTIME_DIR'];
  return (
    Boolean(env['DBUS_SESSION_BUS_ADDRESS']) || (runtime ? files.existsSync(join(runtime, 'bus')) : false)
  );
}
