import {type Box, boxesOf} from './boxes.ts';
import {walkItems} from './heif-items.ts';
import type {Part} from './part.ts';
import {refuseMetadata, refuseNamedLocation, UnstrippableError} from './unstrippable.ts';
import {isLocation, walkXmp} from './xmp.ts';

const containers = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'moof', 'traf', 'udta']);

/** Boxes in which no location can be: those of media data, sample tables and settings (ISO/IEC 14496-12, QuickTime). */
const harmless = new Set(
  (
    'ftyp styp pnot sidx ssix prft pdin emsg mfra mfhd tfhd tfdt trun mvhd iods mvex clip ctab tkhd tref edts load ' +
    'matt tapt tgas mdhd elng hdlr vmhd smhd nmhd sthd hmhd gmhd dinf stts ctts cslg stsc stsz stz2 stco co64 stss stps sdtp ' +
    'sbgp sgpd subs saiz saio stsh padb stdp senc hnti hinf tagc chpl LOOP SelO AllF WLOC ludt pitm iref iprp ipro grpl idat ' +
    'mhdr ctry lang ptv  data'
  ).match(/.{4}(?= |$)/g),
);

/** Boxes of text and small values, which are searched for a location. */
const texts = new Set(
  (
    'free skip junk titl dscp cprt perf auth gnre rtng clsf kywd albm yrrc name date manu modl xml  smta saut SDLN svmi vndr ' +
    'wide PICT FIRM LENS CAME SETT MUID HMMT BCID GUMI thmb desc keys ilst'
  ).match(/.{4}(?= |$)/g),
);

const locationBoxes = new Set(['\xa9xyz', '@xyz', 'loci']);
const xmpUuid = 'be7acfcb97a942e89c71999491e3afac';

/** Those of Sony's profile, of encryption and of spherical videos. */
const harmlessUuids = new Set([
  '50524f4621d24fcebb88695cfac9c740',
  '55534d5421d24fcebb88695cfac9c740',
  'a2394f525a9b4f14a2446c427c648df4',
  'd4807ef2ca3946958e5426cb9e46a79f',
  '6d1d9b0542d544e680e2141daff757b2',
  'ffcc8263f8554a938814587a02521fdd',
]);

/** Kinds of tracks that consist of pictures, sound and time codes only. */
const trackKinds = new Set(['vide', 'soun', 'pict', 'auxv', 'tmcd', 'hint', 'clcp', 'meta']);

/** Blanks the location in an MP4, QuickTime or HEIF file; `file` is where the offsets of its items count from. */
export async function walkIsobmff(file: Part): Promise<void> {
  await walkBoxes({file, unsearched: 20_000_000}, file, '');
}

interface Walk {
  readonly file: Part;
  /** How much of the media data is searched yet: dashcams have their positions within the first 20 MB (exiftool). */
  unsearched: number;
}

async function walkBoxes(walk: Walk, part: Part, within: string): Promise<void> {
  for await (const box of boxesOf(part)) await walkBox(walk, box, within);
}

async function walkBox(walk: Walk, box: Box, within: string): Promise<void> {
  const {kind, content} = box;
  const unknown = () => new UnstrippableError(`a box "${kind.replace(/[^ -~]/g, '?')}"`);
  if (kind === 'trak') await checkTrack(content);
  if (containers.has(kind)) await walkBoxes(walk, content, kind);
  else if (kind === 'meta') await walkMeta(walk, content);
  else if (kind === 'mpvd') await walkIsobmff(content.unclaimed());
  else if (locationBoxes.has(kind)) await blankBox(box);
  else if (kind === 'XMP_') await walkXmp(content.owned());
  else if (kind === 'uuid') await walkUuid(content, unknown());
  else if (kind === 'mdat') {
    await search(content, walk.unsearched, kind);
    walk.unsearched = Math.max(0, walk.unsearched - content.size);
  } else if (kind === 'stsd') await search(content, content.size, 'a track');
  else if (texts.has(kind) || (within === 'udta' && kind.startsWith('\xa9')))
    await search(content, content.size, `a box "${kind}"`);
  else if (!harmless.has(kind)) throw unknown();
}

