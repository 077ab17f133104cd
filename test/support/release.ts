import {createHash} from 'node:crypto';
import {createServer} from 'node:http';
import {gzipSync} from 'node:zlib';
import {listen, urlOf} from './loopback.ts';

/** The name of the executable for this machine in a release. */
export const archive = `media-${process.platform}-${process.arch}.gz`;

/** A release on loopback. Tests change `files` to break it. */
export interface Release {
  url: string;
  files: Map<string, Buffer>;
  /** The paths that were asked for. */
  asked: string[];
}

/** Serves a release whose executable is this script, until the test ends. */
export async function servedRelease(script: string): Promise<Release> {
  const files = new Map<string, Buffer>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const content = files.get(request.url?.slice(1) ?? '');
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  await listen(server);
  const release = {url: urlOf(server), files, asked};
  publish(release, script);
  return release;
}

/** Replaces the files of a release by those of another version. */
export function publish({files}: Release, script: string): void {
  const content = gzipSync(script);
  files.set(archive, content);
  files.set('SHA256SUMS', Buffer.from(`${sha256(content)}  ${archive}\n${sha256(Buffer.from(''))}  other\n`));
}

export function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
