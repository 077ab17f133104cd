import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import {join} from 'node:path';

const fixtures = new URL('../../fixtures/', import.meta.url);
const film = readFileSync(new URL('clip.mp4', fixtures));
const picture = readFileSync(new URL('photo.gif', fixtures));

/** A film of that many bytes, noise after its beginning; sparse where it may hold nothing. */
export function filmOf(path, size, {sparse = false} = {}) {
  if (existsSync(path)) return path;
  const file = openSync(path, 'w');
  writeSync(file, film);
  if (!sparse) {
    const noise = Buffer.alloc(2 ** 20, film);
    for (let position = film.length; position < size; position += noise.length)
      writeSync(file, noise, 0, noise.length, position);
  }
  ftruncateSync(file, size);
  closeSync(file);
  return path;
}

/** A directory of pictures of that many bytes each, no two alike, a thousand to a directory below it. */
export function picturesIn(directory, count, size) {
  const mark = join(directory, 'made, no two alike');
  if (existsSync(mark)) return join(directory, 'pictures');
  const bytes = Buffer.concat([picture, Buffer.alloc(Math.max(0, size - picture.length))]).subarray(0, size);
  for (let number = 0; number < count; number += 1) {
    const below = join(directory, 'pictures', String(Math.floor(number / 1000)).padStart(4, '0'));
    if (number % 1000 === 0) mkdirSync(below, {recursive: true});
    // A journal would know the second of two equal ones.
    bytes.writeUInt32LE(number, size - 4);
    writeFileSync(join(below, `${String(number % 1000).padStart(4, '0')}.gif`), bytes);
  }
  writeFileSync(mark, '');
  return join(directory, 'pictures');
}

/** A directory of photos of that many bytes each, no two alike, with a position and no other tags. */
export function photosIn(directory, count, size) {
  const photos = join(directory, `photos of ${size}`);
  if (existsSync(photos)) return photos;
  mkdirSync(photos, {recursive: true});
  const photo = readFileSync(new URL('photo.jpg', fixtures));
  const numbers = [0x49492a00, 0x08000000, 0x01002588, 0x04000100, 0x00001a00, 0x00000000, 0x00000200];
  // The latitude: its reference within its entry, and three fractions outside of it.
  numbers.push(0x01000200, 0x02000000, 0x4e000000, 0x02000500, 0x03000000, 0x38000000, 0x00000000);
  const exif = Buffer.alloc(4 * numbers.length + 24, 1);
  for (const [index, number] of numbers.entries()) exif.writeUInt32BE(number, 4 * index);
  const head = Buffer.from(`\xff\xe1\0${String.fromCharCode(exif.length + 8)}Exif\0\0`, 'latin1');
  const start = Buffer.concat([photo.subarray(0, 2), head, exif, photo.subarray(2, -2)]);
  // Compressed data has 0xff about each 256 bytes, followed by zero.
  const bytes = Buffer.concat([
    start,
    Buffer.alloc(size - start.length, `${'z'.repeat(254)}\xff\0`, 'latin1'),
  ]);
  bytes.writeUInt16BE(0xffd9, size - 2);
  for (let number = 0; number < count; number += 1) {
    bytes.write(String(number).padStart(6, '0'), start.length);
    writeFileSync(join(photos, `${number}.jpg`), bytes);
  }
  return photos;
}

const memory = '/dev/shm';
const places = new Map();
let inMemory;

/**
 * Where so many small files are made: in memory where there is room for them, until this process ends, and otherwise in the given
 * directory. Some systems take the pages of files away that were not read for a second: then it is the disk that is measured,
 * all the more if a journal is on it. For the same number it is always the same place, since the files take the room themselves.
 */
export function placeOf(count, directory) {
  if (!places.has(count)) places.set(count, hasRoom(count) ? memoryDirectory() : directory);
  return places.get(count);
}

/** A page and an inode each, and as much again for all else. */
function hasRoom(count) {
  if (!existsSync(memory)) return false;
  const {bavail, bsize} = statfsSync(memory);
  return bavail * bsize >= 2 * count * 6_000;
}

function memoryDirectory() {
  if (inMemory === undefined) {
    inMemory = mkdtempSync(join(memory, 'media-bench-'));
    process.once('exit', () => rmSync(inMemory, {recursive: true, force: true}));
  }
  return inMemory;
}

/** Writes a picture that was never there before. */
export function newPicture(path) {
  const bytes = Buffer.alloc(3000);
  picture.copy(bytes);
  bytes.writeBigUInt64LE(process.hrtime.bigint(), bytes.length - 8);
  writeFileSync(path, bytes);
}

/** How long the disk takes to make a short write durable, in milliseconds; the middle of many. */
export function syncLatency(directory) {
  const file = openSync(join(directory, 'sync'), 'w');
  const times = Array.from({length: 200}, () => {
    const start = process.hrtime.bigint();
    writeSync(file, 'x'.repeat(200));
    fsyncSync(file);
    return Number(process.hrtime.bigint() - start) / 1e6;
  });
  closeSync(file);
  return times.sort((one, other) => one - other)[100];
}
