import type {HttpAnswer} from './message.ts';

/**
 * The answer with its body decoded (gzip, deflate, br), though none was asked for. Longer than `maxBytes` when decoded counts
 * as truncated; a body that cannot be decoded stays as it is.
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
  // Loaded at the first use: hardly a service needs it.
  const {brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync} = await import('node:zlib');
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(body, {maxOutputLength});
    case 'br':
      return brotliDecompressSync(body, {maxOutputLength});
    case 'deflate':
      // Some send what RFC 9110 says, zlib's format, others the bare one.
      return ((body[0] ?? 0) & 0x0f) === 8
        ? inflateSync(body, {maxOutputLength})
        : inflateRawSync(body, {maxOutputLength});
    default:
      return body;
  }
}
