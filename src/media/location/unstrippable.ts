/** A file whose location cannot be taken out, or that may have one where nobody can look; `place` says where. */
export class UnstrippableError extends Error {
  readonly place: string;

  constructor(place: string) {
    super(`A location in ${place} cannot be taken out.`);
    this.name = 'UnstrippableError';
    this.place = place;
  }
}

export function wrongLengths(): UnstrippableError {
  return new UnstrippableError('a file that is cut off, or whose lengths are wrong');
}

/** The error for a box, a chunk or an item of a kind that may hold a location. */
export function unknownKind(what: string, kind: string): UnstrippableError {
  return new UnstrippableError(`${what} "${kind.replace(/[^ -~]/g, '?')}"`);
}

/** The depth one level down; refuses more than 32 levels, where real files have less than ten. */
export function nextDepth(depth: number): number {
  if (depth >= 32) throw new UnstrippableError('data that is nested very deeply');
  return depth + 1;
}

/** The codes of four characters in a text, between single spaces. */
export function codesIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/.{4}(?= |$)/g));
}

/** How metadata within pictures begins, such as in a thumbnail: Exif, XMP, IPTC and Photoshop's Exif. */
const metadata = [
  'Exif\0\0',
  'eXIf',
  'ns.adobe.com/x',
  ...['\x04', '"', '#', '$'].map(id => `8BIM\x04${id}`),
];

/** Refuses bytes of unknown structure in which a location is named. */
export function refuseNamedLocation(bytes: Buffer, place: string): void {
  const location = /GPS(?:Lat|Lon|Alt|Pos|Info|Coord|[ :=])|latitude|longitude|ISO6709/i;
  if (location.test(bytes.toString('latin1'))) throw new UnstrippableError(place);
}

/** Refuses a small picture with metadata of its own. */
export function refuseMetadata(bytes: Buffer, place: string): void {
  if (metadata.some(begin => bytes.includes(begin))) throw new UnstrippableError(place);
}

/** Refuses bytes of unknown structure in which a location is named, or a picture with metadata may be. */
export function refuseLocationOrMetadata(bytes: Buffer, place: string): void {
  refuseNamedLocation(bytes, place);
  refuseMetadata(bytes, place);
}
