import {copyFile, readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import sharp from 'sharp';
import {describe, expect, it} from 'vitest';
import {PageClient} from '../../../embedded/page-client.ts';
import {eventually} from '../../../support/eventually.ts';
import {needPrograms} from '../../../support/installed.ts';
import {fixture, sandbox} from '../../../support/media.ts';
import {serve} from '../../../support/served.ts';

interface Uploaded {
  id: string;
  thumbnailUrl?: string;
}

async function picture(url: string | undefined) {
  const response = await fetch(url ?? '');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('image/webp');
  const bytes = Buffer.from(await response.arrayBuffer());
  return {bytes, ...(await sharp(bytes).metadata())};
}

describe('media serve, with sharp installed', () => {
  it('photos, an animation, a damaged one, an SVG: a thumbnail each, or none', async () => {
    const box = await sandbox();
    const service = await serve(box, '--data-dir', 'kept');
    const photo = sharp({create: {width: 900, height: 300, channels: 3, background: '#a04000'}});
    const left = {
      input: Buffer.from('<svg width="300" height="300"><rect width="300" height="300" fill="#00f"/></svg>'),
      left: 0,
      top: 0,
    };
    // Turned by a quarter: what is on the left is on top when it is shown.
    await photo
      .composite([left])
      .withMetadata({orientation: 6})
      .jpeg()
      .toFile(join(box.directory, 'turned.jpg'));
    const names = [
      'photo.png',
      'photo.webp',
      'photo.avif',
      'photo.tiff',
      'animated.gif',
      'photo.svg',
      'truncated.png',
    ];
    const upload = await box.run(['upload', '--json', 'turned.jpg', ...names.map(fixture)], {
      env: service.env,
    });
    expect(upload).toMatchObject({exitCode: 0});
    const records: Uploaded[] = upload.stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    const [turned, png, webp, avif, tiff, gif, ...without] = records;
    for (const {id, thumbnailUrl} of [turned, png, webp, avif, tiff, gif].filter(one => one !== undefined))
      expect(thumbnailUrl).toBe(`${service.url}/thumbnails/${id}.webp`);
    expect(without.map(({thumbnailUrl}) => thumbnailUrl)).toEqual([undefined, undefined]);

    const shown = await picture(turned?.thumbnailUrl);
    expect(shown).toMatchObject({format: 'webp', width: 107, height: 320});
    expect([shown.exif, shown.icc, shown.xmp]).toEqual([undefined, undefined, undefined]);
    const [red, , blue] = await sharp(shown.bytes)
      .extract({left: 50, top: 20, width: 1, height: 1})
      .raw()
      .toBuffer();
    expect(blue).toBeGreaterThan(200);
    expect(red).toBeLessThan(50);
    expect(await picture(png?.thumbnailUrl)).toMatchObject({width: 320, height: 200});
    expect(await picture(gif?.thumbnailUrl)).toMatchObject({width: 64, height: 64});
    expect((await readdir(join(box.directory, 'kept/thumbnails'))).length).toBe(6);
    expect(await readdir(join(box.directory, 'kept/temporary'))).toEqual([]);

    const person = new PageClient(service);
    await person.signIn(await eventually(() => /http:\S+\?token=\S+/.exec(service.stderr())?.[0]));
    const gallery = await person.textOf('/');
    expect(gallery).toContain(`<img src="/thumbnails/${tiff?.id}.webp" alt="TIFF · 160 × 100`);
    await person.post(`/media/${png?.id}/delete`, {});
    expect((await fetch(png?.thumbnailUrl ?? '')).status).toBe(404);
    expect((await readdir(join(box.directory, 'kept/thumbnails'))).length).toBe(5);
    service.child.kill('SIGTERM');
    expect(await service.child).toMatchObject({signal: 'SIGTERM'});
  });

  it('a small AVIF of 30 million pixels, an SVG under another type: none, and the next photo has one', async () => {
    const box = await sandbox();
    const {env} = await serve(box, '--ephemeral');
    const vast = sharp({create: {width: 6000, height: 5000, channels: 3, background: '#a04000'}});
    // 1 kB whose decoder takes more than 500 MiB.
    await vast.avif({effort: 0, quality: 30}).toFile(join(box.directory, 'vast.avif'));
    await copyFile(fixture('photo.svg'), join(box.directory, 'drawing.png'));
    const names = ['vast.avif', 'drawing.png', fixture('photo.avif')];
    const command = ['upload', ...names, '-c', '1', '--json', '--content-type', 'image/avif'];
    const {stdout, exitCode} = await box.run(command, {env});
    expect(exitCode).toBe(0);
    const records: Uploaded[] = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(records.map(({thumbnailUrl}) => thumbnailUrl !== undefined)).toEqual([false, false, true]);
  });

  it('videos: a poster frame; a playlist that names another file: none', async context => {
    needPrograms(context, ['ffmpeg']);
    const service = await serve(await sandbox(), '--ephemeral');
    const clip = fixture('clip.mp4');
    const playlists = [
      `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://${clip}\n#EXT-X-ENDLIST\n`,
      `ffconcat version 1.0\nfile '${clip}'\n`,
    ];
    const names = ['clip.mp4', 'clip.mkv', 'clip.webm', 'clip.avi', 'clip.m2ts', 'audio-only.mp4'];
    const files = await Promise.all(names.map(name => readFile(fixture(name))));
    const bodies = [...files, ...playlists.map(text => Buffer.from(text))];
    const records: Uploaded[] = [];
    for (const body of bodies) {
      const response = await fetch(`${service.url}/v1/media/upload`, {
        method: 'POST',
        headers: {Authorization: `Bearer ${service.key}`, 'Content-Type': 'video/mp4'},
        body: new Uint8Array(body),
      });
      records.push((await response.json()) as Uploaded);
    }
    const pictures = await Promise.all(records.slice(0, 5).map(one => picture(one.thumbnailUrl)));
    expect(pictures.map(({width, height}) => `${width} × ${height}`)).toEqual([
      '320 × 180',
      '320 × 180',
      '320 × 180',
      '160 × 90',
      '320 × 180',
    ]);
    expect(records.slice(5).map(({thumbnailUrl}) => thumbnailUrl)).toEqual(Array(3).fill(undefined));
  });
});
