import type {Part} from './part.ts';
import {refuseMetadata, UnstrippableError} from './unstrippable.ts';

const place = 'XMP metadata';

/**
 * The local names of properties that tell a place, in any namespace: those of Exif, IPTC, Photoshop, Darwin Core,
 * Google and DJI, with what exiftool has in its group of locations beside them. The address of the creator, and
 * "ISOSpeedLatitude", only sound so.
 */
const locationName =
  /gps|longt?itude|latitude(?!yyy|zzz)|altitude|geotag|geography|elevation(?!angle)|locality|lrftarget(?:lat|lon|(?:abs)?alt)|^(?:city|state|country(?:name|code)?|(?:shot|dcterms)?location(?:created|shown|name|id|code|remarks)?|sublocation|provincestate|stateprovince|worldregion|continent|waterbody|island(?:group)?|county|municipality|verbatimcoordinates|footprintwkt|georeference(?:remarks|sources)|coverage|earthpos|pose|ratingregion|lat|long?|lat_long|mcc|mnc|lac|cellid|cgi|(?:cam|gimbal)reverse|(?:flight|gimbal)(?:pitch|roll|yaw)degree|flight[xyz]speed|rtk(?:flag|std(?:hgt|lat|lon)))$/i;

const name = '[A-Za-z_\\x80-\\uffff][\\w.\\-:\\x80-\\uffff]*';
const attribute = `(${name})\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`;
const attributePattern = new RegExp(attribute, 'g');

/** One piece of XML: an instruction, a comment, CDATA, an end tag, a start tag, or text. */
const piece = new RegExp(
  `<\\?[^<>]*\\?>|<!--[^<]*?-->|<!\\[CDATA\\[[^<]*?\\]\\]>|</(?<end>${name})\\s*>|` +
    `<(?<start>${name})(?<attributes>(?:\\s+${attribute})*)\\s*(?<empty>/?)>|[^<]+`,
  'y',
);

/** A property that a lenient reader may find where an exact one sees text. */
const looseProperty = new RegExp(`<(${name})[\\s/>]|\\s(${name})\\s*=\\s*["']`, 'g');

/** Overwrites the properties of an XMP packet that tell a place with spaces; returns whether there were any. */
export function walkXmp(packet: Part): boolean {
  const bytes = packet.readAll();
  const [first, second] = bytes;
  const isLittle = first === 0xff || second === 0;
  // UTF-8 is read as bytes: all that is looked for is ASCII.
  const encoding = isLittle || first === 0xfe || first === 0 ? 'utf16le' : 'latin1';
  if (encoding === 'utf16le' && bytes.length % 2 !== 0) throw new UnstrippableError(place);
  const inByteOrder = (buffer: Buffer) =>
    encoding === 'latin1' || isLittle ? buffer : Buffer.from(buffer).swap16();
  const copy = Buffer.from(inByteOrder(bytes));
  const width = encoding === 'latin1' ? 1 : 2;
  const text = copy.toString(encoding);
  // Another prefix than the usual one of Sony Ericsson's namespace, whose names are as short as "r".
  if (/xmlns:(?!cell\s*=)[^\s=]+\s*=\s*["']http:\/\/developer\.sonyericsson\.com\/cell/.test(text))
    throw new UnstrippableError(place);
  const spans = locationSpans(text);
  for (const {start, end} of spans) copy.fill(' ', width * start, width * end, encoding);
  const rest = copy.toString(encoding);
  for (const [, element, property] of rest.matchAll(looseProperty))
    if (isLocation(element ?? property ?? '')) throw new UnstrippableError(place);
  // Thumbnails and depth maps are whole pictures in base64, broken into lines by some writers.
  for (const [picture] of rest.replace(/&#x?[\da-f]+;|\s+/gi, '').matchAll(/[a-z\d+/]{64,}/gi))
    refuseMetadata(Buffer.from(picture, 'base64'), 'a picture in XMP metadata');
  if (spans.length > 0) packet.write(0, inByteOrder(copy));
  return spans.length > 0;
}

/** Whether a property, by its name with or without a prefix, tells a place. */
export function isLocation(name: string): boolean {
  const [, prefix, local = ''] = /^(?:([^:]*):)?(.*)$/s.exec(name) ?? [];
  return prefix !== 'xmlns' && (name === 'cell:r' || locationName.test(local));
}

/** Where in an XMP packet elements and attributes tell a place; some may be within others. */
function locationSpans(text: string) {
  const spans: {start: number; end: number}[] = [];
  const open: {name: string; at: number}[] = [];
  for (piece.lastIndex = 0; piece.lastIndex < text.length; ) {
    const at = piece.lastIndex;
    const match = piece.exec(text);
    if (match === null || open.length > 100) throw new UnstrippableError(place);
    const {start, end, attributes = '', empty} = match.groups ?? {};
    if (start !== undefined) {
      open.push({name: start, at});
      for (const {0: whole, 1: property = '', index} of attributes.matchAll(attributePattern)) {
        // The value of such a property is elsewhere in the packet.
        if (property === 'rdf:nodeID') throw new UnstrippableError(place);
        const begin = at + 1 + start.length + index;
        if (isLocation(property)) spans.push({start: begin, end: begin + whole.length});
      }
    }
    if (end !== undefined || empty === '/') {
      const element = open.pop();
      if (element === undefined || (end ?? element.name) !== element.name) throw new UnstrippableError(place);
      if (isLocation(element.name)) spans.push({start: element.at, end: piece.lastIndex});
    } else if (open.length === 0 && !/^(?:<[?!]|[\s\0\ufeff\xef\xbb\xbf]*$)/.test(match[0])) {
      throw new UnstrippableError(place);
    }
  }
  if (open.length > 0) throw new UnstrippableError(place);
  return spans;
}
