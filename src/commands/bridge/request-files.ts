import {createWriteStream} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import type {IncomingMessage} from 'node:http';
import {join} from 'node:path';
import {pipeline} from 'node:stream/promises';
import {parseObject} from '../../lib/json.ts';
import {isString, listOf} from '../../lib/shape.ts';
import {isOutOfSpace} from '../../lib/system-code.ts';
import {Disk} from '../../sources/open/disk.ts';
import {sourceAt} from '../../sources/open/file.ts';
import type {Source} from '../../sources/open/source.ts';
import {readablePath} from './readable-paths.ts';
import {BridgeRefusal} from './refusal.ts';

/** The files of a request, in its order. */
export interface RequestFiles {
  sources: Source[];
  /** Removes what the request sent, if it sent files. */
  remove(): Promise<void>;
}

export interface ReadRules {
  /** The directories that paths may lead to; none: anywhere. */
  roots: readonly string[];
  temporaryDirectory: string;
}

/** The most bytes of a list of paths. */
const longestList = 1024 * 1024;

const isPaths = listOf(isString);

/** Reads the files that a request names as JSON or sends as a form; throws a refusal if one of them cannot be uploaded. */
export async function requestFiles(request: IncomingMessage, rules: ReadRules): Promise<RequestFiles> {
  const isForm = /^multipart\/form-data\b/i.test(request.headers['content-type'] ?? '');
  const files = isForm ? await sentFiles(request, rules) : await namedFiles(request, rules);
  if (files.sources.length > 0) return files;
  await files.remove();
  throw new BridgeRefusal(
    400,
    'The request names no file. The clipboard cannot be uploaded: save the picture as a file first.',
  );
}

async function namedFiles(request: IncomingMessage, {roots}: ReadRules): Promise<RequestFiles> {
  const text = await textOf(request);
  const list = text.trim() === '' ? [] : (parseObject(text)?.['list'] ?? undefined);
  if (!isPaths(list))
    throw new BridgeRefusal(400, 'The body must be JSON like {"list": ["/path/to/photo.png"]}.');
  const disk = new Disk();
  const sources: Source[] = [];
  // All are checked before anything is sent.
  for (const named of list) sources.push(sourceAt(disk, named, await readablePath(named, roots), false));
  return {sources, remove: async () => {}};
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) {
    text += chunk;
    if (text.length > longestList)
      throw new BridgeRefusal(413, `The list may have at most ${longestList} bytes.`);
  }
  return text;
}

/** Writes the files of a form to a temporary directory, since Content-Length must be known before the first byte is sent. */
async function sentFiles(request: IncomingMessage, {temporaryDirectory}: ReadRules): Promise<RequestFiles> {
  const directory = await mkdtemp(join(temporaryDirectory, 'media-bridge-'));
  const remove = () => rm(directory, {recursive: true, force: true});
  try {
    const {Busboy} = await import('@fastify/busboy');
    const disk = new Disk();
    const sources: Source[] = [];
    const written: Promise<void>[] = [];
    const form = new Busboy({
      headers: {...request.headers, 'content-type': request.headers['content-type'] ?? ''},
    });
    form.on('file', (_field, stream, name) => {
      const path = join(directory, String(sources.length));
      sources.push(sourceAt(disk, name || 'picture', path, true));
      const writing = pipeline(stream, createWriteStream(path, {mode: 0o600}));
      writing.catch(error => form.destroy(error));
      written.push(writing);
    });
    await pipeline(request, form);
    await Promise.all(written);
    return {sources, remove};
  } catch (cause) {
    await remove();
    if (isOutOfSpace(cause))
      throw new BridgeRefusal(500, `The disk of ${temporaryDirectory} is full.`, {cause});
    throw new BridgeRefusal(400, 'The body is not a complete form (multipart/form-data).', {cause});
  }
}
