import {readFileSync} from 'node:fs';
import mimeTypes from 'mime-types';
import {describe, expect, test} from 'vitest';
import {MediaError} from '../../../src/errors.ts';
import {decideContentType, type TypeRule} from '../../../src/media/type/decide.ts';
import {ambiguousExtensions, extensionTypes} from '../../../src/media/type/tables/extension-types.ts';
import {commonTypes} from '../../../src/media/type/tables/type-tables.ts';
import {latin1, smallFiles} from '../../support/formats.ts';

/** The type, with a mark where there is a warning; or the code of the refusal. */
async function decide(name: string, bytes: Uint8Array, rule: TypeRule = 'extension'): Promise<string> {
  const read = async (position: number, length: number) => bytes.subarray(position, position + length);
  try {
    const {contentType, warning} = await decideContentType(name, {size: bytes.length, read}, rule);
    return warning === undefined ? contentType : `${contentType}, warned`;
  } catch (error) {
    if (error instanceof MediaError) return error.code;
    throw error;
  }
}

const unrecognised = readFileSync(new URL('../../fixtures/unrecognised.png', import.meta.url));

describe('a rare format', () => {
  test.each(smallFiles)('$name is $type by name and bytes, under every rule', async ({name, bytes, type}) => {
    expect(await decide(name, bytes)).toBe(type);
    expect(await decide(name, bytes, 'strict')).toBe(type);
    expect(await decide(name, bytes, 'content')).toBe(type);
  });

  test.each(smallFiles.filter(({type}) => !/tiff|dcraw|-(nef|nrw|arw)$|h26|x-fli|x-pict|x-ilbm/.test(type)))(
    '$name without its name is known by its bytes, unless it is a TIFF',
    async ({bytes}) => {
      const isTiff = bytes.subarray(0, 4).equals(latin1('II*\0'));
      expect(await decide('a', bytes)).toMatch(isTiff ? /^image\/tiff$/ : /^(image|video)\/[^,]+$/);
    },
  );
});

describe('an extension of the table', () => {
  test.each([...extensionTypes])('.%s is %s', async (extension, type) => {
    const known = mimeTypes.lookup(extension);
    // mime-types comes first, where it has a name for this format.
    if (!['jfif', 'exr'].includes(extension))
      expect(known === false || !/^(image|video)\//.test(known)).toBe(true);
    else expect(known).toMatch(/^(image|video)\//);
    const sent = await decide(`a.${extension}`, unrecognised);
    expect(sent).toBe(ambiguousExtensions.has(extension) ? 'not_media' : type);
  });

  test('stands in one table only', () => {
    expect([...extensionTypes.keys()].filter(extension => commonTypes.has(extension))).toEqual([]);
  });
});

describe('an extension that other files have too', () => {
  test.each([
    ['a.hdr', 'ENVI text', latin1('ENVI\nsamples = 100\nlines = 100\n')],
    ['a.hdr', 'NIfTI', Buffer.concat([latin1('\x5c\x01\0\0'), Buffer.alloc(344)])],
    ['a.pfm', 'font metrics', latin1('\0\x01\xf5\x02\0\0(C) somebody')],
    ['a.dcx', 'an index of FoxPro', latin1('\0\x04\0\0\0\0\0\0\xff\xff\xff\xff')],
    ['a.cap', 'a network capture', latin1(`\xd4\xc3\xb2\xa1\x02\0\x04\0${'\0'.repeat(40)}`)],
    ['a.dcr', 'Director', latin1(`RIFX\0\0\0\x40MV93${'\0'.repeat(40)}`)],
    ['a.ptx', 'CUDA', latin1('.version 7.0\n.target sm_50\n')],
    ['a.raw', 'samples', Buffer.from(Array.from({length: 400}, (_, index) => (index * 7) % 256))],
    ['a.sub', 'subtitles', latin1('{0}{25}Hello\n{26}{50}World\n')],
    ['a.fbs', 'a schema', latin1('namespace a;\ntable B { c:int; }\n')],
    ['a.tap', 'results of tests', latin1('TAP version 13\n1..2\nok 1\n')],
  ])('%s: %s is refused', async (name, _kind, bytes) => {
    for (const rule of ['extension', 'content', 'strict'] as const)
      expect(await decide(name, bytes, rule), rule).toBe('not_media');
  });
});

describe('--types content and a raw picture', () => {
  const tiff = smallFiles.find(({name}) => name === 'a.arw')?.bytes ?? Buffer.alloc(0);

  test.each([
    ['photo.arw', 'image/x-sony-arw'],
    ['photo.iiq', 'image/x-phaseone-iiq'],
    ['photo.tif', 'image/tiff'],
    ['photo', 'image/tiff'],
    ['photo.jpg', 'image/tiff'],
    ['photo.cr3', 'image/tiff'],
  ])('a TIFF named %s is %s', async (name, type) => {
    expect(await decide(name, tiff, 'content')).toBe(type);
  });

  test('bytes that say which camera it was outweigh the name', async () => {
    const canon = Buffer.from(tiff);
    canon.write('CR\x02\0', 8, 'latin1');
    expect(await decide('photo.nef', canon, 'content')).toBe('image/x-canon-cr2');
    expect(await decide('photo.tif', canon, 'content')).toBe('image/x-canon-cr2');
  });
});

describe('--types strict', () => {
  test.each(['a.png', 'a.mp4', 'a.tga', 'a.pcx', 'a.nef', 'a.h264', 'a.wbmp'])(
    'bytes of no known format are no disagreement with %s',
    async name => {
      expect(await decide(name, unrecognised, 'strict')).toBe(await decide(name, unrecognised));
    },
  );

  test.each(['a', 'a.bin', 'a.txt', 'a.ts'])('%s with bytes of no known format is refused', async name => {
    expect(await decide(name, unrecognised, 'strict')).toBe('not_media');
  });

  test('known bytes of another format are one', async () => {
    const png = readFileSync(new URL('../../fixtures/photo.png', import.meta.url));
    for (const name of ['a.h264', 'a.nef', 'a.dcx', 'a.mp4'])
      expect(await decide(name, png, 'strict')).toBe('type_mismatch');
  });
});

describe('what begins like a rare format, and is none', () => {
  test.each([
    ['P5 is how this text begins\x01', 'a.webp'],
    ['FORM of something else entirely\x01', 'a.webp'],
    ['#? a comment of some length\x01', 'a.webp'],
    ['\x01\xda and much more of something\x01', 'a.webp'],
    ['\0\0\x01\x67 and nothing after it\x01', 'a.webp'],
    ['\0\0\0\x01\xff\xff\0\0\x01\xff\xff, and nothing else', 'a.webp'],
    ['DKIF is how this text begins\x01', 'a.webp'],
    ['BIKes are how this text begins\x01', 'a.webp'],
    ['FLV\x01, and nothing that follows', 'a.webp'],
    ['.RMF\x01, and nothing that follows', 'a.webp'],
    ['ID3 is how this text begins\x01\xff\xff', 'a.webp'],
  ])('%j is sent as its name says', async (text, name) => {
    expect(await decide(name, latin1(text))).toBe('image/webp');
  });
});
