import type {ServiceOptions} from '../../embedded/service.ts';
import type {ConnectionOptions} from '../../engine/http/http.ts';
import {
  graphqlUrl,
  type ServiceAddress,
  ServiceClient,
  serviceIdentity,
} from '../../engine/service/client.ts';
import type {StopSignal} from '../../host.ts';
import {Secret} from '../../lib/secrets/secret.ts';
import {unlessStopped} from '../../lib/stop.ts';
import {asMediaError} from '../output/report.ts';
import {dataDirectory} from '../settings/paths.ts';
import {speedSettings} from '../settings/profile.ts';
import {resolveSettings, type Settings} from '../settings/settings.ts';
import type {Invocation} from './invocation.ts';

/** A client for the configured service. */
export interface Session {
  client: ServiceClient;
  /** The service's host and port, for messages. */
  hostName: string;
  /** How a journal identifies the service: its base URL, or the identity of the embedded service. */
  identity: string;
  /** Asks the service whose key is used; undefined if it does not say. */
  identifyAccount?(stop: StopSignal): Promise<string | undefined>;
  settings: Settings;
  /** Closes all connections, and the embedded service. */
  close(): Promise<void>;
}

/** Opens a session with the configured service; rejects with `no_key`, or with the reason of `stop`. */
export async function openSession(invocation: Invocation, stop?: StopSignal): Promise<Session> {
  return openSessionFor(await resolveSettings(invocation.host, invocation.globals, {stop}), invocation);
}

/** Opens a session with settings that are already resolved. */
export async function openSessionFor(settings: Settings, invocation: Invocation): Promise<Session> {
  if (settings.baseUrl === 'embedded') return openEmbedded(invocation, settings);
  if (settings.baseUrl === undefined || settings.key === undefined) {
    const {missingSettings} = await import('../hints/key-hints.ts');
    throw missingSettings(settings);
  }
  const address: ServiceAddress = {baseUrl: settings.baseUrl, graphqlUrl: settings.graphqlUrl};
  const client = newClient(invocation, address, settings.key.secret, settings);
  return {
    client,
    hostName: address.baseUrl.host,
    identity: serviceIdentity(address.baseUrl),
    async identifyAccount(stop) {
      const {accountOfKey} = await import('../../engine/service/key-identity.ts');
      const account = withTimeout(invocation, 30_000, signal => accountOfKey(client, signal));
      return unlessStopped(account, stop);
    },
    settings,
    close: () => client.close(),
  };
}

/** Calls `use` with a session, and closes the session afterwards, also after a failure. */
export async function withSession<Result>(
  session: Session,
  use: (session: Session) => Promise<Result>,
): Promise<Result> {
  return use(session).finally(() => session.close());
}

/** Rejects if there is no key, or a setting cannot be used: before a long run, not at its first file. */
export async function checkSettings(invocation: Invocation): Promise<void> {
  await withSession(await openSession(invocation), ({settings}) => speedSettings(settings));
}

/** The options of every connection of this run. */
export function connectionOptions({host}: Invocation, {connection}: Settings): ConnectionOptions {
  return {clock: host.clock, env: host.env, ...connection};
}

/** Makes a client for a service and a key; with --verbose, reports the address and each request. */
function newClient(
  invocation: Invocation,
  address: ServiceAddress,
  key: Secret,
  settings: Settings,
): ServiceClient {
  const {report} = invocation;
  report.trace(`service ${address.baseUrl.href}, GraphQL at ${graphqlUrl(address).href}`);
  return new ServiceClient(address, key, {
    ...connectionOptions(invocation, settings),
    trace: report.level === 'verbose' ? message => report.trace(message) : undefined,
  });
}

/** Starts the embedded service in this process, with a key that is not kept; close() of the session ends it. */
async function openEmbedded(invocation: Invocation, settings: Settings): Promise<Session> {
  const {defaultPort, describeServiceError, startEmbedded} = await import('./start-embedded.ts');
  const options: ServiceOptions = {
    dataDirectory: dataDirectory(invocation.host),
    publicUrl: `http://127.0.0.1:${defaultPort}`,
    clock: invocation.host.clock,
    onError: error => invocation.report.failure(asMediaError(describeServiceError(error, options))),
  };
  const {service, key} = await startEmbedded(options, {label: 'embedded', persist: false});
  const address = {baseUrl: new URL(service.url), isEmbedded: true};
  const client = newClient(invocation, address, new Secret(key), settings);
  return {
    client,
    hostName: 'the embedded service',
    identity: `embedded:${service.identity}`,
    settings,
    async close() {
      await client.close();
      await service.close();
    },
  };
}

/** Aborts the signal of `ask` after `ms`, then still waits for `ask`, which decides what a timeout means. */
export async function withTimeout<Result>(
  {host}: Invocation,
  ms: number,
  ask: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const cancel = host.clock.after(ms, () => controller.abort(new Error('timeout')));
  return ask(controller.signal).finally(cancel);
}
