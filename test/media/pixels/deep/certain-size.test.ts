import {execFile} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import sharp from 'sharp';
import {describe, expect, test} from 'vitest';
import {certainSize} from '../../../../src/media/pixels/probe.ts';
import {fixture, temporaryDirectory} from '../../../embedded/support.ts';
import {needPrograms} from '../../../support/installed.ts';

function sizeOf(bytes: Uint8Array, contentType: string, path?: string) {
  const read = async (position: number, length: number) => bytes.subarray(position, position + length);
  return certainSize({size: bytes.length, read, path}, contentType);
}

test('pictures: the size that sharp reads', async () => {
  for (const [name, contentType] of [
    ['photo.png', 'image/png'],
    ['photo.jpg', 'image/jpeg'],
    ['photo.gif', 'image/gif'],
    ['photo.webp', 'image/webp'],
    ['photo.tiff', 'image/tiff'],
    ['photo.svg', 'image/svg+xml'],
    ['photo.avif', 'image/avif'],
  ] as const) {
    const bytes = await fixture(name);
    const {width, height} = await sharp(bytes).metadata();
    expect(await sizeOf(bytes, contentType), name).toEqual({width, height});
  }
});

const ffprobe = [
  '-v',
  'quiet',
  '-of',
  'json',
  '-select_streams',
  'v',
  '-show_entries',
  'stream=width,height',
];

test('videos: the size that ffprobe reads', async context => {
  needPrograms(context, ['ffprobe']);
  for (const [name, contentType] of [
    ['clip.mp4', 'video/mp4'],
    ['clip.mov', 'video/quicktime'],
    ['clip.mkv', 'video/matroska'],
    ['clip.webm', 'video/webm'],
    ['fragmented.mp4', 'video/mp4'],
  ] as const) {
    const path = fileURLToPath(new URL(`../../../fixtures/${name}`, import.meta.url));
    const {stdout} = await promisify(execFile)('ffprobe', [...ffprobe, path]);
    expect(await sizeOf(readFileSync(path), contentType, path), name).toEqual(JSON.parse(stdout).streams[0]);
  }
});

test('a Matroska file with a changed byte that keeps its reader busy for ever: no size, and the next video has its own', async () => {
  const video = await fixture('clip.mkv');
  const endless = Buffer.from(video);
  // The size of its list of parts is none.
  endless.writeUInt8(0, endless.indexOf('114d9b74', 'hex') + 4);
  const directory = await temporaryDirectory();
  const sizes = [endless, video].map(async (bytes, index) => {
    const path = join(directory, `${index}.mkv`);
    await writeFile(path, bytes);
    return sizeOf(bytes, 'video/x-matroska', path);
  });
  expect(await Promise.all(sizes)).toEqual([{}, {width: 320, height: 180}]);
});

test('where programs differ, there is none: icons, lengths in other units than pixels, raw files, other types', async () => {
  const icon = await fixture('favicon.ico');
  const svg = (attributes: string) => Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${attributes}/>`);
  expect(await sizeOf(icon, 'image/x-icon')).toEqual({});
  expect(await sizeOf(await fixture('photo.tiff'), 'image/x-adobe-dng')).toEqual({});
  expect(await sizeOf(await fixture('clip.mp4'), 'audio/mp4')).toEqual({});
  for (const [attributes, size] of [
    ['width="21px" height="30"', {width: 21, height: 30}],
    ['width="100%" height="100%" viewBox="0 0 40 30"', {width: 40, height: 30}],
    ['width="21pc" height="21pc"', {}],
    ['width="21" height="2.5"', {}],
    ['height="3em" viewBox="0 0 40 30"', {}],
  ] as const)
    expect(await sizeOf(svg(attributes), 'image/svg+xml'), attributes).toEqual(size);
});

/** Real files of many makers, beside the repository where there are any: see its README.md. */
const corpus = new URL('../../../../../shared/media/', import.meta.url);

/** Their size is not known: other containers, sequences, raw files, formats of several pictures, and pixels that are not square. */
const unknown =
  /\.(arw|asf|avi|cr3|cur|dng|flv|icns|ico|jls|jxr|m2ts|mpe?g|mts|ogv|pgm|svgz|tga|ts|wmv)$|sequence|3gp-basic|mp4-vp9/;

describe.runIf(existsSync(corpus))('a real file has the size that the index says', () => {
  test('or none', async () => {
    const lines = readFileSync(new URL('index.jsonl', corpus), 'utf8').trim().split('\n');
    const found = new Map<string, object>();
    const expected = new Map<string, object>();
    for (const {file, trueType, width, height} of lines.map(line => JSON.parse(line))) {
      const path = fileURLToPath(new URL(file, corpus));
      found.set(file, await sizeOf(readFileSync(path), trueType, path));
      expected.set(file, unknown.test(file) ? {} : {width, height});
    }
    expect(found).toEqual(expected);
  });
});
