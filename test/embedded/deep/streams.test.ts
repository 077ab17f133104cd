import {readdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {describe, expect, it} from 'vitest';
import {commitUpload, writeUpload} from '../../../src/embedded/api/upload-route.ts';
import {Store} from '../../../src/embedded/state/data-store.ts';
import {Resets} from '../../../src/embedded/state/resets.ts';
import type {MediaRecord} from '../../../src/engine/service/record.ts';
import {systemClock} from '../../../src/host.ts';
import {makeStream} from '../../../src/media/pixels/media.ts';
import {needPrograms} from '../../support/installed.ts';
import {slowTest} from '../../support/patience.ts';
import {expectLiveUrls} from '../record-urls.ts';
import {fixture, namesIn, query, serviceWithKey, temporaryDirectory, upload} from '../support.ts';

/** A service that makes previews, and what it returns for a body. */
async function previewing() {
  const started = await serviceWithKey({previews: true});
  const send = async (body: Buffer<ArrayBuffer>, contentType: string): Promise<MediaRecord> => {
    const response = await upload(started.service, started.key, body, {'Content-Type': contentType});
    expect(response.status).toBe(200);
    return (await response.json()) as MediaRecord;
  };
  return {...started, send};
}

const files = [
  ['clip.mp4', 'video/mp4', true],
  ['clip.mov', 'video/quicktime', true],
  ['clip.m4v', 'video/x-m4v', true],
  ['clip.mkv', 'video/matroska', true],
  ['clip.m2ts', 'video/mp2t', true],
  ['fragmented.mp4', 'video/mp4', true],
  ['clip.webm', 'video/webm', true],
  ['clip.3gp', 'video/3gpp', false],
  ['clip.avi', 'video/x-msvideo', false],
  ['clip.mpg', 'video/mpeg', false],
  ['clip.ogv', 'video/ogg', false],
  ['clip.wmv', 'video/x-ms-wmv', false],
  ['audio-only.mp4', 'video/mp4', false],
  ['audio-only.mkv', 'video/matroska', false],
  ['subtitles-only.mkv', 'video/matroska', false],
  ['truncated.mp4', 'video/mp4', false],
  ['song-named.mp4', 'video/mp4', false],
  ['photo.png', 'image/png', false],
  ['photo.jpg', 'image/jpeg', false],
  ['photo.gif', 'image/gif', false],
  ['photo.webp', 'image/webp', false],
  ['photo.avif', 'image/avif', false],
  ['photo.heic', 'image/heic', false],
  ['photo.tiff', 'image/tiff', false],
  ['photo.bmp', 'image/bmp', false],
  ['photo.svg', 'image/svg+xml', false],
  ['favicon.ico', 'image/x-icon', false],
  ['animated.gif', 'image/gif', false],
  ['truncated.png', 'image/png', false],
  ['unrecognised.png', 'image/png', false],
  ['clip.mp4', 'image/png', false],
  ['photo.png', 'video/mp4', false],
] as const;

describe('the playlist of a video', () => {
  it(
    'all fixtures: every URL in a record responds at once; what fragmented MP4 can carry has a playlist',
    slowTest,
    async () => {
      const {send, dataDirectory} = await previewing();
      const streamed: [string, string, boolean][] = [];
      for (const [name, contentType] of files) {
        const record = await send(await fixture(name), contentType);
        await expectLiveUrls(record, contentType);
        streamed.push([name, contentType, record.hlsUrl !== undefined]);
      }
      expect(streamed).toEqual(files);
      expect(await namesIn(dataDirectory, 'temporary')).toEqual([]);
      expect((await namesIn(dataDirectory, 'streams')).length).toBe(files.filter(([, , has]) => has).length);
    },
  );

  it(
    'ffprobe reads the same pictures and sounds from it as from the file; segments of six seconds',
    slowTest,
    async context => {
      needPrograms(context, ['ffmpeg']);
      const {send} = await previewing();
      const directory = await temporaryDirectory();
      const path = join(directory, 'long.mp4');
      const sources = ['testsrc=size=64x36:rate=10:duration=20', 'sine=duration=20'].flatMap(source => [
        '-f',
        'lavfi',
        '-i',
        source,
      ]);
      await execa('ffmpeg', ['-v', 'error', ...sources, '-g', '25', '-c:v', 'libx264', '-c:a', 'aac', path]);
      const record = await send(Buffer.from(await readFile(path)), 'video/mp4');
      await expectLiveUrls(record, 'video/mp4');
      const framesOf = async (input: string) =>
        (
          await execa('ffmpeg', [
            '-v',
            'error',
            '-i',
            input,
            '-map',
            '0',
            '-c',
            'copy',
            '-f',
            'framemd5',
            '-',
          ])
        ).stdout
          .split('\n')
          .filter(line => !line.startsWith('#'))
          .map(line =>
            line
              .split(',')
              .filter((_, index) => index === 0 || index === 5)
              .join(),
          );
      expect((await framesOf(record.hlsUrl ?? '')).sort()).toEqual((await framesOf(path)).sort());
      const playlist = await (await fetch(new URL('playlist-1.m3u8', record.hlsUrl ?? ''))).text();
      expect(
        [...playlist.matchAll(/#EXTINF:(\d+\.?\d*)/g)].map(([, length]) => Math.round(Number(length))),
      ).toEqual([5, 5, 5, 5]);
    },
  );

  it('the file, its playlists and its segments: an ETag each', async () => {
    const {send} = await previewing();
    const {hlsUrl, fileUrl} = await send(await fixture('clip.mp4'), 'video/mp4');
    const names = ['index.m3u8', 'playlist-1.m3u8', 'segments-1.mp4'];
    const urls = names.map(name => new URL(name, hlsUrl ?? '').href);
    const tags = await Promise.all(
      [fileUrl ?? '', ...urls].map(async url => (await fetch(url)).headers.get('etag')),
    );
    expect(tags).toEqual(Array(4).fill(expect.stringMatching(/^"[\w.-]+"$/)));
    expect(new Set(tags).size).toBe(4);
  });

  it('of a deleted video: gone from the disk, as is the thumbnail of a picture', async () => {
    const {send, service, key, dataDirectory} = await previewing();
    const folders = () => Promise.all(['streams', 'thumbnails'].map(name => namesIn(dataDirectory, name)));
    const {id: video} = await send(await fixture('clip.mp4'), 'video/mp4');
    const {id: picture} = await send(await fixture('photo.png'), 'image/png');
    expect(await folders()).toEqual([[video], expect.arrayContaining([`${picture}.webp`])]);
    for (const id of [video, picture])
      expect(await query(service, key, `mutation {deleteMedia(id: "${id}")}`)).toEqual({
        data: {deleteMedia: id},
      });
    expect(await folders()).toEqual([[], []]);
  });

  it('of an upload that is not stored in the end: nothing is left of it, nor of its thumbnail', async () => {
    const dataDirectory = await temporaryDirectory();
    const store = new Store(dataDirectory, systemClock);
    await store.prepare(false);
    const received = async (name: string, contentType: string) => {
      const bytes = await fixture(name);
      return writeUpload(store.temporaryPath(), contentType, async file => void file.end(bytes));
    };
    for (const [name, contentType] of [
      ['clip.mp4', 'video/mp4'],
      ['photo.png', 'image/png'],
    ] as const) {
      const {path, ...facts} = await received(name, contentType);
      const refuse = () => Promise.reject(new Error('The key was used for other content.'));
      const commitment = {createdAt: 0, identify: refuse, lastCheck() {}};
      const service = {store, resets: new Resets(), previews: true};
      await expect(commitUpload({path, ...facts}, service, commitment)).rejects.toThrow('other content');
      await rm(path);
    }
    for (const folder of ['temporary', 'files', 'streams', 'thumbnails'])
      expect(await namesIn(dataDirectory, folder)).toEqual([]);
  });

  it('of a video whose index names one part of it 10,000 times: given up, and no disk is filled', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'repeated.mov');
    await writeFile(path, repeated(await fixture('clip.mov'), 10_000));
    const target = join(directory, 'stream');
    // It would be 120 MB from 56 kB.
    expect(await makeStream({path, contentType: 'video/mp4'}, target)).toBe(false);
    const sizes = (await readdir(target)).map(async name => (await stat(join(target, name))).size);
    for (const size of await Promise.all(sizes)) expect(size).toBeLessThan(5_000_000);
  });
});

/** A MOV whose pictures are the same 12 kB again and again: one sample in each of many chunks that begin at one place. */
function repeated(bytes: Buffer<ArrayBuffer>, count: number): Buffer<ArrayBuffer> {
  const table = (...numbers: number[]) =>
    Buffer.from(
      numbers.flatMap(number => [...Buffer.from([number >>> 24, number >>> 16, number >>> 8, number])]),
    );
  let changed = bytes;
  changed = replaced(changed, 'stsz', table(0, 12_000, count));
  changed = replaced(changed, 'stsc', table(0, 1, 1, 1, 1));
  changed = replaced(changed, 'stts', table(0, 1, count, 1024));
  changed = replaced(changed, 'ctts', table(0, 1, count, 1024));
  return replaced(changed, 'stco', table(0, count, ...Array<number>(count).fill(36)));
}

/** A file with another content of the first box of a type in its index, which is the last box. */
function replaced(bytes: Buffer<ArrayBuffer>, type: string, content: Buffer): Buffer<ArrayBuffer> {
  const at = bytes.indexOf(type, bytes.indexOf('moov')) - 4;
  const growth = content.length + 8 - bytes.readUInt32BE(at);
  const whole = Buffer.concat([
    bytes.subarray(0, at + 8),
    content,
    bytes.subarray(at + bytes.readUInt32BE(at)),
  ]);
  for (const name of ['moov', 'trak', 'mdia', 'minf', 'stbl', type]) {
    const size = whole.indexOf(name, whole.indexOf('moov')) - 4;
    whole.writeUInt32BE(whole.readUInt32BE(size) + growth, size);
  }
  return whole;
}
