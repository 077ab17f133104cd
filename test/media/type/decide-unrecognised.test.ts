import {describe, expect, test} from 'vitest';
import {decide, fixture, latin1} from './deciding.ts';

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
    ['an archive', '\x60\xea and so on, and so on, and on'],
    ['MP3', `\xff\xfb${'is how these bytes begin\x01'.repeat(100)}`],
    ['AAC', `\xff\xf1${'is how these bytes begin\x01'.repeat(100)}`],
    ['QuickTime', 'the wide world, in bytes\x01'],
    ['a cursor', `\0\0\x02\0\0\0\0\0\0\0\0\0\x40\0\x40\0\x18\0${'\x99'.repeat(100)}`],
    ['markup', '<hello> there, and even more\x01'],
    ['JSON', '{braces} that really are none\x01'],
    ['zeros', '\0'.repeat(4096)],
  ])('what only begins like %s', async (_kind, text) => {
    expect(await decide('a.webp', latin1(text), 'extension')).toBe('image/webp');
    expect(await decide('a.webp', latin1(text), 'content')).toBe('image/webp');
  });
});

describe('a real file that is cut or damaged', () => {
  test('an audio-only MP4 whose track list is cut off counts as the video that its name says', async () => {
    const whole = fixture('audio-only.mp4');
    expect(await decide('audio-only.mp4', whole.subarray(0, 70_000), 'extension')).toBe('video/mp4');
    expect(await decide('audio-only.mp4', whole.subarray(0, whole.length - 30), 'extension')).toBe(
      'video/mp4',
    );
  });
});

describe('bytes that are too few for any file of their type', () => {
  const filling = Uint8Array.from({length: 200}, (_, index) => 128 + ((index * 37) % 100));
  const rules = ['extension', 'content', 'strict'] as const;

  test.each([
    // Any type that has no size of its own below.
    [5, 'a.wbmp a.pct a.jxl a.wmv a.mpg a.h264 a.dv a.jp2 a.pcx a.hej2'],
    [6, 'a.svg'],
    [14, 'a.gif'],
    [16, 'a.ff'],
    [18, 'a.tga'],
    [21, 'a.webm a.mkv'],
    [22, 'a.ico a.cur a.qoi'],
    [24, 'a.mp4 a.mov a.m4v a.3gp a.3g2'],
    [25, 'a.webp'],
    [26, 'a.bmp a.tif a.dng a.nef a.cr2 a.arw'],
    [27, 'a.jpg a.jpeg a.mpo'],
    [28, 'a.avif a.heic a.heif a.ogv'],
    [40, 'a.psd'],
    [57, 'a.png a.apng'],
    [88, 'a.avi'],
  ])('%i bytes are needed for %s', async (least, names) => {
    for (const name of names.split(' '))
      for (const rule of rules) {
        expect(await decide(name, filling.subarray(0, least - 1), rule), name).toBe('not_media');
        expect(await decide(name, filling.subarray(0, least), rule), name).toMatch(/^(image|video)\//);
      }
  });

  test.each([
    ['a.png', 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVQI12NgAAAAAgAB4iG8MwAAAABJRU5ErkJggg=='],
    ['a.webp', 'UklGRhIAAABXRUJQVlA4TAYAAAAvQWxvAGs='],
    ['a.gif', 'R0lGODlhAQABAAAAACwAAAAAAQABAAACAkwBADs='],
    ['a.wbmp', Buffer.from('\0\0\x01\x01\0').toString('base64')],
    ['a.pbm', Buffer.from('P1 1 1 0').toString('base64')],
    ['a.svg', Buffer.from('<svg/>').toString('base64')],
  ])('the smallest %s is sent', async (name, bytes) => {
    for (const rule of rules)
      expect(await decide(name, Buffer.from(bytes, 'base64'), rule)).toMatch(/^image\//);
  });
});
