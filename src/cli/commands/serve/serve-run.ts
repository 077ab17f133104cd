import {join} from 'node:path';
import type {EmbeddedService, RequestEntry, ServiceOptions} from '../../../embedded/service.ts';
import {MediaError, throwAs} from '../../../errors.ts';
import type {Clock, Host, StopSignal} from '../../../host.ts';
import {resolveUserPath} from '../../../lib/files/typed-path.ts';
import {own} from '../../../lib/object.ts';
import {Stop} from '../../../lib/stop.ts';
import {countText} from '../../../lib/units.ts';
import {asMediaError, type Report} from '../../output/report.ts';
import {type ExitStatus, endSignal, type Invocation} from '../../session/invocation.ts';
import {describeServiceError, startEmbedded} from '../../session/start-embedded.ts';
import {parseProfileName} from '../../settings/parse.ts';
import {dataDirectory} from '../../settings/paths.ts';
import {originOf} from '../../settings/profile.ts';
import {readProfiles, updateProfiles} from '../../settings/store.ts';
import {type ServeOptions, type ServeSettings, serveSettings} from './serve-settings.ts';

/** Serves until SIGINT, SIGTERM or SIGHUP; prints the URL and a new key, and revokes the earlier one. */
export async function runServe(options: ServeOptions, invocation: Invocation): Promise<ExitStatus> {
  const {host, stdout, report, globals} = invocation;
  if (globals.baseUrl !== undefined)
    throw new MediaError('usage', 'media serve takes no --base-url.', {
      hint: 'It is the service itself: use --host and --port for where it listens, and --public-url for the URLs in records.',
    });
  const settings = await serveSettings(options, host);
  const signal = endSignal(invocation);
  const stop = new Stop<MediaError>();
  void signal.received.then(() => stop.abort(new MediaError('interrupted', 'The start was stopped.')));
  const directory = await dataDirectoryFor(settings, host);
  let stopLinks = () => {};
  try {
    const {service, key} = await start(settings, directory, stop, invocation);
    try {
      await stdout.write(variablesText(service, settings.service.fixedKey === undefined ? key : undefined));
      // Nobody would know the key.
      if (stdout.failure !== undefined) throw stdout.failure;
      report.note(`Serving ${service.url} from ${directory}. Press Ctrl-C to stop.`);
      reportLeftBehind(service, join(directory, 'lost'), report);
      stopLinks = printLinks(service, invocation);
      // Only a profile that was named gets the URL of a service that is soon gone.
      if (!options.ephemeral || globals.profile !== undefined) await storeProfileUrl(service.url, invocation);
      return await signal.received;
    } finally {
      stopLinks();
      await service.close();
    }
  } catch (error) {
    // A signal that comes during the start ends it with this error.
    if (!stop.aborted || error !== stop.reason) throw error;
    return signal.received;
  } finally {
    if (options.ephemeral)
      await host.files
        .rm(directory, {recursive: true, force: true})
        .catch(throwAs('local_failure', `${directory} cannot be removed`));
    signal.ignore();
  }
}

/** Prints a link to the pages, and another at each SIGUSR2 until the returned function is called. */
function printLinks(service: EmbeddedService, {host, report}: Invocation): () => void {
  const another = host.platform === 'win32' ? '' : `; for another: kill -USR2 ${host.processId()}`;
  const print = (url: string) =>
    report.event(`To manage API keys and see uploads, open ${url} (this link works once${another}).`, {
      signIn: {url},
    });
  const stop = host.onStatusSignal(() => print(service.signInUrl()));
  print(service.signInUrl());
  return stop;
}

/** What a client needs, one variable per line. A key that the owner chose is a secret, which logs should not show. */
function variablesText({url, faultControl}: EmbeddedService, key: string | undefined): string {
  const lines = [`MEDIA_BASE_URL=${url}`];
  if (key !== undefined) lines.push(`MEDIA_API_KEY=${key}`);
  if (faultControl !== undefined)
    lines.push(
      `MEDIA_FAULTS_URL=${faultControl.url}`,
      `MEDIA_RESET_URL=${new URL('/state/reset', faultControl.url)}`,
      `MEDIA_FAULTS_KEY=${faultControl.key}`,
    );
  return lines.map(line => `${line}\n`).join('');
}

