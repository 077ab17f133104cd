import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {MediaError} from '../../../src/errors.ts';
import type {RandomAccess} from '../../../src/lib/files/random-access.ts';
import {decideContentType, type TypeRule} from '../../../src/media/type/decide.ts';
import {hintOf, inWords, textOf} from '../../support/hints.ts';

const rules: TypeRule[] = ['extension', 'content', 'strict'];

function fixture(name: string): Uint8Array {
  return readFileSync(new URL(`../../fixtures/${name}`, import.meta.url));
}

function access(bytes: Uint8Array): RandomAccess {
  return {size: bytes.length, read: async (position, length) => bytes.subarray(position, position + length)};
}

/** A decision in one line: the type, the type and a warning, or the code of the refusal. */
async function decide(name: string, bytes: Uint8Array | RandomAccess, rule: TypeRule): Promise<string> {
  try {
    const {contentType, warning} = await decideContentType(
      name,
      'read' in bytes ? bytes : access(bytes),
      rule,
    );
    return warning === undefined ? contentType : `${contentType}, warned`;
  } catch (error) {
    if (error instanceof MediaError) return error.code;
    throw error;
  }
}

async function refusal(name: string, bytes: Uint8Array, rule: TypeRule = 'extension'): Promise<MediaError> {
  const error = await decideContentType(name, access(bytes), rule).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(MediaError);
  return error as MediaError;
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const latin1 = (text: string) => Uint8Array.from(text, character => character.charCodeAt(0));

describe('a file that is what its name says', () => {
  test.each([
    ['photo.png', 'image/png'],
    ['photo.jpg', 'image/jpeg'],
    ['photo.gif', 'image/gif'],
    ['photo.webp', 'image/webp'],
    ['photo.avif', 'image/avif'],
    ['photo.heic', 'image/heic'],
    ['photo.bmp', 'image/bmp'],
    ['photo.tiff', 'image/tiff'],
    ['photo.svg', 'image/svg+xml'],
    ['favicon.ico', 'image/vnd.microsoft.icon'],
    ['animated.gif', 'image/gif'],
    ['clip.mp4', 'video/mp4'],
    ['fragmented.mp4', 'video/mp4'],
    ['clip.mov', 'video/quicktime'],
    ['clip.m4v', 'video/x-m4v'],
    ['clip.webm', 'video/webm'],
    ['clip.mkv', 'video/x-matroska'],
    ['clip.avi', 'video/x-msvideo'],
    ['clip.mpg', 'video/mpeg'],
    ['clip.ogv', 'video/ogg'],
    ['clip.3gp', 'video/3gpp'],
    ['clip.m2ts', 'video/mp2t'],
    ['.ts/clip.ts', 'video/mp2t'],
    ['truncated.png', 'image/png'],
    ['truncated.mp4', 'video/mp4'],
  ])('%s is %s under every rule', async (name, type) => {
    for (const rule of rules) expect(await decide(name, fixture(name), rule), rule).toBe(type);
  });

  test('clip.wmv is video/x-ms-wmv by name, and the container that it is by content', async () => {
    expect(await decide('clip.wmv', fixture('clip.wmv'), 'extension')).toBe('video/x-ms-wmv');
    expect(await decide('clip.wmv', fixture('clip.wmv'), 'content')).toBe('video/x-ms-asf');
    expect(await decide('clip.wmv', fixture('clip.wmv'), 'strict')).toBe('video/x-ms-wmv');
  });
});

describe('a file that is positively no media', () => {
  test.each([
    ['page-named.png', 'an HTML page'],
    ['lfs-pointer.png', 'a Git LFS pointer'],
    ['document-named.jpg', 'a PDF document'],
    ['zip-named.png', 'a ZIP archive'],
    ['song-named.mp4', 'MP3 audio'],
    ['audio-only.mp4', 'contains only audio'],
    ['audio-only.mkv', 'contains only audio'],
    ['audio-only.webm', 'contains only audio'],
    ['audio-only.ogg', 'contains only audio'],
    ['audio-only.wmv', 'contains only audio'],
    ['subtitles-only.mkv', 'contains only subtitles'],
    ['.ts/qt-translation.ts', 'an XML document'],
  ])('%s is refused under every rule, for its bytes are %s', async (name, finding) => {
    for (const rule of rules) {
      const error = await refusal(name, fixture(name), rule);
      expect(error.code, rule).toBe('not_media');
      expect(error.message).toContain(finding);
    }
  });

  test('both findings stand in one sentence', async () => {
    const error = await refusal('page-named.png', fixture('page-named.png'));
    expect(error.message).toBe(
      'page-named.png is not recognised as an image or a video: the extension .png says image/png, and the bytes are an HTML page.',
    );
    expect(hintOf(error)).toBe('If it is one anyway, set its type, for example: --content-type image/png');
  });

  test('a Git LFS pointer is refused with the way to get the file', async () => {
    expect((await refusal('lfs-pointer.png', fixture('lfs-pointer.png'))).hint).toContain('git lfs pull');
  });

  test.each([
    ['ELF', `\x7fELF\x02\x01\x01${'\0'.repeat(60)}`],
    ['a Windows program', `MZ${'\0'.repeat(58)}\x40\0\0\0PE\0\0${'\0'.repeat(40)}`],
    ['a shell script', '#!/bin/sh\necho\n'],
    ['WOFF2', `wOF2\0\x01\0\0${'\0'.repeat(60)}`],
    ['gzip', `\x1f\x8b\x08${'\0'.repeat(40)}`],
    ['WAV', `RIFF\x24\0\0\0WAVEfmt ${'\0'.repeat(40)}`],
    ['FLAC', `fLaC${'\0'.repeat(60)}`],
    ['MP3 with a tag', `ID3\x03\0\0\0\0\0\x0a${'\0'.repeat(10)}\xff\xfb\x90\x64${'\0'.repeat(600)}`],
    ['MP3 with a large cover', `ID3\x03\0\0\0\x3f\x7f\x7f${'x'.repeat(100_000)}`],
    ['an empty zip', `PK\x05\x06${'\0'.repeat(18)}`],
    ['JSON', '{"error": "not found"}'],
    ['a JSON list', '[1, 2]'],
    ['JSON lines', '{"a": 1}\n{"b": 2}\n'],
    ['XML', '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>'],
    ['XML without a declaration', '<Error><Code>AccessDenied</Code></Error>'],
    ['HTML without <html>', ' \n<head><title>x</title></head>'],
    [
      'HTML behind a comment',
      '<!-- a > b --><!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN"><html></html>',
    ],
    ['a playlist', '#EXTM3U\n#EXT-X-VERSION:3\n'],
    ['PostScript', '%!PS-Adobe-3.0\n'],
  ])('%s named .png', async (_kind, text) => {
    for (const rule of rules) expect(await decide('a.png', latin1(text), rule), rule).toBe('not_media');
  });
});

describe('a file of another media type', () => {
  test('a PNG named .jpg is sent as JPEG with a warning, as PNG by content, not at all strictly', async () => {
    const png = fixture('png-named.jpg');
    expect(textOf((await decideContentType('a/b.jpg', access(png), 'extension')).warning)).toBe(
      'The extension .jpg says image/jpeg, but the bytes say image/png: sent as image/jpeg (--types content sends image/png).',
    );
    expect(await decide('b.jpg', png, 'extension')).toBe('image/jpeg, warned');
    expect(await decide('b.jpg', png, 'content')).toBe('image/png');
    expect(await decide('b.jpg', png, 'strict')).toBe('type_mismatch');
  });

  test.each([
    ['photo.png', 'a.apng', 'image/apng'],
    ['photo.heic', 'a.heif', 'image/heif'],
    ['photo.heic', 'a.HIF', 'image/heif'],
    ['photo.tiff', 'a.nef', 'image/x-nikon-nef'],
    ['photo.jpg', 'a.mpo', 'image/mpo'],
    ['photo.jpg', 'a.jfif', 'image/jpeg'],
    ['photo.jpg', 'a.thm', 'image/jpeg'],
    ['photo.bmp', 'a.rle', 'image/bmp'],
    ['clip.mp4', 'a.m4v', 'video/x-m4v'],
    ['clip.m4v', 'a.mp4', 'video/mp4'],
    ['clip.wmv', 'a.asf', 'video/x-ms-asf'],
    ['clip.mpg', 'a.vob', 'video/x-ms-vob'],
  ])('%s named %s is of one family, %s', async (file, name, type) => {
    expect(await decide(name, fixture(file), 'extension')).toBe(type);
    expect(await decide(name, fixture(file), 'strict')).toBe(type);
  });

  test.each([
    ['photo.png', 'a.mp4', 'video/mp4'],
    ['clip.mp4', 'a.webm', 'video/webm'],
    ['clip.mp4', 'a.mov', 'video/quicktime'],
    ['photo.avif', 'a.heic', 'image/heic'],
  ])('%s named %s is sent as %s with a warning', async (file, name, type) => {
    expect(await decide(name, fixture(file), 'extension')).toBe(`${type}, warned`);
    expect(await decide(name, fixture(file), 'strict')).toBe('type_mismatch');
  });
});

describe('a name that says little', () => {
  const png = fixture('photo.png');

  test.each([
    'photo',
    '.png',
    'a.png.',
    'dir.jpg/photo',
    'a.bin',
    'a.unknown',
    'a.constructor',
    'a.__proto__',
    '-',
    '',
    'a.txt',
  ])('the bytes decide for %j', async name => {
    expect(await decide(name, png, 'extension')).toBe('image/png');
    expect(await decide(name, png, 'content')).toBe('image/png');
    expect(await decide(name, png, 'strict')).toBe('type_mismatch');
  });

  test.each(['photo', '.png', 'a.png.', 'a.bin', 'a.unknown', 'a.mxf', 'a.ogg'])(
    '%j with unrecognised bytes is refused',
    async name => {
      const bytes = fixture('unrecognised.png');
      expect(await decide(name, bytes, 'extension')).toBe('not_media');
      expect(await decide(name, bytes, 'content')).toBe('not_media');
      expect(await decide(name, bytes, 'strict')).toBe('not_media');
      expect(hintOf(await refusal(name, bytes))).toContain('--content-type');
    },
  );

  test('Theora named .ogg is video/ogg, though mime-types says audio', async () => {
    expect(await decide('clip.ogg', fixture('clip.ogv'), 'extension')).toBe('video/ogg');
    expect(await decide('clip.ogg', fixture('clip.ogv'), 'content')).toBe('video/ogg');
  });

  test.each([
    ['A.PNG', 'image/png'],
    ['A.JpEg', 'image/jpeg'],
    ['x.MOV', 'video/quicktime'],
    ['x.CR3', 'image/x-canon-cr3'],
  ])('%s counts as %s in any case', async (name, type) => {
    expect(await decide(name, fixture('unrecognised.png'), 'extension')).toBe(type);
  });

  test.each([
    ['cr2', 'image/x-canon-cr2'],
    ['cr3', 'image/x-canon-cr3'],
    ['nef', 'image/x-nikon-nef'],
    ['arw', 'image/x-sony-arw'],
    ['raf', 'image/x-fuji-raf'],
    ['rw2', 'image/x-panasonic-rw2'],
    ['dng', 'image/x-adobe-dng'],
    ['cur', 'image/x-cursor'],
    ['icns', 'image/x-icns'],
    ['j2c', 'image/x-jp2-codestream'],
    ['avifs', 'image/avif'],
    ['mpo', 'image/mpo'],
    ['qoi', 'image/qoi'],
    ['bpg', 'image/bpg'],
    ['exr', 'image/x-exr'],
    ['dv', 'video/dv'],
    ['hevc', 'video/h265'],
  ])('.%s, which mime-types lacks or misnames, is %s', async (extension, type) => {
    expect(await decide(`a.${extension}`, fixture('unrecognised.png'), 'extension')).toBe(type);
  });
});

describe('an ambiguous extension', () => {
  test.each(['a.ts', 'a.mts', 'a.m2ts', 'A.TS'])('%s needs the bytes of a transport stream', async name => {
    for (const rule of rules) {
      expect(await decide(name, fixture('.ts/clip.ts'), rule), rule).toBe('video/mp2t');
      expect(await decide(name, fixture('clip.m2ts'), rule), rule).toBe('video/mp2t');
      expect(await decide(name, fixture('.ts/source.ts'), rule), rule).toBe('not_media');
    }
    expect(await decide(name, fixture('photo.png'), 'extension')).toBe('not_media');
    expect(await decide(name, fixture('photo.png'), 'content')).toBe('image/png');
  });

  test('TypeScript is refused with both findings', async () => {
    expect((await refusal('src/a.ts', fixture('.ts/source.ts'))).message).toBe(
      'src/a.ts is not recognised as an image or a video: the extension .ts says video/mp2t, and the bytes are plain text.',
    );
  });

  test('a capture that begins within a packet is a transport stream', async () => {
    expect(await decide('a.ts', fixture('.ts/clip.ts').subarray(100), 'extension')).toBe('video/mp2t');
  });

  test('a text of nothing but the sync byte, G, is none', async () => {
    expect(await decide('a.ts', utf8('G'.repeat(5000)), 'extension')).toBe('not_media');
  });
});

describe('a refusal says whether anything calls the file an image or a video', () => {
  test.each([
    ['page-named.png', 'page.png', true],
    ['lfs-pointer.png', 'photo.PNG', true],
    ['audio-only.mp4', 'song.mp4', true],
    ['audio-only.mp4', 'song.m4a', false],
    ['page-named.png', 'page.html', false],
    ['page-named.png', 'page', false],
    ['zip-named.png', 'a.unknown', false],
    ['unrecognised.png', 'a.bin', false],
    ['.ts/source.ts', 'source.ts', false],
    ['.ts/qt-translation.ts', 'application.ts', false],
  ])('%s named %s: %j', async (file, name, isCalledMedia) => {
    for (const rule of rules)
      expect(await refusal(name, fixture(file), rule), rule).toMatchObject({
        code: 'not_media',
        isCalledMedia,
      });
  });

  test('a picture under an ambiguous extension is called one by its bytes', async () => {
    expect(await refusal('a.ts', fixture('photo.png'))).toMatchObject({
      code: 'not_media',
      isCalledMedia: true,
    });
  });
});

describe('what a message shows', () => {
  test('no control characters but those of the name, which are escaped where it is printed', async () => {
    const page = fixture('page-named.png');
    for (const name of ['a\n\x1b[31m.p\u009bng', 'a.\u202e\u2028x', `a.${'y'.repeat(300)}`]) {
      const error = await refusal(name, page);
      expect(`${error.message.replace(name, '')}${hintOf(error)}`).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
      expect(await refusal(name, fixture('photo.png'), 'strict')).toMatchObject({code: 'type_mismatch'});
    }
  });

  test('a strict refusal names both findings and the way out', async () => {
    expect(inWords(await refusal('b.jpg', fixture('photo.png'), 'strict'))).toMatchObject({
      code: 'type_mismatch',
      message:
        'The name and the bytes of b.jpg do not agree: the extension .jpg says image/jpeg, and the bytes say image/png.',
      hint: 'Set the type with --content-type image/png, or leave out --types strict.',
    });
  });
});
