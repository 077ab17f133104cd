import {createReadStream} from 'node:fs';

/** The most bytes of a query, a certificate, a list of IDs: far more than any has. */
const longestText = 16 * 1024 ** 2;

/** Reads a file to its end as UTF-8; rejects with the system's error, or if it is too long, as a device may be. */
export function readText(path: string): Promise<string> {
  return textOf(createReadStream(path));
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
  return Buffer.concat(chunks).toString();
}
