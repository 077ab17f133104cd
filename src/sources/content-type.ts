import {extname} from 'node:path';
import {MediaError, NotMediaError} from '../errors.ts';
import {
  extensionTypes,
  isAmbiguousExtension,
  isMediaType,
  tabledExtensionType,
  typesAgree,
} from './content-type-tables.ts';
import {type Finding, loadSniffer, sniff} from './sniff.ts';
import {lfsPointer} from './sniff-text.ts';
import type {Source} from './source.ts';

/** The values of `--types`. */
export type TypeRule = 'extension' | 'content' | 'strict';

/** Random access to the bytes of an opened file. */
export interface RandomAccess {
  readonly size: number;
  /** Reads at a position; fewer bytes than asked for only at the end. */
  read(position: number, length: number): Promise<Uint8Array>;
}

export interface TypeDecision {
  contentType: string;
  /** One sentence, where the name and the bytes speak of different types. */
  warning?: string;
}

/** Decides under which type a file is sent, by its name and its bytes; refuses with a MediaError what is no media. */
export async function decideContentType(
  name: string,
  bytes: RandomAccess,
  rule: TypeRule,
): Promise<TypeDecision> {
  const claim = await readExtension(name);
  const finding = await sniff(bytes);
  if (finding?.isMedia === false || isUncalled(claim, finding)) throw notMedia(claim, finding);
  if (rule === 'strict') return decideStrictly(claim, finding);
  const isConfirmed =
    finding !== undefined && claim.type !== undefined && typesAgree(claim.type, finding.type);
  if (claim.isAmbiguous && !isConfirmed && !(rule === 'content' && finding)) throw notMedia(claim, finding);
  if (finding && (claim.type === undefined || rule === 'content')) return {contentType: finding.type};
  if (claim.type === undefined) throw notMedia(claim, finding);
  if (finding === undefined || isConfirmed) return {contentType: claim.type};
  return {contentType: claim.type, warning: describeMismatch(claim, claim.type, finding.type)};
}

/**
 * The same of a source, whose type may be given. What a walk found is refused as no media under a given type, too: that
 * is not about what else lies in the directory.
 */
export async function decideSourceType(
  source: Source,
  opened: RandomAccess,
  {types, contentType}: {types: TypeRule; contentType?: string},
): Promise<TypeDecision> {
  if (contentType === undefined) return decideContentType(source.typeName, opened, types);
  await refuseToTake(source, opened);
  return {contentType};
}

/** Rejects with a NotMediaError for what a walk found and neither name nor bytes call an image or a video. */
export async function refuseToTake({typeName, found}: Source, opened: RandomAccess): Promise<void> {
  if (found === undefined || (await found.isNamedMedia())) return;
  await decideContentType(typeName, opened, 'content').catch(error => {
    if (!(error instanceof NotMediaError) || !error.isCalledMedia) throw error;
  });
}

/** Whether neither the name nor the bytes call a file an image or a video. */
function isUncalled({type, isAmbiguous}: Claim, finding: Finding): boolean {
  return (type === undefined || isAmbiguous) && finding?.isMedia !== true;
}

function decideStrictly(claim: Claim, finding: (Finding & {isMedia: true}) | undefined): TypeDecision {
  if (claim.type !== undefined && finding && typesAgree(claim.type, finding.type))
    return {contentType: claim.type};
  throw new MediaError(
    'type_mismatch',
    `The name and the bytes of ${fileOf(claim)} do not agree: ${describe(claim, finding)}.`,
    {
      hint: `Name the type with --content-type ${claim.type ?? finding?.type ?? 'image/png'}, or leave out --types strict.`,
    },
  );
}

/** What a file's name claims. */
interface Claim {
  /** The file's name, which may hold anything. */
  name: string;
  /** In lower case, without its dot; empty if there is none. It may hold anything, too. */
  extension: string;
  /** The image/* or video/* type of the extension. */
  type?: string;
  /** The type of an extension that names something else. */
  otherType?: string;
  isAmbiguous: boolean;
}

/** Loads what a rare type needs: once very many files are open, no module can be loaded any more. */
export async function loadTypeKnowledge(): Promise<void> {
  await Promise.all([import('mime-types'), loadSniffer()]);
}

function readExtension(name: string): Claim | Promise<Claim> {
  const extension = extname(name).slice(1).toLowerCase();
  const type = tabledExtensionType(extension);
  return extension === '' || type !== undefined
    ? claimOf(name, extension, type)
    : lookUp(extension).then(found => claimOf(name, extension, found));
}

