import type {Readable} from 'node:stream';
import {constants, type FileSystem} from './file-system.ts';

/** The most bytes of a query, a certificate, a list of IDs: far more than any has. */
const longestText = 16 * 1024 ** 2;

/** Reads a file to its end as UTF-8; rejects with the system's error, or if it is too long, as a device may be. */
export async function readText(path: string, files: FileSystem): Promise<string> {
  return textOf(await openStream(path, files));
}

/** Opens a file for reading without waiting for the writer of a FIFO, which would keep the process from ending. */
export async function openStream(path: string, files: FileSystem): Promise<Readable> {
  if (!(await files.stat(path)).isFIFO()) return (await files.open(path)).createReadStream();
  const {Socket} = await import('node:net');
  return new Socket({fd: files.openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), writable: false});
}

/** Reads a stream to its end as UTF-8; rejects with `tooLong`, and reads no further, after `most` bytes. */
export async function textOf(
  stream: AsyncIterable<string | Uint8Array>,
  most = longestText,
  tooLong = new Error(`it is longer than ${most / 1024 ** 2} MiB`),
): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk));
    length += chunk.length;
    if (length > most) throw tooLong;
  }
  return utf8Text(Buffer.concat(chunks));
}

/** Text without the byte order mark that tools of Windows begin it with. */
export function utf8Text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
