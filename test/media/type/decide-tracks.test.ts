import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {MediaError} from '../../../src/errors.ts';
import type {RandomAccess} from '../../../src/lib/files/random-access.ts';
import {decideContentType} from '../../../src/media/type/decide.ts';
import {audiobook} from '../../support/formats.ts';

const gibibyte = 2 ** 30;

/** A file that is zero wherever no bytes were put, and counts what is read of it. */
class SparseFile implements RandomAccess {
  readonly size: number;
  bytesRead = 0;
  readonly #pieces: readonly (readonly [position: number, bytes: Uint8Array])[];

  constructor(size: number, ...pieces: (readonly [number, Uint8Array])[]) {
    this.size = size;
    this.#pieces = pieces;
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const result = new Uint8Array(Math.max(0, Math.min(length, this.size - position)));
    for (const [start, bytes] of this.#pieces) {
      const from = Math.max(start, position);
      const to = Math.min(start + bytes.length, position + result.length);
      if (from < to) result.set(bytes.subarray(from - start, to - start), from - position);
    }
    this.bytesRead += result.length;
    return result;
  }
}

async function decide(name: string, file: RandomAccess): Promise<string> {
  try {
    return (await decideContentType(name, file, 'extension')).contentType;
  } catch (error) {
    if (error instanceof MediaError) return error.code;
    throw error;
  }
}

const whole = (bytes: Uint8Array) => new SparseFile(bytes.length, [0, bytes]);
const latin1 = (text: string) => Buffer.from(text, 'latin1');

function box(kind: string, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(body.length + 8);
  header.write(kind, 4, 'latin1');
  return Buffer.concat([header, body]);
}

function longHeader(kind: string, size: number): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32BE(1);
  header.write(kind, 4, 'latin1');
  header.writeBigUInt64BE(BigInt(size), 8);
  return header;
}

const fileType = (brand = 'isom') => box('ftyp', latin1(`${brand}\0\0\0\0${brand}`));
const track = (handler: string) =>
  box('trak', box('mdia', box('hdlr', latin1(`\0\0\0\0\0\0\0\0${handler}`))));
const movie = (...handlers: string[]) => box('moov', box('mvhd', Buffer.alloc(100)), ...handlers.map(track));

describe('the track list of an MP4', () => {
  test.each([
    [['vide', 'soun'], 'video/mp4'],
    [['soun', 'vide'], 'video/mp4'],
    [['soun', 'soun', 'tmcd', 'text', 'vide'], 'video/mp4'],
    [['soun'], 'not_media'],
    [['soun', 'text', 'meta'], 'not_media'],
    [['sbtl'], 'not_media'],
    [['tmcd'], 'video/mp4'],
    [['soun', 'sprt'], 'video/mp4'],
    [[], 'video/mp4'],
  ])('%j: %s', async (handlers, decision) => {
    expect(await decide('a.mp4', whole(Buffer.concat([fileType(), movie(...handlers)])))).toBe(decision);
  });

  test.each([
    [['vide', 'soun'], 'video/mp4'],
    [['soun'], 'not_media'],
  ])('%j behind 3 GiB of data is found: %s', async (handlers, decision) => {
    const start = fileType();
    const list = movie(...handlers);
    const data = longHeader('mdat', 3 * gibibyte);
    const end = start.length + 3 * gibibyte;
    const file = new SparseFile(end + list.length, [0, start], [start.length, data], [end, list]);
    expect(await decide('a.mp4', file)).toBe(decision);
    expect(file.bytesRead).toBeLessThan(100_000);
  });

  test('of 40 MiB, as of a book of many hours, is not read whole', async () => {
    const tables = 40 * 2 ** 20;
    const trackBox = track('soun');
    const list = Buffer.concat([
      longHeader('moov', 16 + tables + trackBox.length),
      longHeader('free', tables),
    ]);
    const start = fileType();
    const at = start.length + 16 + tables;
    const file = new SparseFile(at + trackBox.length, [0, start], [start.length, list], [at, trackBox]);
    expect(await decide('a.mp4', file)).toBe('not_media');
    expect(file.bytesRead).toBeLessThan(100_000);
  });

  test.each([
    ['a movie that is cut', Buffer.concat([fileType(), movie('soun', 'vide')]).subarray(0, -20)],
    [
      'a track without a handler',
      Buffer.concat([fileType(), box('moov', track('soun'), box('trak', box('mdia')))]),
    ],
    [
      'a track that is longer than its movie',
      Buffer.concat([fileType(), box('moov', track('soun'), latin1('\0\0\x40\0trak\0\0\0\0'))]),
    ],
    ['a segment without its list', Buffer.concat([fileType(), box('moof', Buffer.alloc(8)), movie('soun')])],
    ['a box of an impossible size', Buffer.concat([fileType(), latin1('\0\0\0\x04junk'), movie('soun')])],
  ])('that cannot be established, %s, leaves it a video', async (_damage, bytes) => {
    expect(await decide('a.mp4', whole(bytes))).toBe('video/mp4');
  });

  test.each([
    ['a.m4a', 'M4A ', ['soun'], 'not_media'],
    ['a.m4a', 'M4A ', [], 'not_media'],
    ['a.m4a', 'M4A ', ['soun', 'vide'], 'video/mp4'],
    ['a.mov', 'qt  ', ['vide'], 'video/quicktime'],
    ['a.mov', 'qt  ', ['soun'], 'not_media'],
    ['a.3gp', '3gp4', ['soun'], 'not_media'],
    ['a.heic', 'mif1', [], 'image/heic'],
  ])('%s of brand %j with %j: %s', async (name, brand, handlers, decision) => {
    expect(await decide(name, whole(Buffer.concat([fileType(brand), movie(...handlers)])))).toBe(decision);
  });

  test.each([
    ['of which the sound names no chapters', []],
    ['of which the sound names titles only', [2]],
  ])('a film under the brand of audio, %s, is a video', async (_what, chapters) => {
    expect(await decide('a.m4a', whole(audiobook('M4A ', chapters)))).toBe('video/mp4');
    expect(await decide('a.m4a', whole(audiobook('M4A ', chapters, 1)))).toBe('video/mp4');
  });

  test('QuickTime from before brands', async () => {
    expect(await decide('a', whole(movie('vide')))).toBe('video/quicktime');
    expect(await decide('a.mov', whole(movie('soun')))).toBe('not_media');
  });

  test('AVIF whose first brand is the general one is AVIF', async () => {
    expect(await decide('a', whole(box('ftyp', latin1('mif1\0\0\0\0mif1miafavif'))))).toBe('image/avif');
  });
});

