import {open, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {probe} from '../../../../src/media/pixels/probe.ts';
import {fixture, temporaryDirectory} from '../../../embedded/support.ts';
import {probed} from '../probed.ts';

test('an MP4 with its index behind 3 GiB of data', async () => {
  const clip = await fixture('clip.mp4');
  const path = join(await temporaryDirectory(), 'media');
  const handle = await open(path, 'w');
  const size = 3 * 1024 ** 3;
  const data = Buffer.alloc(16);
  data.writeUInt32BE(1, 0);
  data.write('mdat', 4, 'latin1');
  data.writeBigUInt64BE(BigInt(size), 8);
  const start = box(clip, 'ftyp');
  await handle.write(start, 0, start.length, 0);
  await handle.write(data, 0, data.length, start.length);
  const index = box(clip, 'moov');
  await handle.write(index, 0, index.length, start.length + size);
  await handle.close();
  expect(await probe({path, contentType: 'video/mp4'})).toEqual({width: 320, height: 180, duration: 1});
});

test('an MP4 whose index claims 3 GiB: given up', async () => {
  const clip = await fixture('clip.mp4');
  const path = join(await temporaryDirectory(), 'media');
  const index = Buffer.from(box(clip, 'moov'));
  index.writeUInt32BE(3 * 1024 ** 3, 0);
  await writeFile(path, Buffer.concat([box(clip, 'ftyp'), index]));
  const handle = await open(path, 'r+');
  await handle.truncate(4 * 1024 ** 3);
  await handle.close();
  const facts = await probe({path, contentType: 'video/mp4'});
  expect(Object.keys(facts).filter(key => !['width', 'height', 'duration'].includes(key))).toEqual([]);
});

// Damage is drawn from a fixed sequence, so that a failure comes again.
for (const [name, contentType] of [
  ['photo.png', 'image/png'],
  ['photo.jpg', 'image/jpeg'],
  ['photo.heic', 'image/heic'],
  ['photo.tiff', 'image/tiff'],
  ['photo.svg', 'image/svg+xml'],
  ['clip.mp4', 'video/mp4'],
  ['fragmented.mp4', 'video/mp4'],
  ['clip.webm', 'video/webm'],
  ['clip.m2ts', 'video/mp2t'],
] as const) {
  test(`${name}, damaged in sixty ways: always a response, every field of it plausible`, async () => {
    const random = sequence(1);
    const whole = await fixture(name);
    for (let round = 0; round < 60; round += 1) {
      const bytes = Buffer.from(whole.subarray(0, round % 3 === 0 ? random(whole.length) + 1 : whole.length));
      for (let flips = random(20); flips > 0; flips -= 1)
        bytes[random(Math.min(bytes.length, 4096))] = random(256);
      const facts = await probed(bytes, contentType);
      for (const value of [facts.width, facts.height, facts.duration]) {
        if (value !== undefined) expect(value).toBeGreaterThan(0);
      }
      for (const value of [facts.width, facts.height]) {
        if (value !== undefined) expect(Number.isInteger(value)).toBe(true);
      }
    }
  });
}

/** A top-level box of an MP4. */
function box(file: Buffer, type: string): Buffer {
  for (let at = 0; at < file.length; at += file.readUInt32BE(at)) {
    if (file.toString('latin1', at + 4, at + 8) === type)
      return file.subarray(at, at + file.readUInt32BE(at));
  }
  throw new Error(`no box ${type}`);
}

/** A linear congruential generator: numbers from 0 to below its argument. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
