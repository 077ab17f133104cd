import {readFileSync} from 'node:fs';
import {supportedMimeTypes} from 'file-type';
import {describe, expect, test} from 'vitest';
import {NotMediaError} from '../../../src/errors.ts';
import {decideContentType, parseContentType} from '../../../src/media/type/decide.ts';
import {wordsFor} from '../../../src/media/type/sentences.ts';
import {canonicalType, isMediaType} from '../../../src/media/type/tables/type-tables.ts';
import {box, latin1, mp3Frame} from '../../support/formats.ts';
import {hintOf} from '../../support/hints.ts';

function fixture(name: string): Buffer {
  return readFileSync(new URL(`../../fixtures/${name}`, import.meta.url));
}

async function refusal(name: string, bytes: Uint8Array): Promise<NotMediaError> {
  const read = async (position: number, length: number) => bytes.subarray(position, position + length);
  const error = await decideContentType(name, {size: bytes.length, read}, 'extension').catch(
    (reason: unknown) => reason,
  );
  if (!(error instanceof NotMediaError)) throw new Error(`sent: ${JSON.stringify(error)}`);
  return error;
}

async function sent(name: string, bytes: Uint8Array): Promise<string> {
  const read = async (position: number, length: number) => bytes.subarray(position, position + length);
  return (await decideContentType(name, {size: bytes.length, read}, 'extension')).contentType;
}

const utf8 = (text: string) => Buffer.from(text, 'utf8');
const png = fixture('photo.png');
const base64 = png.toString('base64');

describe('text under the extension of a binary format', () => {
  test.each([
    ['a sentence', utf8('The photo is on the other disk.\n'), 'plain text'],
    ['what a server answers', utf8('404: Not Found'), 'plain text'],
    ['a word', utf8('Error'), 'plain text'],
    ['code', fixture('.ts/source.ts'), 'plain text'],
    ['UTF-8', utf8('Grüße aus Zürich — ein Bild\n'), 'plain text'],
    ['UTF-8 with a mark', utf8('\ufeffno picture at all'), 'plain text'],
    ['Greek', utf8('καλημέρα κόσμε'), 'plain text'],
    ['UTF-16', Buffer.from('\ufeffno picture at all', 'utf16le'), 'plain text'],
    ['UTF-16, big end first', Buffer.from('\ufeffno picture at all', 'utf16le').swap16(), 'plain text'],
    ['Latin-1', latin1(`Ein Bild aus Z\xfcrich, ${'und noch eins, '.repeat(10)}`), 'plain text'],
    ['100 kB of it', utf8('line of a log\n'.repeat(8000)), 'plain text'],
    ['UTF-8 that is cut by what is read', utf8(`x${'é'.repeat(40_000)}`), 'plain text'],
    ['base64', utf8(base64), 'plain text'],
    ['a data URI', utf8(`data:image/png;base64,${base64}`), 'plain text'],
    ['an unknown tag', utf8('<hello> there'), 'text with markup'],
  ])('%s', async (_kind, bytes, what) => {
    for (const name of ['a.png', 'a.mp4', 'a.nef', 'a.pcx', 'a.h264']) {
      const error = await refusal(name, bytes);
      expect(error.message).toMatch(new RegExp(`, and the bytes are ${what}\\.$`));
      expect(error.isCalledMedia).toBe(true);
    }
  });

  test.each([
    ['a.xbm', utf8('/* by hand */\n#define a_width 1\n#define a_height 1\nstatic char a_bits[] = {0};\n')],
    ['a.xpm', utf8('/* XPM */\nstatic char *a[] = {"1 1 1 1", "a c #000", "a"};\n')],
    ['a.ppm', utf8('P3\n# by hand\n1 1\n255\n0 0 0\n')],
    ['a.pbm', utf8('P1 2 2 0 1 1 0\n')],
    ['a.dxf', utf8('  0\nSECTION\n  2\nHEADER\n')],
    ['a.cgm', utf8('BEGMF "a";\nENDMF;\n')],
    ['a.svg', utf8(`<?xml version="1.0"?><!--${'x'.repeat(70_000)}--><svg/>`)],
  ])('%s is a picture that is text, and is sent', async (name, bytes) => {
    expect(await sent(name, bytes)).toMatch(/^image\//);
  });

  test('an SVG begins with a tag', async () => {
    expect((await refusal('a.svg', utf8('404: Not Found'))).message).toContain('plain text');
  });

  test.each([
    ['a byte that no text has', latin1(`${'text '.repeat(50)}\x01`)],
    ['zeros', Buffer.alloc(500)],
    ['bytes beyond ASCII', Buffer.alloc(500, 0xaa)],
  ])('%s: no text', async (_kind, bytes) => {
    expect(await sent('a.png', bytes)).toBe('image/png');
  });
});

describe('what is no media, whatever its name', () => {
  const appleDouble = Buffer.concat([
    latin1('\0\x05\x16\x07\0\x02\0\0Mac OS X        \0\x02'),
    Buffer.alloc(4000),
  ]);

  test.each(['._photo.jpg', 'photo.jpg'])('%s as an AppleDouble file', async name => {
    const error = await refusal(name, appleDouble);
    expect(error.message).toMatch(/and the bytes are an AppleDouble file\.$/);
    expect(error.hint).toContain('upload that one.');
  });

  test.each([['a tag of MP3 and little else', latin1('ID3\x03\0\0\0\0\0\x05TIT2\0\xff')]])(
    '%s named .mp4',
    async (_kind, bytes) => {
      expect((await refusal('a.mp4', bytes)).message).toContain('the bytes are MP3 audio');
    },
  );

  test('one frame of MP3 without a tag is not certainly audio', async () => {
    expect(await sent('a.mp4', mp3Frame)).toBe('video/mp4');
    expect((await refusal('a.mp3', mp3Frame)).message).toContain('the bytes are not recognised');
  });

  test('an MP4 whose data is anything else may be a film', async () => {
    expect(
      await sent(
        'a.mp4',
        Buffer.concat([box('ftyp', latin1('isom\0\0\0\0isom')), box('mdat', Buffer.alloc(500, 3))]),
      ),
    ).toBe('video/mp4');
  });
});

describe('plain words', () => {
  test.each([...supportedMimeTypes].map(canonicalType).filter(type => !isMediaType(type)))(
    '%s has some, or is named itself',
    type => {
      expect(wordsFor(type)).toMatch(/^(?:an?|JSON|MP3) [\w -]+$|^a file of type [\w/.+-]+$/i);
    },
  );

  test.each(['Thumbs.db', 'letter.doc', 'setup.msi', 'mail.msg'])('%s has some', async name => {
    const compound = Buffer.concat([latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), Buffer.alloc(600)]);
    const {message} = await refusal(name, compound);
    expect(message).toMatch(/and the bytes are a compound file such as an old Office document\.$/);
  });
});