/** Reports what earlier services left unfinished. */
function reportLeftBehind({leftBehind}: EmbeddedService, lostDirectory: string, report: Report): void {
  const {temporary, lost} = leftBehind;
  if (temporary > 0) report.note(`Removed after an earlier run: ${countText(temporary, 'temporary file')}.`);
  if (lost.length > 0)
    report.warning(
      `${countText(lost.length, 'upload')} without a record, moved to ${lostDirectory}. Delete them, or restore their records from a backup and move them back.`,
    );
}

/** The directory for uploads; with --ephemeral a new one, which `runServe` removes at its end. */
async function dataDirectoryFor({ephemeral, dataDir}: ServeSettings, host: Host): Promise<string> {
  if (ephemeral) {
    const parent = host.temporaryDirectory();
    const hint = 'Set TMPDIR to a directory that can be written to.';
    return host.files
      .mkdtemp(join(parent, 'media-serve-'))
      .catch(throwAs('local_failure', `No directory can be made in ${parent}`, hint));
  }
  return dataDir === undefined ? dataDirectory(host) : resolveUserPath(host.cwd(), dataDir);
}

/** Starts the service with a new key, and revokes the key of an earlier start. */
async function start(settings: ServeSettings, directory: string, signal: StopSignal, invocation: Invocation) {
  const {report} = invocation;
  const {clock} = invocation.host;
  const {seed, keepsUsedKeys} = settings;
  const options: ServiceOptions = {
    ...settings.service,
    ...(seed !== undefined && {seed: (await import('./seed.ts')).seedFiles(seed, directory, invocation)}),
    dataDirectory: directory,
    exclusive: true,
    metrics: true,
    previews: true,
    clock,
    signal,
    onWait: why => report.note(why),
    onRequest: entry => logRequest(entry, clock, report),
    onError: error => report.failure(asMediaError(describeServiceError(error, options))),
  };
  return startEmbedded(options, {label: 'serve', persist: true, keepsUsedKeys});
}

/** Logs a request that has ended, as text or as JSON. A status of 0 means that a fault prevented any response. */
function logRequest({elapsedMs: exactMs, ...request}: RequestEntry, clock: Clock, report: Report): void {
  const {method, path, status, bytes, faults = []} = request;
  const elapsedMs = Math.round(exactMs);
  const result = status === 0 ? 'no response' : String(status);
  const cause = faults.map(fault => `, fault ${fault}`).join('');
  const time = new Date(clock.now()).toISOString();
  report.event(`${method} ${path} ${result} ${bytes} B ${elapsedMs} ms${cause}`, {
    request: {time, ...request, elapsedMs},
  });
}

/**
 * Stores the URL of the service's profile page, so that `media login` and errors of refused keys can name it: in the
 * profile that was chosen with `--profile`, together with the base URL, or else in the default profile if that uses
 * this service already. A profile of another service stays as it is.
 */
async function storeProfileUrl(url: string, {host, globals, report}: Invocation): Promise<void> {
  const profileName = globals.profile ?? (host.env['MEDIA_PROFILE'] || undefined);
  const name = parseProfileName(profileName ?? 'default');
  const page = `${url}/profile`;
  try {
    const profile = own(await readProfiles(host), name) ?? {};
    const owner = originOf(profile) ?? profile['key-origin'] ?? profile['base-url'];
    if (owner !== url && (owner !== undefined || profileName === undefined)) {
      if (profileName !== undefined) report.note(`Profile ${name} belongs to ${owner} and was not changed.`);
      return;
    }
    if (profile['profile-url'] !== page)
      await updateProfiles(host, profiles => {
        profiles[name] = {'base-url': url, ...own(profiles, name), 'profile-url': page};
      });
  } catch (error) {
    // Without a chosen profile, unusable settings are no reason to fail.
    if (profileName !== undefined || !(error instanceof MediaError)) throw error;
  }
  if (profileName !== undefined) report.note(`To store an API key for it: media login --profile ${name}`);
}
