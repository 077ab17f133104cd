import type {HttpAnswer} from './message.ts';

/**
 * The response with its body decoded (gzip, deflate, br), although no coding was requested. If it is longer than
 * `maxBytes` when decoded, it counts as truncated; a body that cannot be decoded stays as it is.
 */
export async function withoutContentCoding(answer: HttpAnswer, maxBytes: number): Promise<HttpAnswer> {
  const codings = (answer.headers['content-encoding'] ?? '')
    .split(',')
    .map(name => name.trim().toLowerCase());
  let {body} = answer;
  try {
    for (const coding of codings.reverse()) body = await decoded(coding, body, maxBytes);
  } catch (error) {
    const isTooLong = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLong ? {...answer, body: Buffer.alloc(0), truncated: true} : answer;
  }
  return {...answer, body};
}

async function decoded(coding: string, body: Buffer, maxOutputLength: number): Promise<Buffer> {
  // Loaded on first use, since few services need it.
  const {brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync} = await import('node:zlib');
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(body, {maxOutputLength});
    case 'br':
      return brotliDecompressSync(body, {maxOutputLength});
    case 'deflate':
      // Some servers send zlib's format, as RFC 9110 requires, others raw deflate.
      return ((body[0] ?? 0) & 0x0f) === 8
        ? inflateSync(body, {maxOutputLength})
        : inflateRawSync(body, {maxOutputLength});
    default:
      return body;
  }
}