/** Every brand that mp4ra.org registers, by the type of a file whose major brand it is; those of JPEG 2000, JPEG XL and JPEG XS follow another box there. */
const registered = Object.entries({
  'image/avif': 'avif avio avis MA1A MA1B',
  'image/heic': 'heic heim heis heix',
  'image/heic-sequence': 'hevc hevm hevs hevx',
  'image/avci': 'avci',
  'image/avcs': 'avcs',
  'image/hej2k': 'j2ki',
  'image/hsj2': 'j2is j2ks',
  'image/jxsi': 'jxsi',
  'image/jxss': 'jxss',
  'image/heif':
    '1pic evbi evmi heoi jpeg jpoi MiAB MiAn MiBu MiHA MiHB MiHE MiPr miaf mif1 mif2 pred vvic vvoi',
  'image/heif-sequence': 'evbs evms jpgs msf1 vvis',
  'image/jp2': 'J2P0 J2P1 jp2',
  'image/jpm': 'jpm',
  'image/jpx': 'jpx',
  'image/jxl': 'jxl',
  'image/jxr': 'jpxb',
  'image/jxs': 'jxs',
  'video/mj2': 'mj2s mjp2',
  'video/quicktime': 'qt',
  'video/3gpp2': '3g2a',
  'video/3gpp':
    '3ge6 3ge7 3ge9 3gf9 3gg6 3gg9 3gh9 3gm9 3gmA 3gp4 3gp5 3gp6 3gp7 3gp8 3gp9 3gr6 3gr9 3gs6 3gs9 3gt8 3gt9 3gtv 3gvr',
  'video/x-m4v': 'M4V',
  // Sound only, unless a track says otherwise.
  not_media: 'M4A M4B M4P',
  'video/mp4': 'avc1 iso2 iso3 iso4 iso5 iso6 iso7 iso8 iso9 isoa isob isoc isom mp41 mp42',
}).map(([type, brands]) => ({type, brands: brands.split(' ')}));

