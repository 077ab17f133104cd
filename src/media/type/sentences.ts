import {MediaError, NotMediaError} from '../../errors.ts';
import {fact, type Hint, hint, option, phrase} from '../../hint.ts';
import {appleDouble, type Finding, type MediaFinding, type OtherFinding} from './sniff/sniff.ts';
import {lfsPointer} from './sniff/text.ts';

/** What a file's name says about its type. */
export interface Claim {
  /** The file's name, which may contain any characters. */
  name: string;
  /** In lower case without the dot; empty if there is none. It may contain any characters. */
  extension: string;
  /** The image/* or video/* type of the extension. */
  type?: string;
  /** The type of an extension that is not an image or a video. */
  otherType?: string;
  isAmbiguous: boolean;
}

/** The error for a file that is neither an image nor a video, or that nothing shows to be one. */
export function notMediaError(claim: Claim, finding: Finding, isCalledMedia: boolean): NotMediaError {
  return new NotMediaError(
    phrase`${fact('subject', fileText(claim))} is not recognised as an image or a video: ${describe(claim, finding)}.`,
    {isCalledMedia, hint: hintFor(claim, finding)},
  );
}

/** The error for a file whose name and bytes have different types. */
export function mismatchError(claim: Claim, finding: MediaFinding): MediaError {
  const sentence = phrase`The name and the bytes of ${fact('file', fileText(claim))} do not agree: ${describe(claim, finding)}.`;
  return new MediaError('type_mismatch', sentence, {
    hint: hint`Set the type with ${option('contentType', finding.type)}, or leave out ${option('types', 'strict')}.`,
  });
}

/** The warning that a file is sent with another type than its bytes have. */
export function describeMismatch(claim: Claim, sent: string, found: string): Hint {
  return hint`The extension .${extensionText(claim)} says ${sent}, but the bytes say ${found}: sent as ${sent} (${option('types', 'content')} sends ${found}).`;
}

/** The text on one line: each control, format or unassigned character becomes a question mark. */
export function showable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}

/** How a sentence names the file, at its beginning. */
function fileText({name}: Claim): string {
  return name === '-' ? 'Standard input' : name;
}

/** The extension for a message: on one line, of at most 16 characters. */
function extensionText({extension}: Claim): string {
  const text = showable(extension);
  return text.length > 16 ? `${text.slice(0, 16)}...` : text;
}

/** The types by extension and by bytes in one clause. */
function describe(claim: Claim, finding: Finding): string {
  return `${describeClaim(claim)}, and the bytes ${describeBytes(finding)}`;
}

/** What the extension says, as a clause. */
function describeClaim(claim: Claim): string {
  if (claim.extension === '') return 'the name has no extension';
  if (claim.type !== undefined) return `the extension .${extensionText(claim)} says ${claim.type}`;
  return claim.otherType === undefined
    ? `the extension .${extensionText(claim)} is unknown`
    : `the extension .${extensionText(claim)} is for other files`;
}

/** What the bytes are, as the end of a clause that begins with "the bytes". */
function describeBytes(finding: Finding): string {
  if (finding === undefined) return 'are not recognised';
  if (finding.isMedia) return `say ${finding.type}`;
  const {what, container} = finding;
  const words = wordsFor(container ?? what);
  return container === undefined ? `are ${words}` : `are ${words} that contains only ${what}`;
}

/** What to do about a file that is not recognised: a remedy that its content suggests, else how to send it anyway. */
function hintFor(claim: Claim, finding: Finding): Hint {
  if (finding?.isMedia) return hint`To send it, set its type: ${option('contentType', finding.type)}`;
  const remedy = finding && remedyFor(claim, finding);
  return (
    remedy ??
    hint`If it is one anyway, set its type, for example: ${option('contentType', claim.type ?? 'image/png')}`
  );
}

/** What to do about a file that is something else; undefined if it is called media and nothing is known of it. */
function remedyFor({type, isAmbiguous}: Claim, {what, container, isPart}: OtherFinding): Hint | undefined {
  if (isPart) return 'Get the whole file, or leave it out.';
  if (what === lfsPointer) return 'Run git lfs pull to get the file itself.';
  if (container !== undefined)
    return hint`It contains no picture; ${option('contentType', type ?? container)} sends it anyway.`;
  if (what === appleDouble)
    return 'It contains metadata that macOS keeps about another file, whose name has no ._: upload that one.';
  if (archives.some(([type]) => type.test(what))) return 'Unpack it, and upload the images and videos in it.';
  const isCalledMedia = type !== undefined && !isAmbiguous;
  return isCalledMedia ? undefined : 'Leave it out: only images and videos can be uploaded.';
}

type TypeWords = readonly (readonly [type: RegExp, words: string])[];

const archives: TypeWords = [
  [/\/zip$/, 'a ZIP archive'],
  [/\/gzip$/, 'a gzip archive'],
  [/x-tar$/, 'a TAR archive'],
  [/7z-compressed$/, 'a 7-Zip archive'],
  [/rar-compressed$/, 'a RAR archive'],
  [/-compressed$|x-(?:bzip2|xz|lzip|lz4|cpio|asar|unix-archive)$|\/zstd$/, 'a compressed archive'],
];

/** Common names of formats that are often found in place of images and videos; the first pattern that fits counts. */
const wordsOfTypes: TypeWords = [
  [/^text\/html$/, 'an HTML page'],
  [/^application\/xml$/, 'an XML document'],
  [/^application\/json$/, 'JSON data'],
  [/mpegurl$/, 'a playlist'],
  [/x-elf$|mach-binary$|msdownload$/, 'a program'],
  [/\/pdf$/, 'a PDF document'],
  [/\/(?:postscript|eps)$/, 'a PostScript document'],
  // Old Office documents, installers, mails and folder thumbnails share one format.
  [/x-cfb$/, 'a compound file such as an old Office document'],
  ...archives,
  [/^video\/3gpp$/, 'a 3GP file'],
  [/^video\/(?:mp4|x-m4v)$/, 'an MP4 file'],
  [/^video\/mpeg$/, 'an MPEG program stream'],
  [/^video\/ogg$/, 'an Ogg file'],
  [/^video\/quicktime$/, 'a QuickTime file'],
  [/^video\/webm$/, 'a WebM file'],
  [/^video\/x-matroska$/, 'a Matroska file'],
  [/^video\/x-ms-asf$/, 'a Windows Media file'],
  [/^audio\/mpeg$/, 'MP3 audio'],
  [/^audio\//, 'an audio file'],
];

/** The common name of a media type, with its article; a text that is not a media type stays as it is. */
export function wordsFor(type: string): string {
  if (!/^[a-z]+\/\S+$/.test(type)) return type;
  return wordsOfTypes.find(([pattern]) => pattern.test(type))?.[1] ?? `a file of type ${type}`;
}
