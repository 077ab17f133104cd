import {copyFile, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import sharp from 'sharp';
import {expect, it} from 'vitest';
import {example} from '../../support/examples.ts';
import {needPrograms, type Program} from '../../support/installed.ts';
import {fixture} from '../../support/media.ts';
import {slowTest} from '../../support/patience.ts';
import {settledMachine, typeIn} from './newcomer.ts';

const page = 'docs/publishing-recipes.md';

/** A PNG picture that can be made smaller. */
const uncompressed = () => sharp(fixture('photo.png')).png({compressionLevel: 0}).toBuffer();

const pixelsOf = (bytes: Buffer) => sharp(bytes).ensureAlpha().raw().toBuffer();

/** What a recipe uploads, from a machine with large photos, a video whose index is at its end, and a directory of photos. */
async function uploadedBy(text: string): Promise<Buffer[]> {
  const machine = await settledMachine();
  const path = (name: string) => join(machine.directory, name);
  const large = await sharp(fixture('photo.jpg'))
    .resize(2_000, 1_000, {fit: 'fill'})
    .withMetadata({orientation: 6})
    .toBuffer();
  for (const name of ['photo.jpg', 'assets/one.jpg', 'assets/with a space.jpg'])
    await writeFile(path(name), large);
  for (const name of ['assets/one.heic', 'assets/with a space.heic'])
    await copyFile(fixture('photo.heic'), path(name));
  await writeFile(path('photo.png'), await uncompressed());
  const printed = await typeIn(machine, example(page, 'bash', text));
  // A record has the URL of a thumbnail, too.
  const urls = new Set(printed.match(/http:\S+\/files\/\w+/g));
  return Promise.all([...urls].map(async url => Buffer.from(await (await fetch(url)).arrayBuffer())));
}

const recipes: readonly (readonly [
  recipe: string,
  program: Program,
  text: string,
  check: (uploaded: Buffer[]) => Promise<void>,
])[] = [
  ['resize one photo', 'convert', 'jpg:-', uploaded => areResized(uploaded, 1)],
  ['resize many photos', 'convert', 'mkdir smaller', uploaded => areResized(uploaded, 2)],
  [
    'HEIC to JPEG',
    'heif-convert',
    'heif-convert',
    async uploaded => {
      const formats = await Promise.all(uploaded.map(async bytes => (await sharp(bytes).metadata()).format));
      expect(formats).toEqual(['jpeg', 'jpeg']);
    },
  ],
  [
    'optimise a PNG',
    'optipng',
    'optipng',
    async ([optimised = Buffer.alloc(0), ...others]) => {
      const before = await uncompressed();
      expect((await pixelsOf(optimised)).equals(await pixelsOf(before))).toBe(true);
      expect(optimised.length).toBeLessThan(before.length / 2);
      expect(others).toEqual([]);
    },
  ],
  [
    'MP4 fast start',
    'ffmpeg',
    'faststart',
    async ([video = Buffer.alloc(0), ...others]) => {
      const before = await readFile(fixture('clip.mp4'));
      expect(before.indexOf('moov')).toBeGreaterThan(before.indexOf('mdat'));
      expect(video.indexOf('moov')).toBeGreaterThan(0);
      expect(video.indexOf('moov')).toBeLessThan(video.indexOf('mdat'));
      expect(others).toEqual([]);
    },
  ],
];

async function areResized(uploaded: Buffer[], count: number): Promise<void> {
  const sizes = await Promise.all(
    uploaded.map(async bytes => {
      const {width, height, orientation = 1} = await sharp(bytes).metadata();
      return [width, height, orientation];
    }),
  );
  // The rotation of the photo is applied.
  expect(sizes).toEqual(Array(count).fill([800, 1_600, 1]));
}

it.for(recipes)(
  '%s: runs as printed, and what it makes is uploaded',
  slowTest,
  async ([, program, text, check], context) => {
    needPrograms(context, [program]);
    await check(await uploadedBy(text));
  },
);