/** The other registered brands: of cameras, profiles, segments and protection. They say nothing of pictures or QuickTime. */
const others = (
  '3vra 3vrb 3vrm adti aid3 ARRI av01 avde bbxm CAEP CDes ca4m ca4s caaa caac cabl cafr cama camc caqv casu ccea ccff cdm1 cdm4 ' +
  'ceac cfhd cfsd chd1 chd2 chdf chev chh1 chhd cint clg1 clg2 cmf2 cmfc cmff cmfl cmfs cmhm cmhs comp csh1 cud1 cud2 cud8 cud9 ' +
  'cuvd cvid cvvc cvvm cwvt da0a da0b da1a da1b da2a da2b da3a da3b dash db1p db2g db4g db4h dby1 dmb1 dsms dts1 dts2 dts3 dv1a ' +
  'dv1b dv2a dv2b dv3a dv3b dvr1 dvt1 dxo emsg hevd hevi hvce hvci hvcx hvti iamf ifaa ifah ifai ifas ifau ifav ifhd ifhh ifhr ' +
  'ifhs ifhu ifhx ifrm ifsd im1i im1t im2i im2t isc2 jpsi jxsc LCAG lhte lhti lmsg MFSM MGSV MiAC MiCm mp21 mp71 MPPI mpuf msdh ' +
  'msix MSNV niko nlsl nras oa2d oabl odcf ompp opf2 opx2 ovdp ovly paff pana piff pmff pnvi relo risx ROSS sdv SEAU SEBK senv ' +
  'sims sisx siti sitv slh1 slh2 slh3 ssss ttml ttwv uhvi unif uvvu v3mp v3mt v3nt v3st vvci vwpt XAVC XFVC yt4'
).split(' ');

describe('the brands of a file', () => {
  const start = (...brands: string[]) =>
    box('ftyp', latin1([brands[0], '\0\0', ...brands.slice(1)].map(brand => brand?.padEnd(4)).join('')));
  const typeOf = (...brands: string[]) =>
    decide('a', whole(Buffer.concat([start(...brands), box('mdat', Buffer.alloc(8))])));

  test.each(registered)('$type: whatever is compatible with it', async ({type, brands}) => {
    for (const major of brands) {
      expect(await typeOf(major), major).toBe(type);
      expect(await typeOf(major, major, 'qt'), `${major}, qt`).toBe(type);
      // ISO's own brands say nothing of what is in a file that has no tracks.
      if (type !== 'video/mp4')
        expect(await typeOf(major, 'mif1', major, 'miaf'), `${major}, mif1`).toBe(type);
    }
  });

  test.each([
    ['image/heif', ['mif1']],
    ['image/heif', ['isom', 'miaf', 'mif1']],
    ['image/heic', ['mif1', 'heic']],
    ['image/avif', ['mif1', 'miaf', 'avif']],
    ['image/heif-sequence', ['msf1', 'iso8']],
    ['video/quicktime', ['qt']],
    ['video/quicktime', ['mp42', 'qt']],
    ['video/3gpp2', ['3g2b']],
    ['video/mp4', ['isom', '3gp4']],
    ['video/mp4', []],
  ])('%s: a major brand of no kind, or an unknown one, with %j', async (type, compatible) => {
    for (const major of [...others, 'Zz_9'])
      expect(await typeOf(major, major, ...compatible), major).toBe(type);
  });

  test('an MP4 with pictures beside its tracks is a video, and without tracks a picture', async () => {
    for (const major of ['isom', 'iso8', 'mp42', 'avc1']) {
      const brands = start(major, major, 'mif1', 'heic');
      for (const [bytes, type] of [
        [brands, 'image/heic'],
        [Buffer.concat([brands, movie('vide')]), 'video/mp4'],
        [Buffer.concat([brands, movie('soun')]), 'not_media'],
      ] as const)
        expect(await decide('a', whole(bytes)), major).toBe(type);
    }
  });

  test('no brand is read beyond the end of their box', async () => {
    expect(await decide('a', whole(Buffer.concat([start('Zz_9', 'isom'), latin1('mif1')])))).toBe(
      'video/mp4',
    );
  });
});

/** An element of at most 16,382 bytes, its identifier given as it is written. */
function element(id: string, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([
    Buffer.from(id, 'hex'),
    Buffer.from([0x40 | (body.length >> 8), body.length & 0xff]),
    body,
  ]);
}

const ebmlHeader = (kind: string) => element('1a45dfa3', element('4282', latin1(kind)));
const endlessSegment = Buffer.from('1853806701ffffffffffffff', 'hex');
const entry = (type: number) =>
  element('ae', element('d7', Buffer.from([1])), element('83', Buffer.from([type])));
const overlong = element('1654ae6b', Buffer.concat([Buffer.from('ae7f00', 'hex'), entry(2).subarray(3)]));
const list = (...types: number[]) => element('1654ae6b', ...types.map(entry));