/** Turns a box into free space. */
async function blankBox({content, header}: Box): Promise<void> {
  await content.zero(0, content.size);
  await header.write(4, Buffer.from('free'));
}

/** Refuses bytes in which a location is named. */
async function search(part: Part, most: number, place: string): Promise<void> {
  const end = Math.min(most, part.size);
  for (let at = 0; at < end; at += 2 ** 20) {
    const block = await part.read(at, Math.min(2 ** 20 + 32, part.size - at));
    if (block.includes('freeGPS ')) throw new UnstrippableError('the positions of a dashcam');
    if (place === 'mdat') continue;
    refuseNamedLocation(block, place);
    refuseMetadata(block, place);
  }
}

async function walkUuid(content: Part, unknown: UnstrippableError): Promise<void> {
  const id = (await content.read(0, 16)).toString('hex');
  if (id === xmpUuid) await walkXmp(content.slice(16).owned());
  else if (!harmlessUuids.has(id)) throw unknown;
  else await search(content, content.size, 'a box "uuid"');
}

/** Refuses a track that may be a list of positions. */
async function checkTrack(track: Part): Promise<void> {
  const media = (await boxes(track)).find(({kind}) => kind === 'mdia');
  const inMedia = media === undefined ? [] : await boxes(media.content);
  const handler = inMedia.find(({kind}) => kind === 'hdlr');
  if (handler === undefined) throw new UnstrippableError('a track of an unknown kind');
  const kind = (await handler.content.read(8, 4)).toString('latin1');
  if (!trackKinds.has(kind))
    throw new UnstrippableError(`a track of the kind "${kind.replace(/[^ -~]/g, '?')}"`);
  if (kind !== 'meta') return;
  const information = inMedia.find(box => box.kind === 'minf');
  const table = (information && (await boxes(information.content)))?.find(box => box.kind === 'stbl');
  const described = (table && (await boxes(table.content)))?.find(box => box.kind === 'stsd');
  const text = (await described?.content.read(0, described.content.size))?.toString('latin1') ?? '';
  // Apple's timed metadata names its keys.
  if (text.slice(12, 16) !== 'mebx' || text[7] !== '\x01' || /location|gps/i.test(text))
    throw new UnstrippableError('a track of timed metadata');
}

async function boxes(part: Part): Promise<Box[]> {
  const found = [];
  for await (const box of boxesOf(part)) found.push(box);
  return found;
}

/** Walks the metadata of a file, a movie or a track: items, or keys with their values. */
async function walkMeta(walk: Walk, meta: Part): Promise<void> {
  // In QuickTime files it has no version.
  const isOld = (await meta.read(4, 4)).toString('latin1') === 'hdlr';
  const inside = await boxes(meta.slice(isOld ? 0 : 4));
  const names: string[] = [];
  for (const {kind, content} of inside) {
    if (kind !== 'keys') continue;
    if (names.length > 0) throw new UnstrippableError('several lists of keys');
    for await (const key of boxesOf(content.slice(8)))
      names.push((await key.content.read(0, key.content.size)).toString('latin1'));
  }
  for (const box of inside) {
    if (box.kind === 'ilst') await walkValues(box.content, names);
    else if (box.kind !== 'keys' && box.kind !== 'iinf' && box.kind !== 'iloc')
      await walkBox(walk, box, 'meta');
  }
  await walkItems(walk.file, inside);
}

/** Turns the values of keys that tell a place into free space. */
async function walkValues(list: Part, names: readonly string[]): Promise<void> {
  for await (const item of boxesOf(list)) {
    const index = (await item.header.read(4, 4)).readUInt32BE(0);
    const named = item.kind === '----' ? await boxes(item.content) : [];
    const own = named.find(({kind}) => kind === 'name')?.content;
    const name = (await own?.read(4, own.size - 4))?.toString('latin1') ?? names[index - 1] ?? item.kind;
    const tellsPlace =
      /location|gps|latitude|longitude|\xa9xyz/i.test(name) || isLocation(name.replace(/^.*\./, ''));
    if (!tellsPlace) await search(item.content, item.content.size, 'a value of the movie');
    else await blankBox(item);
  }
}
