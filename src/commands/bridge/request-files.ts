import {createWriteStream} from 'node:fs';
import {mkdtemp, realpath, rm, stat} from 'node:fs/promises';
import type {IncomingHttpHeaders} from 'node:http';
import {isAbsolute, join} from 'node:path';
import {pipeline} from 'node:stream/promises';
import {readBody, receiveBody} from '../../embedded/exchange/body.ts';
import type {Exchange} from '../../embedded/exchange/exchange.ts';
import {Refusal} from '../../embedded/exchange/refusal.ts';
import {MediaError, throwAs} from '../../errors.ts';
import {isBelow, pathOfFileUrl, resolveUserPath} from '../../lib/files/typed-path.ts';
import {listOf, matching, parseObject} from '../../lib/json.ts';
import {isOutOfSpace, systemReason, undefinedIfThrows} from '../../lib/system-code.ts';
import {type ClipboardContent, pictureSource} from '../../sources/clipboard/clipboard.ts';
import {Disk} from '../../sources/open/disk.ts';
import {checkedSourceAt, sourceAt} from '../../sources/open/file.ts';
import type {Source} from '../../sources/open/source.ts';

export interface ReadRules {
  /** The directories that paths may lead to; none: anywhere. */
  roots: readonly string[];
  temporaryDirectory: string;
  /** Reads the clipboard, which a request without files stands for. */
  readClipboard: () => Promise<ClipboardContent>;
}

/** The most bytes of a list of paths. */
const longestList = 1024 * 1024;

const isPaths = listOf(matching(/./s));

/** Whether a request sends files itself. */
export function isForm({'content-type': type = ''}: IncomingHttpHeaders): boolean {
  return /^multipart\/form-data\b/i.test(type);
}

/** Reads the files of a request, as JSON or a form, in order; without either, the clipboard. `remove` removes them. */
export function requestFiles(exchange: Exchange, rules: ReadRules) {
  return isForm(exchange.request.headers) ? sentFiles(exchange, rules) : namedFiles(exchange, rules);
}

async function namedFiles(exchange: Exchange, rules: ReadRules) {
  const text = await readBody(exchange, longestList);
  const body = text.trim() === '' ? {} : parseObject(text);
  const list = body === undefined ? undefined : (body['list'] ?? []);
  if (!isPaths(list)) throw new Refusal(400, 'The body must be JSON like {"list": ["/path/to/photo.png"]}.');
  const sources = await (list.length > 0 ? sourcesAt(list, rules) : clipboardSources(rules));
  return {sources, remove: async () => {}};
}

/** All are checked before anything is sent. */
async function sourcesAt(paths: readonly string[], {roots}: ReadRules): Promise<Source[]> {
  const disk = new Disk();
  const sources: Source[] = [];
  const source = roots.length > 0 ? checkedSourceAt : sourceAt;
  for (const path of paths) sources.push(source(disk, path, await readablePath(path, roots)));
  return sources;
}

async function clipboardSources(rules: ReadRules): Promise<Source[]> {
  const content = await rules.readClipboard();
  if ('files' in content) return sourcesAt(content.files, rules);
  return [pictureSource(content, rules.temporaryDirectory)];
}

/** Writes the files of a form to a temporary directory: Content-Length must be known before the first byte. */
async function sentFiles(exchange: Exchange, {temporaryDirectory}: ReadRules) {
  const directory = await mkdtemp(join(temporaryDirectory, 'media-bridge-'));
  const remove = () => rm(directory, {recursive: true, force: true});
  const writes: Promise<void>[] = [];
  const broken = new AbortController();
  const empty = new Refusal(400, 'The form contains no file.');
  try {
    const {Busboy} = await import('@fastify/busboy');
    const disk = new Disk();
    const sources: Source[] = [];
    const {headers} = exchange.request;
    const form = new Busboy({headers: {...headers, 'content-type': headers['content-type'] ?? ''}});
    form.on('file', (_field, stream, name) => {
      const path = join(directory, String(sources.length));
      sources.push(sourceAt(disk, name || 'picture', path, true));
      const writing = pipeline(stream, createWriteStream(path, {mode: 0o600}), broken);
      writing.catch(error => form.destroy(error));
      writes.push(writing);
    });
    await receiveBody(exchange, form);
    await Promise.all(writes);
    if (sources.length === 0) throw empty;
    return {sources, remove};
  } catch (cause) {
    // A form that breaks off never ends its files.
    broken.abort();
    await Promise.allSettled(writes);
    await remove();
    if (cause === empty) throw cause;
    if (isOutOfSpace(cause)) throw new Refusal(500, `The disk of ${temporaryDirectory} is full.`);
    throw new Refusal(400, 'The body is not a complete form (multipart/form-data).');
  }
}

/** The real paths of the directories that files may be read from; rejects if one is not a directory. */
export function realRoots(roots: readonly string[], cwd: string): Promise<string[]> {
  return Promise.all(
    roots.map(async root => {
      const path = await realpath(resolveUserPath(cwd, root)).catch(
        throwAs('file_missing', `${root} could not be found`, 'Name an existing directory with --root.'),
      );
      if ((await stat(path)).isDirectory()) return path;
      throw new MediaError('usage', `${root} is not a directory.`, {hint: 'Name a directory with --root.'});
    }),
  );
}

/** The real path of a file that a request names; throws a refusal if there are roots and none contains it. */
export async function readablePath(name: string, roots: readonly string[]): Promise<string> {
  const path = undefinedIfThrows(() => pathOfFileUrl(name));
  if (path === undefined) throw new Refusal(400, `${name} is not the URL of a local file.`);
  // Obsidian's plugin drops the first slash of absolute paths; PicGo runs in the root directory, and never notices.
  if (!isAbsolute(path))
    return readablePath(`/${name}`, roots).catch(() => {
      throw new Refusal(400, `${name} is not the absolute path of a file.`);
    });
  const real = await realpath(path).catch(cause => {
    if (roots.length === 0) throw new Refusal(400, `${name} could not be read: ${systemReason(cause)}.`);
  });
  if (real !== undefined && (roots.length === 0 || roots.some(root => isBelow(real, root)))) return real;
  // The message must not tell whether a file outside the roots exists.
  throw new Refusal(400, `${name} could not be read: it does not exist, or it is outside --root.`);
}