describe('the track list of a Matroska file', () => {
  test.each([
    [[1, 2], 'video/x-matroska'],
    [[2, 1], 'video/x-matroska'],
    [[3], 'video/x-matroska'],
    [[2], 'not_media'],
    [[2, 17], 'not_media'],
    [[17], 'not_media'],
    [[2, 18], 'video/x-matroska'],
    [[], 'video/x-matroska'],
  ])('%j: %s', async (types, decision) => {
    expect(
      await decide('a.mkv', whole(Buffer.concat([ebmlHeader('matroska'), endlessSegment, list(...types)]))),
    ).toBe(decision);
  });

  test.each([
    [[1, 2], 'video/webm'],
    [[2], 'not_media'],
  ])('%j of a live stream, whose lengths are unknown in 1 to 8 bytes: %s', async (types, decision) => {
    const cluster = element('1f43b675', element('e7', Buffer.from([0])));
    for (let length = 1; length <= 8; length += 1) {
      const unknown = Buffer.alloc(length, 0xff);
      unknown[0] = 0xff >> (length - 1);
      // Longer than a length of three bytes can say, if it is taken for one.
      const filling = Buffer.concat([Buffer.from('ec10300000', 'hex'), Buffer.alloc(0x300000)]);
      const start = [ebmlHeader('webm'), Buffer.from('18538067', 'hex'), unknown, filling];
      const endless = Buffer.concat([
        Buffer.from('1f43b675', 'hex'),
        unknown,
        element('e7', Buffer.from([0])),
      ]);
      const file = whole(Buffer.concat([...start, list(...types), endless, cluster]));
      expect(`${length}: ${await decide('a.webm', file)}`).toBe(`${length}: ${decision}`);
      expect(`${length}: ${await decide('a', file)}`).toBe(`${length}: ${decision}`);
    }
  });

  test.each([
    [[1, 2], 'video/webm'],
    [[2], 'not_media'],
  ])('%j behind 3 GiB of clusters is found: %s', async (types, decision) => {
    const clusterHeader = Buffer.from('1f43b675010000004000000000'.slice(0, 24), 'hex');
    const start = Buffer.concat([ebmlHeader('webm'), endlessSegment]);
    const clusters = [0, 1, 2].map(index => [start.length + index * (gibibyte + 12), clusterHeader] as const);
    const end = start.length + 3 * (gibibyte + 12);
    const tracks = list(...types);
    const file = new SparseFile(end + tracks.length, [0, start], ...clusters, [end, tracks]);
    expect(await decide('a.webm', file)).toBe(decision);
    expect(file.bytesRead).toBeLessThan(100_000);
  });

  test.each([
    [
      'a list that is cut',
      Buffer.concat([ebmlHeader('matroska'), endlessSegment, list(2, 1)]).subarray(0, -12),
    ],
    [
      'junk within the list',
      Buffer.concat([ebmlHeader('matroska'), endlessSegment, element('1654ae6b', entry(2), Buffer.alloc(8))]),
    ],
    [
      'a track that is longer than the list',
      Buffer.concat([ebmlHeader('matroska'), endlessSegment, overlong, Buffer.alloc(20_000)]),
    ],
    [
      'a track without a type',
      Buffer.concat([ebmlHeader('matroska'), endlessSegment, element('1654ae6b', entry(2), element('ae'))]),
    ],
    [
      'a cluster without end first',
      Buffer.concat([
        ebmlHeader('matroska'),
        endlessSegment,
        Buffer.from('1f43b67501ffffffffffffff', 'hex'),
        list(2),
      ]),
    ],
    [
      'a list that is cut between two tracks',
      Buffer.concat([ebmlHeader('matroska'), endlessSegment, list(2, 1)]).subarray(0, -entry(1).length),
    ],
    ['no segment', Buffer.concat([ebmlHeader('matroska'), Buffer.alloc(8)])],
  ])('that cannot be established, %s, leaves it a video', async (_damage, bytes) => {
    expect(await decide('a.mkv', whole(bytes))).toBe('video/x-matroska');
  });

  test('is left alone where the document is of another kind', async () => {
    expect(await decide('a', whole(Buffer.concat([ebmlHeader('other'), endlessSegment, list(1)])))).toBe(
      'not_media',
    );
  });
});

