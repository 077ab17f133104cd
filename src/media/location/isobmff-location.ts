import {type Box, boxAt, boxesIn, contentWithin} from './boxes.ts';
import {walkItems} from './heif-items.ts';
import type {Part} from './part.ts';
import {
  codesIn,
  nextDepth,
  refuseLocationOrMetadata,
  UnstrippableError,
  unknownKind,
} from './unstrippable.ts';
import {isLocation, walkXmp} from './xmp.ts';

const containers = codesIn('moov trak mdia minf stbl moof traf udta');

/** Boxes in which no location can be: those of media data, sample tables and settings (ISO/IEC 14496-12, QuickTime). */
const harmless = codesIn(
  'ftyp styp pnot sidx ssix prft pdin emsg mfra mfhd tfhd tfdt trun mvhd iods mvex clip ctab tkhd tref edts load ' +
    'matt tapt tgas mdhd elng hdlr vmhd smhd nmhd sthd hmhd gmhd dinf stts ctts cslg stsc stsz stz2 stco co64 stss stps sdtp ' +
    'sbgp sgpd subs saiz saio stsh padb stdp senc hnti hinf tagc chpl LOOP SelO AllF WLOC ludt pitm iref iprp ipro grpl idat ' +
    'mhdr ctry lang ptv  data',
);

/** Boxes of text and small values, which are searched for a location. */
const texts = codesIn(
  'free skip junk titl dscp cprt perf auth gnre rtng clsf kywd albm yrrc name date manu modl xml  smta saut SDLN svmi vndr ' +
    'wide PICT FIRM LENS CAME SETT MUID HMMT BCID GUMI thmb desc keys ilst',
);

/** Those of Sony's profile, of encryption and of spherical videos. */
const harmlessUuids = new Set([
  '50524f4621d24fcebb88695cfac9c740',
  '55534d5421d24fcebb88695cfac9c740',
  'a2394f525a9b4f14a2446c427c648df4',
  'd4807ef2ca3946958e5426cb9e46a79f',
  '6d1d9b0542d544e680e2141daff757b2',
  'ffcc8263f8554a938814587a02521fdd',
]);

/** Keys that tell a place, or where a camera looks or moves. */
const locationKey = /location|gps|latitude|longitude|direction\.|\xa9xyz/i;

/** Blanks the location in an MP4, QuickTime or HEIF file; `file` begins with it, since offsets count from its start. */
export async function walkIsobmff(file: Part, depth = 0): Promise<void> {
  for (let at = 0, count = 0; at < file.size; count += 1) {
    const box = await file.step(() => boxAt(file, at));
    if (box === undefined) return;
    // A long recording in fragments has a few for each second.
    if (count > 1_000_000) throw new UnstrippableError('very many boxes');
    const {kind, content, whole} = box;
    if (kind === 'mpvd') await walkIsobmff(content.withoutClaim(), nextDepth(depth));
    else await refusePositions(box);
    if (!['mpvd', 'mdat'].includes(kind) && !texts.has(kind))
      await file.step(() => walkBox(file, box, '', depth));
    at += whole.size;
  }
}

/** Refuses a text box that names a location, and any box with a dashcam's positions: no track need refer to those. */
async function refusePositions({kind, content}: Box): Promise<void> {
  // Begins what AVCHD camcorders write into their pictures (H.264 SEI): the time, the exposure and the position.
  const camcorder = Buffer.from('17ee8c60f84d11d98cd60800200c9a664d44504d', 'hex');
  for await (const {block} of content.blocks(2 ** 20, 32)) {
    if (block.includes('freeGPS ') || hasGoProRecord(block))
      throw new UnstrippableError('the positions of a dashcam');
    if (block.includes(camcorder)) throw new UnstrippableError('the data of a camcorder');
    if (texts.has(kind)) refuseLocationOrMetadata(block, `a box "${kind}"`);
  }
}

/** Whether a block begins a record of sensor data: `GP`, two bytes, a length below 16 MiB, eight bytes, `DEVC`. */
function hasGoProRecord(block: Buffer): boolean {
  for (let at = block.indexOf('DEVC', 16); at !== -1; at = block.indexOf('DEVC', at + 1))
    if (block.toString('latin1', at - 16, at - 14) === 'GP' && block[at - 12] === 0) return true;
  return false;
}

