import {createHash} from 'node:crypto';
import {existsSync} from 'node:fs';
import {mkdir, readFile, rename, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {MediaError, throwAs} from '../../src/errors.ts';

/** A release takes minutes at most, also over a slow line. */
const patienceMs = 300_000;
const mostTries = 3;

/** Which release the executable is from, as the inputs say. */
export interface ReleaseChoice {
  /** The directory with its files; empty for the release of this version where the action is from. */
  release: string;
  /** The expected SHA-256 checksum of the .gz in hexadecimal digits; empty if only SHA256SUMS counts. */
  checksum: string;
}

/**
 * Downloads the executable of a release, unless an earlier step of the job did, and resolves to its path. Rejects with a
 * MediaError if it is not the file that SHA256SUMS and the input name.
 */
export async function releasedExecutable(choice: ReleaseChoice, env: NodeJS.ProcessEnv): Promise<string> {
  const release = await releaseUrl(choice.release, env);
  const name = `media-${platform()}.gz`;
  const sums = (await download(`${release}/SHA256SUMS`)).toString();
  const listed = sums
    .split('\n')
    .find(line => line.endsWith(`  ${name}`))
    ?.split(' ')[0];
  if (listed === undefined) throw problem(`${release}/SHA256SUMS does not name ${name}.`);
  if (choice.checksum !== '' && choice.checksum.toLowerCase() !== listed)
    throw problem(`The input checksum is not that of ${name} in ${release}/SHA256SUMS, ${listed}.`);
  const directory = join(env['RUNNER_TEMP'] || '.', `media-${listed}`);
  const path = join(directory, process.platform === 'win32' ? 'media.exe' : 'media');
  if (existsSync(path)) return path;
  const archive = await download(`${release}/${name}`);
  if (createHash('sha256').update(archive).digest('hex') !== listed)
    throw problem(`${release}/${name} is not the file that SHA256SUMS names: it was changed or cut off.`);
  const cannotStore = throwAs('local_failure', `${path} could not be written`, 'Check RUNNER_TEMP.');
  await store(gunzipSync(archive), directory, path).catch(cannotStore);
  return path;
}

async function store(executable: Buffer, directory: string, path: string): Promise<void> {
  await mkdir(directory, {recursive: true});
  await writeFile(`${path}.new`, executable, {mode: 0o755});
  await rename(`${path}.new`, path);
}

async function releaseUrl(chosen: string, env: NodeJS.ProcessEnv): Promise<string> {
  const {GITHUB_SERVER_URL: server, GITHUB_ACTION_REPOSITORY: repository} = env;
  if (chosen === '' && (!server || !repository))
    throw new MediaError('usage', 'The input release is missing.', {
      hint: 'An action from a directory does not know where it is from: name the address of a release.',
    });
  const {version} = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  const url = chosen.replace(/\/+$/, '') || `${server}/${repository}/releases/download/v${version}`;
  if (!/^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost):\d+(?:\/|$))/.test(url))
    throw new MediaError('usage', `The input release is "${url}".`, {hint: 'Use an https:// address.'});
  return url;
}

function platform(): string {
  const system = {linux: 'linux', darwin: 'darwin', win32: 'win'}[process.platform as string];
  const {header} = process.report.getReport() as {header: {glibcVersionRuntime?: string}};
  const isMusl = process.platform === 'linux' && header.glibcVersionRuntime === undefined;
  const name = `${system}-${process.arch}`;
  if (!isMusl && ['linux-x64', 'linux-arm64', 'darwin-arm64', 'win-x64'].includes(name)) return name;
  const where = isMusl ? `${name} with musl` : `${process.platform}-${process.arch}`;
  throw new MediaError('usage', `There is no executable for ${where}.`, {
    hint: 'Install the package with Node.js in a step of your own: docs/install.md.',
  });
}

async function download(url: string): Promise<Buffer> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await attempt(url);
    if (typeof outcome !== 'string') return outcome;
    if (tries === mostTries || outcome.startsWith('status 4'))
      throw problem(`${url} could not be downloaded: ${outcome}.`);
  }
}

/** The content, or why there is none. */
async function attempt(url: string): Promise<Buffer | string> {
  try {
    const response = await fetch(url, {signal: AbortSignal.timeout(patienceMs)});
    if (!response.ok) return `status ${response.status}`;
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    const {cause, message} = error as Error;
    return cause instanceof Error ? cause.message : message;
  }
}

function problem(message: string): MediaError {
  return new MediaError('connection_lost', message, {
    hint: 'Check the inputs release and checksum; docs/verify.md says how to check a release.',
  });
}