describe('what streams begin', () => {
  test.each(['clip.mpg', 'audio-only.mpg'])(
    'the program stream %s, in any part: no film is lost',
    async name => {
      const bytes = readFileSync(new URL(`../../fixtures/${name}`, import.meta.url));
      const isFilm = name === 'clip.mpg';
      for (let end = 14; end <= bytes.length; end += 61) {
        const decision = await decide('a.mpg', whole(bytes.subarray(0, end)));
        if (isFilm || end < 32) expect(`${end}: ${decision}`).toBe(`${end}: video/mpeg`);
        else expect(`${end}: ${decision}`).toBe(`${end}: not_media`);
      }
    },
  );

  const page = (packet: string, flags = 2) =>
    latin1(
      `OggS\0${String.fromCharCode(flags)}${'\0'.repeat(20)}\x01${String.fromCharCode(packet.length)}${packet}`,
    );

  test.each([
    [['\x80theora..', '\x01vorbis..'], 'video/ogg'],
    [['\x01vorbis..', '\x80theora..'], 'video/ogg'],
    [['fishead\0', 'OpusHead', 'OVP80\x01'], 'video/ogg'],
    [['OpusHead'], 'not_media'],
    [['fishead\0', 'Speex   '], 'not_media'],
    [['\x80kate\0\0\0'], 'not_media'],
    [['something'], 'video/ogg'],
  ])('in Ogg %j: %s', async (packets, decision) => {
    expect(
      await decide('a.ogv', whole(Buffer.concat([...packets.map(packet => page(packet)), page('data', 0)]))),
    ).toBe(decision);
  });

  test('an ASF file whose first stream is audio, and whose second is video', async () => {
    const video = readFileSync(new URL('../../fixtures/clip.wmv', import.meta.url));
    const swapped = Buffer.from(video);
    const properties = Buffer.from('9107dcb7b7a9cf118ee600c00c205365', 'hex');
    const first = swapped.indexOf(properties) + 24;
    const second = swapped.indexOf(properties, first) + 24;
    video.copy(swapped, first, second, second + 16);
    video.copy(swapped, second, first, first + 16);
    expect(swapped.equals(video)).toBe(false);
    expect(await decide('a', whole(swapped))).toBe('video/x-ms-asf');
  });
});

test('an ASF file whose header goes on past what is read of it is left a video', async () => {
  const header = readFileSync(new URL('../../fixtures/audio-only.wmv', import.meta.url)).subarray(0, 4096);
  const longer = Buffer.from(header);
  longer.writeBigUInt64LE(100_000n, 16);
  expect(await decide('a.wmv', new SparseFile(200_000, [0, header]))).toBe('not_media');
  expect(await decide('a.wmv', new SparseFile(200_000, [0, longer]))).toBe('video/x-ms-wmv');
});

test('a TIFF whose directory lies past what is read of it is a TIFF by its bytes', async () => {
  expect(await decide('a', new SparseFile(200_000, [0, latin1('II*\0\0\0\x02\0')]))).toBe('image/tiff');
  expect(await decide('a', new SparseFile(200_000, [0, latin1('MM\0*\0\x02\0\0')]))).toBe('image/tiff');
});

describe('3 GiB', () => {
  const named = [
    ['an MP4 of zeros behind its brand', 'a.mp4', fileType()],
    [
      'an MP4 of tiny boxes',
      'a.mp4',
      Buffer.concat([fileType(), ...Array.from({length: 9000}, () => box('free'))]),
    ],
    ['zeros', 'a.mp4', Buffer.alloc(0)],
    ['Matroska of zeros behind its header', 'a.mkv', Buffer.concat([ebmlHeader('matroska'), endlessSegment])],
    [
      'Matroska of tiny elements',
      'a.mkv',
      Buffer.concat([
        ebmlHeader('matroska'),
        endlessSegment,
        ...Array.from({length: 9000}, () => element('ec')),
      ]),
    ],
    ['a sync of MPEG audio before zeros', 'a.mp4', latin1('\xff\xfb\x90\x64')],
    ['an Ogg page before zeros', 'a.ogv', latin1('OggS')],
    [
      'an ASF header that says it is 3 GiB long',
      'a.wmv',
      Buffer.from('3026b2758e66cf11a6d900aa0062ce6c000000c000000000', 'hex'),
    ],
    ['a TIFF whose directory is at the end', 'a.tiff', latin1('II*\0\xf0\xff\xff\xbf')],
    ['an XML declaration before zeros', 'a.svg', latin1('<?xml version="1.0"?>')],
    ['PNG before zeros', 'a.png', latin1('\x89PNG\r\n\x1a\n')],
  ] as const;

  test.each(named)('%s is sent, and at most 2 MiB of it are read', async (_kind, name, head) => {
    const file = new SparseFile(3 * gibibyte, [0, head]);
    expect(await decide(name, file)).toMatch(/^(image|video)\//);
    expect(file.bytesRead).toBeLessThan(2 * 2 ** 20);
  });
});
