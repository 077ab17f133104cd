import {describe, expect, test} from 'vitest';
import {leastSize} from '../../../../src/media/type/tables/type-tables.ts';
import {seededRandom} from '../../../support/seeded.ts';
import {decide, fixture, latin1} from '../deciding.ts';

describe('bytes that nobody recognises', () => {
  test('random bytes, of any beginning, never stop an upload if they are enough for a file', async () => {
    const random = seededRandom(20261121);
    const beginnings = [
      '',
      'BM',
      'MZ',
      '%!',
      '\xff\xfb',
      '\xff\xf1',
      '\x0b\x77',
      '\x78\x01',
      '\x60\xea',
      '\x1f\x9d',
      '\xc7\x71',
      'G',
      '<',
      '{',
    ];
    const names = ['a.png', 'a.mp4', 'a.mkv', 'a.svg', 'a.ogv', 'a.tiff'];
    for (let round = 0; round < 500; round += 1) {
      const bytes = Uint8Array.from({length: 57 + Math.floor(random() * 600)}, () =>
        Math.floor(random() * 256),
      );
      const beginning = latin1(beginnings[round % beginnings.length] ?? '');
      bytes.set(beginning.subarray(0, bytes.length));
      const name = names[round % names.length] ?? '';
      expect(
        await decide(name, bytes, 'extension'),
        `${name}: ${Buffer.from(bytes).toString('base64')}`,
      ).toMatch(/^(image|video)\//);
    }
  });
});

describe('a real file that is cut or damaged', () => {
  const files = [
    'photo.png',
    'photo.jpg',
    'photo.tiff',
    'photo.heic',
    'photo.svg',
    'favicon.ico',
    'photo.bmp',
    'clip.mp4',
    'clip.mov',
    'clip.mkv',
    'clip.webm',
    'clip.avi',
    'clip.mpg',
    'clip.ogv',
    'clip.wmv',
    'clip.3gp',
    'fragmented.mp4',
  ];

  test.each(files)('%s, cut anywhere, never stops an upload if enough is left for a file', async name => {
    const whole = fixture(name);
    const random = seededRandom(7);
    const lengths = [
      1,
      2,
      4,
      8,
      12,
      16,
      20,
      32,
      40,
      64,
      100,
      ...Array.from({length: 40}, () => 1 + Math.floor(random() * whole.length)),
    ];
    const type = await decide(name, whole, 'extension');
    for (const length of lengths)
      expect(await decide(name, whole.subarray(0, length), 'extension'), String(length)).toBe(
        length < leastSize(type) ? 'not_media' : type,
      );
  });

  test.each(files)('%s, damaged anywhere, is decided without an error of ours', async name => {
    const random = seededRandom(11);
    for (let round = 0; round < 60; round += 1) {
      const bytes = Uint8Array.from(fixture(name));
      for (let hit = 0; hit < 20; hit += 1)
        bytes[Math.floor(random() * Math.min(bytes.length, 2000))] = Math.floor(random() * 256);
      expect(await decide(name, bytes, 'content')).toMatch(/^(image|video)\/|^not_media$/);
    }
  });
});
