import type {ServiceOptions} from '../embedded/service.ts';
import {MediaError} from '../errors.ts';
import type {ConnectionOptions} from '../http.ts';
import {asMediaError} from '../output/report.ts';
import {Secret} from '../secret.ts';
import {graphqlUrl, MediaClient, type ServiceAddress} from '../service/client.ts';
import {dataDirectory} from '../settings/paths.ts';
import {resolveSettings, type Settings} from '../settings/settings.ts';
import {profileOption} from '../settings/stored-key.ts';
import {packageVersion} from '../version.ts';
import type {Invocation} from './cli.ts';

/** A client for the service in force. */
export interface Session {
  client: MediaClient;
  /** The service's host and port, for messages. */
  hostName: string;
  /** Whether an upload may be sent again after an unknown outcome, since the service honours Idempotency-Key. */
  idempotencyHonoured: boolean;
  /** Where the service shows and changes the user's keys, when the profile says. */
  profileUrl?: string;
  /** Whether the service runs inside this process. */
  embedded: boolean;
  /** Ends all connections, and the embedded service. */
  close(): Promise<void>;
}

/** Opens the service that the settings name, or rejects with `no_key` when they name none or hold no key. */
export async function openSession(invocation: Invocation): Promise<Session> {
  return openSessionFor(await resolveSettings(invocation.host, invocation.globals), invocation);
}

/** The same for settings that have been resolved before. */
export async function openSessionFor(settings: Settings, invocation: Invocation): Promise<Session> {
  if (settings.baseUrl?.kind === 'embedded') return openEmbedded(invocation);
  if (settings.baseUrl === undefined || settings.key === undefined) throw missing(settings);
  const address: ServiceAddress = {baseUrl: settings.baseUrl.url};
  if (settings.graphqlUrl !== undefined) address.graphqlUrl = settings.graphqlUrl;
  const client = newClient(invocation, address, settings.key.secret, settings);
  return {
    client,
    hostName: address.baseUrl.host,
    idempotencyHonoured: settings.idempotencyHonoured,
    ...(settings.profileUrl === undefined ? {} : {profileUrl: settings.profileUrl}),
    embedded: false,
    close: () => client.close(),
  };
}

/** How every connection of this run is made. */
export function connectionOptions(
  {host}: Invocation,
  {certificateAuthorities, clientCertificate}: Pick<Settings, 'certificateAuthorities' | 'clientCertificate'>,
): ConnectionOptions {
  return {
    clock: host.clock,
    userAgent: `media/${packageVersion()}`,
    ...(certificateAuthorities === undefined ? {} : {certificateAuthorities}),
    ...(clientCertificate === undefined ? {} : {clientCertificate}),
  };
}

/** A client for one address and key. */
export function newClient(
  invocation: Invocation,
  address: ServiceAddress,
  key: Secret,
  settings: Pick<Settings, 'certificateAuthorities' | 'clientCertificate'>,
): MediaClient {
  const {report} = invocation;
  report.trace(`service ${address.baseUrl.href}, GraphQL at ${graphqlUrl(address).href}`);
  return new MediaClient(address, key, {
    ...connectionOptions(invocation, settings),
    ...(report.level === 'verbose' ? {trace: (message: string) => report.trace(message)} : {}),
  });
}

async function openEmbedded(invocation: Invocation): Promise<Session> {
  const {defaultPort, describeServiceError, startEmbedded} = await import('./start-embedded.ts');
  const options: ServiceOptions = {
    dataDirectory: dataDirectory(),
    publicUrl: `http://127.0.0.1:${defaultPort}`,
    clock: invocation.host.clock,
    onError: error => invocation.report.failure(asMediaError(describeServiceError(error, options))),
  };
  const {service, key} = await startEmbedded(options, {label: 'embedded', persist: false});
  const client = newClient(invocation, {baseUrl: new URL(service.url)}, new Secret(key), {});
  return {
    client,
    hostName: 'the embedded service',
    idempotencyHonoured: true,
    embedded: true,
    async close() {
      await client.close();
      await service.close();
    },
  };
}

/** A mistyped profile name is told by the names that there are. */
function othersThan({profileName, profileNames}: Settings): string {
  const others = profileNames.filter(name => name !== profileName);
  return others.length === 0 ? '' : ` Other profiles: ${others.join(', ')}.`;
}

/** Why nothing can be sent with these settings: no base URL, no key, or a key of another origin. */
export function missing(settings: Settings): MediaError {
  const {profileName, profile} = settings;
  if (settings.keyFailure !== undefined) return settings.keyFailure;
  if (settings.key === undefined && profile['key-command'] !== undefined && !profile['base-url']) {
    return new MediaError(
      'no_key',
      `Nothing tells which service the key-command of profile ${profileName} is for.`,
      {hint: 'Name it in the profile: media config set base-url URL'},
    );
  }
  const hint = `Run media login${profileOption(profileName)}, or try everything on this machine with --base-url embedded.${othersThan(settings)}`;
  if (settings.keyOfOtherOrigin !== undefined) {
    const origin = settings.baseUrl?.kind === 'service' ? settings.baseUrl.url.origin : '';
    return new MediaError(
      'no_key',
      `The stored key belongs to ${settings.keyOfOtherOrigin} and is not sent to ${origin}.`,
      {
        hint: `Log in there with media login --base-url ${origin}, or set MEDIA_API_KEY.`,
      },
    );
  }
  if (settings.baseUrl === undefined && settings.key === undefined) {
    return new MediaError(
      'no_key',
      `Nothing is configured yet: profile ${profileName} has no base URL and no API key.`,
      {hint},
    );
  }
  return settings.baseUrl === undefined
    ? new MediaError('no_key', 'There is an API key but no base URL to send it to.', {
        hint: 'Name the service with --base-url URL or MEDIA_BASE_URL.',
      })
    : new MediaError(
        'no_key',
        `There is no API key for ${settings.baseUrl.kind === 'service' ? settings.baseUrl.url.origin : ''}.`,
        {
          hint: 'Run media login, or set MEDIA_API_KEY.',
        },
      );
}

/** An aborting signal for requests that a person waits for. */
export function within(invocation: Invocation, ms: number): {signal: AbortSignal; cancel: () => void} {
  const controller = new AbortController();
  const cancel = invocation.host.clock.after(ms, () => controller.abort(new Error('timeout')));
  return {signal: controller.signal, cancel};
}