/** Whether a name alone calls a file an image or a video. */
export function isNamedMedia(name: string): boolean | Promise<boolean> {
  const claim = readExtension(name);
  const isMedia = ({type, isAmbiguous}: Claim) => type !== undefined && !isAmbiguous;
  return claim instanceof Promise ? claim.then(isMedia) : isMedia(claim);
}

function claimOf(name: string, extension: string, type: string | undefined): Claim {
  const claim = {name, extension, isAmbiguous: isAmbiguousExtension(extension)};
  if (type === undefined) return claim;
  return isMediaType(type) ? {...claim, type} : {...claim, otherType: type};
}

function fileOf({name}: Claim): string {
  return name === '-' ? 'Standard input' : showable(name);
}

function extensionOf({extension}: Claim): string {
  return shorten(showable(extension));
}

async function lookUp(extension: string): Promise<string | undefined> {
  const {default: mimeTypes} = await import('mime-types');
  return mimeTypes.lookup(extension) || undefined;
}

// A file's name may hold anything, and a message is printed.
function showable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
}

function shorten(text: string): string {
  return text.length > 16 ? `${text.slice(0, 16)}...` : text;
}

function notMedia(claim: Claim, finding: Finding): NotMediaError {
  const other = finding?.isMedia === false ? finding : undefined;
  const overrule = `--content-type ${claim.type ?? other?.container ?? 'image/png'}`;
  return new NotMediaError(
    `${fileOf(claim)} is not recognised as an image or a video: ${describe(claim, finding)}.`,
    {
      isCalledMedia: !isUncalled(claim, finding),
      hint:
        other?.what === lfsPointer
          ? `Run git lfs pull to get the file itself; ${overrule} sends the pointer all the same.`
          : `If it is one all the same, name its type, for example ${overrule}.`,
    },
  );
}

/** Both findings in one clause: what the extension says, and what the bytes say. */
function describe(claim: Claim, finding: Finding): string {
  const bytes = finding?.isMedia ? finding.type : finding?.what;
  return `${describeClaim(claim)}, and the bytes ${bytes === undefined ? 'are of no known kind' : `say ${bytes}`}`;
}

function describeClaim(claim: Claim): string {
  if (claim.extension === '') return 'the name has no extension';
  const named = claim.type ?? claim.otherType;
  return named === undefined
    ? `the extension .${extensionOf(claim)} is unknown`
    : `the extension .${extensionOf(claim)} says ${named}`;
}

function describeMismatch(claim: Claim, sent: string, found: string): string {
  return `The extension .${extensionOf(claim)} says ${sent}, but the bytes say ${found}: sent as ${sent} (--types content sends ${found}).`;
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quotedString = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\\t\\x20-\\x7e])*"';
const typePattern = new RegExp(`^(image|video)/(${token})`, 'i');
const parameterPattern = new RegExp(`[ \\t]*;[ \\t]*(?:(${token})=(${token}|${quotedString}))?`, 'y');

/** Checks a value of `--content-type` (RFC 9110, 8.3.1) and writes it the usual way; a usage error if it is no image/* or video/*. */
export function parseContentType(value: string): string {
  const text = value.trim();
  const [whole, type, subtype] = typePattern.exec(text) ?? [];
  if (whole === undefined || type === undefined || subtype === undefined || subtype.includes('*'))
    throw badType(value);
  let parsed = `${type}/${subtype}`.toLowerCase();
  parameterPattern.lastIndex = whole.length;
  while (parameterPattern.lastIndex < text.length) {
    const parameter = parameterPattern.exec(text);
    if (parameter === null) throw badType(value);
    // A semicolon with nothing behind it is allowed, and says nothing.
    if (parameter[1] !== undefined) parsed += `; ${parameter[1].toLowerCase()}=${parameter[2]}`;
  }
  return parsed;
}

function badType(value: string): MediaError {
  const shown = showable(value).slice(0, 60);
  return new MediaError('usage', `--content-type takes an image or video type, not "${shown}".`, {
    hint: 'For example --content-type image/png, or --content-type video/mp4.',
  });
}

/** The extensions (lower case, without a dot) and the media types that stand for images and videos, each sorted. */
export async function mediaNames(): Promise<{extensions: string[]; types: string[]}> {
  const {types} = await import('mime-types');
  const known = [...Object.entries(types), ...extensionTypes].filter(([, type]) => isMediaType(type));
  return {
    extensions: [...new Set(known.map(([extension]) => extension))].sort(),
    types: [...new Set(known.map(([, type]) => type))].sort(),
  };
}