describe('a hint of a refusal', () => {
  const inputs: [name: string, bytes: Buffer][] = [
    ['a.png', fixture('page-named.png')],
    ['a.mp4', fixture('page-named.png')],
    ['a.html', fixture('page-named.png')],
    ['a.jpg', fixture('document-named.jpg')],
    ['a.png', fixture('zip-named.png')],
    ['a.zip', fixture('zip-named.png')],
    ['a.svgz', latin1(`\x1f\x8b\x08${'\0'.repeat(40)}`)],
    ['a.mp4', fixture('audio-only.mp4')],
    ['a.mkv', fixture('audio-only.mkv')],
    ['a.m4a', fixture('audio-only.mp4')],
    ['a.png', fixture('lfs-pointer.png')],
    ['a.ts', fixture('.ts/source.ts')],
    ['a.ts', fixture('photo.png')],
    ['a.mts', fixture('clip.mp4')],
    ['a', fixture('unrecognised.png')],
    ['a.bin', fixture('unrecognised.png')],
    ['a.raw', fixture('unrecognised.png')],
    ['a.mxf', fixture('unrecognised.png')],
    ['a.mp4', utf8('404: Not Found')],
  ];

  test.each(inputs)(
    '%s names no type of another kind, and every type it names can be given',
    async (name, bytes) => {
      const hint = hintOf(await refusal(name, bytes)) ?? '';
      expect(hint).not.toBe('');
      const types = [...hint.matchAll(/--content-type (\S+?)[.,;]?(?=\s|$)/g)].map(([, type]) => type ?? '');
      for (const type of types) expect(parseContentType(type)).toBe(type);
      const isVideo = /\.(mp4|mkv|m4a|mxf)$/.test(name) || bytes.equals(fixture('clip.mp4'));
      if (isVideo) expect(types.filter(type => !type.startsWith('video/'))).toEqual([]);
    },
  );
});
