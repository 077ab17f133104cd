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

/** What a recipe uploads, from a machine with large photos, a video whose index is at its end, and a directory of photos. */
async function uploadedBy(text: string): Promise<Buffer[]> {
  const machine = await settledMachine();
  const path = (name: string) => join(machine.directory, name);
  const large = await sharp(fixture('photo.jpg'))
    .resize(2_000, 1_000, {fit: 'fill'})
    .withMetadata({orientation: 6})
    .toBuffer();
  await writeFile(path('photo.jpg'), large);
  for (const name of ['assets/one.heic', 'assets/with a space.heic'])
    await copyFile(fixture('photo.heic'), path(name));
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
  ['resize one photo', 'convert', 'jpg:-', isResized],
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

async function isResized([photo, ...others]: Buffer[]): Promise<void> {
  const {width, height, orientation = 1} = await sharp(photo).metadata();
  // The rotation of the photo is applied.
  expect([width, height, orientation, others.length]).toEqual([800, 1_600, 1, 0]);
}

it.for(recipes)(
  '%s: runs as printed, and what it makes is uploaded',
  slowTest,
  async ([, program, text, check], context) => {
    needPrograms(context, [program]);
    await check(await uploadedBy(text));
  },
);
