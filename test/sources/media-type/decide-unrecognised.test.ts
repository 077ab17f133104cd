import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {MediaError} from '../../../src/errors.ts';
import {decideContentType, type TypeRule} from '../../../src/sources/media-type/decide.ts';
import {seeded} from '../../support/seeded.ts';

function fixture(name: string): Uint8Array {
  return readFileSync(new URL(`../../fixtures/${name}`, import.meta.url));
}

/** The type under which the bytes are sent, or the code of the refusal. */
async function decide(name: string, bytes: Uint8Array, rule: TypeRule): Promise<string> {
  const read = async (position: number, length: number) => bytes.subarray(position, position + length);
  try {
    return (await decideContentType(name, {size: bytes.length, read}, rule)).contentType;
  } catch (error) {
    if (error instanceof MediaError) return error.code;
    throw error;
  }
}

const latin1 = (text: string) => Uint8Array.from(text, character => character.charCodeAt(0));

describe('bytes that nobody recognises', () => {
  test.each(['unrecognised.png', 'a.jpg', 'a.mp4', 'a.mkv', 'a.svg', 'a.tga'])(
    'named %s they are sent',
    async name => {
      const bytes = fixture('unrecognised.png');
      expect(await decide(name, bytes, 'extension')).toMatch(/^(image|video)\/[^,]+$/);
      expect(await decide(name, bytes, 'content')).toMatch(/^(image|video)\/[^,]+$/);
      expect(await decide(name, bytes, 'strict')).toMatch(/^(image|video)\/[^,]+$/);
    },
  );

  test.each([
    ['a program', `MZ${'\x01'.repeat(100)}`],
    ['PostScript', '%! is how these bytes begin\x01'],
    ['a bitmap', 'BM is how these bytes begin, and go on\x01'],
    ['a disk image', '\x78\x01 and something compressed'],
    ['an archive', '\x60\xea and so on'],
    ['MP3', `\xff\xfb${'is how these bytes begin\x01'.repeat(100)}`],
    ['AAC', `\xff\xf1${'is how these bytes begin\x01'.repeat(100)}`],
    ['QuickTime', 'the wide world, in bytes\x01'],
    ['a cursor', `\0\0\x02\0\0\0\0\0\0\0\0\0\x40\0\x40\0\x18\0${'\x99'.repeat(100)}`],
    ['markup', '<hello> there\x01'],
    ['JSON', '{braces} that are none\x01'],
    ['zeros', '\0'.repeat(4096)],
    ['one byte', 'x'],
  ])('what only begins like %s', async (_kind, text) => {
    expect(await decide('a.webp', latin1(text), 'extension')).toBe('image/webp');
    expect(await decide('a.webp', latin1(text), 'content')).toBe('image/webp');
  });

  test('random bytes, of any length and beginning, never stop an upload', async () => {
    const random = seeded(20261121);
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
      const bytes = Uint8Array.from({length: 1 + Math.floor(random() * 600)}, () =>
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

  test.each(files)('%s, cut anywhere, never stops an upload', async name => {
    const whole = fixture(name);
    const random = seeded(7);
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
    for (const length of lengths) {
      expect(await decide(name, whole.subarray(0, length), 'extension'), String(length)).toMatch(
        /^(image|video)\//,
      );
    }
  });

  test.each(files)('%s, damaged anywhere, is decided without an error of ours', async name => {
    const random = seeded(11);
    for (let round = 0; round < 60; round += 1) {
      const bytes = Uint8Array.from(fixture(name));
      for (let hit = 0; hit < 20; hit += 1)
        bytes[Math.floor(random() * Math.min(bytes.length, 2000))] = Math.floor(random() * 256);
      expect(await decide(name, bytes, 'content')).toMatch(/^(image|video)\/|^not_media$/);
    }
  });

  test('an audio-only MP4 whose track list is cut off counts as the video that its name says', async () => {
    const whole = fixture('audio-only.mp4');
    expect(await decide('audio-only.mp4', whole.subarray(0, 70_000), 'extension')).toBe('video/mp4');
    expect(await decide('audio-only.mp4', whole.subarray(0, whole.length - 30), 'extension')).toBe(
      'video/mp4',
    );
  });
});
