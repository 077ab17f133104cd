import {expect} from 'vitest';
import type {MediaRecord} from '../../src/engine/service/record.ts';

/** Fetches every URL of a record: each answers 200 with its type, and so do the playlists and segments that a stream names. */
export async function expectLiveUrls(
  {fileUrl, thumbnailUrl, hlsUrl, urls}: MediaRecord,
  contentType: string,
): Promise<void> {
  for (const url of new Set([fileUrl, ...(urls ?? []).map(one => one.url)]))
    await expectType(url, contentType);
  if (thumbnailUrl) await expectType(thumbnailUrl, 'image/webp');
  if (hlsUrl) expect(await seconds(hlsUrl)).toBeGreaterThan(0);
}

async function expectType(
  url: string | null | undefined,
  contentType: string,
  headers = {},
): Promise<string> {
  const response = await fetch(url ?? '', {headers});
  const status = 'Range' in headers ? 206 : 200;
  expect({url, status: response.status, type: response.headers.get('content-type')}).toEqual({
    url,
    status,
    type: contentType,
  });
  return response.text();
}

/** The length of a stream, as its playlists say. */
async function seconds(url: string): Promise<number> {
  const text = await expectType(url, 'application/vnd.apple.mpegurl');
  // For players that are scripts of other sites.
  expect((await fetch(url, {method: 'HEAD'})).headers.get('access-control-allow-origin')).toBe('*');
  expect(text).toMatch(/^#EXTM3U\n/);
  const variants = text.split('\n').filter(line => line.endsWith('.m3u8'));
  let total = 0;
  for (const variant of variants) total += await seconds(new URL(variant, url).href);
  const target = Number(/^#EXT-X-TARGETDURATION:(\d+)$/m.exec(text)?.[1]);
  const [map, name, length, start] = /^#EXT-X-MAP:URI="([^"]+)",BYTERANGE="(\d+)@(\d+)"$/m.exec(text) ?? [];
  if (map !== undefined) await expectRange(new URL(name ?? '', url).href, Number(start), Number(length));
  const segments = text.matchAll(/^#EXTINF:([\d.]+),.*\n#EXT-X-BYTERANGE:(\d+)@(\d+)\n(.+)$/gm);
  for (const [, duration, bytes, at, file] of segments) {
    // RFC 8216, 4.3.3.1.
    expect(Math.round(Number(duration))).toBeLessThanOrEqual(target);
    await expectRange(new URL(file ?? '', url).href, Number(at), Number(bytes));
    total += Number(duration);
  }
  return total;
}

async function expectRange(url: string, start: number, length: number): Promise<void> {
  const headers = {Range: `bytes=${start}-${start + length - 1}`};
  const response = await fetch(url, {headers});
  expect({status: response.status, type: response.headers.get('content-type')}).toEqual({
    status: 206,
    type: 'video/mp4',
  });
  expect((await response.arrayBuffer()).byteLength).toBe(length);
}