/** Blanks the location in a box, or refuses it, as any unknown kind. `within`: the kind of its parent, or empty. */
function walkBox(file: Part, box: Box, within: string, depth: number): void {
  const {kind, content} = box;
  if (kind === 'trak') refuseUnknownTrack(content);
  if (containers.has(kind)) for (const one of boxesIn(content)) walkBox(file, one, kind, nextDepth(depth));
  else if (kind === 'meta') walkMeta(file, content, nextDepth(depth));
  else if (/^(?:[\xa9@]xyz|loci)$/.test(kind)) blankBox(box);
  else if (kind === 'XMP_') walkXmp(content.withOwner());
  else if (kind === 'uuid') walkUuid(content);
  else if (kind === 'stsd') refuseLocationOrMetadata(content.readAll(), 'a track');
  else if (texts.has(kind) || (within === 'udta' && kind.startsWith('\xa9')))
    refuseLocationOrMetadata(content.readAll(), `a box "${kind}"`);
  else if (!harmless.has(kind)) throw unknownKind('a box', kind);
}

/** Turns a box into free space. */
function blankBox({content, whole}: Box): void {
  content.zero(0, content.size);
  whole.write(4, Buffer.from('free'));
}

/** Blanks XMP; refuses a UUID that is not in the list, and a location in a listed box. */
function walkUuid(content: Part): void {
  const id = content.read(0, 16).toString('hex');
  if (id === 'be7acfcb97a942e89c71999491e3afac') walkXmp(content.slice(16).withOwner());
  else if (!harmlessUuids.has(id)) throw unknownKind('a box', 'uuid');
  else refuseLocationOrMetadata(content.readAll(), 'a box "uuid"');
}

/** Refuses a track that may be a list of positions. */
function refuseUnknownTrack(track: Part): void {
  const media = contentWithin(track, 'mdia');
  const kind = contentWithin(media, 'hdlr')?.read(8, 4).toString('latin1');
  if (kind === undefined) throw new UnstrippableError('a track of an unknown kind');
  // The others consist of pictures, sound and time codes only.
  if (!/^(?:vide|soun|pict|auxv|tmcd|hint|clcp|meta)$/.test(kind))
    throw unknownKind('a track of the kind', kind);
  if (kind !== 'meta') return;
  const text = contentWithin(media, 'minf', 'stbl', 'stsd')?.readAll().toString('latin1') ?? '';
  // Apple's timed metadata names its keys.
  if (text.slice(12, 16) !== 'mebx' || text[7] !== '\x01' || locationKey.test(text))
    throw new UnstrippableError('a track of timed metadata');
}

/** Walks the metadata of a file, a movie or a track: items, or keys with their values. */
function walkMeta(file: Part, meta: Part, depth: number): void {
  // In QuickTime files, the box has no version, and begins with its handler.
  const hasVersion = meta.read(4, 4).toString('latin1') !== 'hdlr';
  const inside = boxesIn(meta.slice(hasVersion ? 4 : 0));
  const [keys, ...others] = inside.filter(({kind}) => kind === 'keys');
  if (others.length > 0) throw new UnstrippableError('several lists of keys');
  const names = keys === undefined ? [] : keyNames(keys.content);
  for (const box of inside) {
    if (box.kind === 'ilst') walkValues(box.content, names);
    else if (!['keys', 'iinf', 'iloc'].includes(box.kind)) walkBox(file, box, 'meta', depth);
  }
  walkItems(file, inside);
}

/** The names of keys, which values refer to by number; throws if there are more or fewer than declared. */
function keyNames(keys: Part): string[] {
  const names = boxesIn(keys.slice(8)).map(({content}) => content.readAll().toString('latin1'));
  if (keys.read(4, 4).readUInt32BE(0) !== names.length)
    throw new UnstrippableError('a list of keys that is wrong');
  return names;
}

/** Turns the values of keys that tell a place into free space. */
function walkValues(list: Part, names: readonly string[]): void {
  for (const item of boxesIn(list)) {
    const index = Buffer.from(item.kind, 'latin1').readUInt32BE(0);
    // iTunes writes the name of a key of its own beside the value.
    const ownName = item.kind === '----' ? contentWithin(item.content, 'name')?.slice(4) : undefined;
    const name = ownName?.readAll().toString('latin1') ?? names[index - 1] ?? item.kind;
    if (locationKey.test(name) || isLocation(name.replace(/^.*\./, ''))) blankBox(item);
    else refuseLocationOrMetadata(item.content.readAll(), 'a value of the movie');
  }
}
