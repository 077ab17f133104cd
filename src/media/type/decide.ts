import {extname} from 'node:path';
import {MediaError, NotMediaError} from '../../errors.ts';
import {type Hint, hint, option} from '../../hint.ts';
import type {RandomAccess} from '../../lib/files/random-access.ts';
import {mediaTypeText, parseMediaType} from '../../lib/media-type.ts';
import {type Claim, describeMismatch, mismatchError, notMediaError, showable} from './sentences.ts';
import {type Finding, type MediaFinding, sniff} from './sniff/sniff.ts';
import {markup, plainText} from './sniff/text.ts';
import {ambiguousExtensions, extensionTypes, furtherTypes, textExtensions} from './tables/extension-types.ts';
import {
  commonTypes,
  isMediaType,
  isMoreSpecific,
  leastSize,
  textTypes,
  typesAgree,
} from './tables/type-tables.ts';

/** The values of `--types`. */
export type TypeRule = 'extension' | 'content' | 'strict';

export interface TypeDecision {
  contentType: string;
  /** One sentence, if the name and the bytes have different types. */
  warning?: Hint;
}

/** Decides the content type by name and bytes. `isFound`: by a walk, which takes a text for one if its name says so. */
export async function decideContentType(
  name: string,
  bytes: RandomAccess,
  rule: TypeRule,
  isFound = false,
): Promise<TypeDecision> {
  const nameClaim = await readExtension(name);
  const finding = withoutOwnText(nameClaim, await sniff(bytes));
  // The bytes decide between the types of an extension that has several.
  const isFurther = finding?.isMedia && furtherTypes.get(nameClaim.extension)?.includes(finding.type);
  const claim = isFurther ? {...nameClaim, type: finding.type} : nameClaim;
  const certainType = claim.isAmbiguous ? undefined : claim.type;
  if (finding?.isMedia === false) throw notMediaError(claim, finding, certainType !== undefined);
  if (isFound && finding?.isText && isNamedText(claim))
    throw notMediaError(claim, {isMedia: false, what: plainText}, false);
  const decision = finding && typeOfMedia(claim, finding, rule);
  const contentType = decision?.contentType ?? certainType;
  if (contentType === undefined) throw notMediaError(claim, finding, false);
  if (bytes.size < leastSize(contentType))
    throw notMediaError(
      claim,
      {isMedia: false, what: `too few for a file of type ${contentType}`, isPart: true},
      certainType !== undefined,
    );
  return decision ?? {contentType};
}

/** Decides the content type of a source. A given type does not count for what a walk finds and nothing calls media. */
export async function decideSourceType(
  {name, found}: {name: string; found?: {isNamedMedia(): boolean | Promise<boolean>} | undefined},
  opened: RandomAccess,
  {types, contentType}: {types: TypeRule; contentType?: string | undefined},
): Promise<TypeDecision> {
  if (contentType === undefined) return decideContentType(name, opened, types, found !== undefined);
  if (found !== undefined && !(await found.isNamedMedia()))
    await decideContentType(name, opened, 'content', true).catch(error => {
      if (!(error instanceof NotMediaError) || !error.isCalledMedia) throw error;
    });
  return {contentType};
}

/** The type of a file whose bytes are media; throws if the rule, or an ambiguous extension, forbids a mismatch. */
function typeOfMedia(claim: Claim, finding: MediaFinding, rule: TypeRule): TypeDecision {
  const {type, isAmbiguous} = claim;
  const agree = type !== undefined && typesAgree(type, finding.type);
  if (rule === 'strict' && !agree) throw mismatchError(claim, finding);
  if (rule === 'content') {
    const isMoreTelling = type !== undefined && isMoreSpecific(type, finding.type);
    return {contentType: isMoreTelling ? type : finding.type};
  }
  if (isAmbiguous && !agree) throw notMediaError(claim, finding, !finding.isText);
  if (type === undefined || agree) return {contentType: type ?? finding.type};
  return {contentType: type, warning: describeMismatch(claim, type, finding.type)};
}

/** The finding, or none if the bytes are text and the name's type is a text format: then the name decides. */
function withoutOwnText({type}: Claim, finding: Finding): Finding {
  if (finding?.isMedia !== false || type === undefined) return finding;
  // The root element of an SVG may come after the bytes that were read.
  const isOwnText =
    finding.what === plainText ? textTypes.has(type) : finding.what === markup && type === 'image/svg+xml';
  return isOwnText ? undefined : finding;
}

/** Whether a name says that the file is a text; one that says XML or any bytes may be a picture. */
function isNamedText({extension, otherType}: Claim): boolean {
  if (otherType === undefined) return textExtensions.has(extension);
  return otherType !== 'application/xml' && otherType !== 'application/octet-stream';
}

/** What the extension of a name says: our own tables come before mime-types, which takes time to load. */
async function readExtension(name: string): Promise<Claim> {
  const extension = extname(name).slice(1).toLowerCase();
  let type = extensionTypes.get(extension) ?? commonTypes.get(extension);
  if (type === undefined && extension !== '')
    type = (await import('mime-types')).default.lookup(extension) || undefined;
  const claim = {name, extension, isAmbiguous: ambiguousExtensions.has(extension)};
  if (type === undefined) return claim;
  return isMediaType(type) ? {type, ...claim} : {otherType: type, ...claim};
}

/** Whether the name alone says that a file is an image or a video. */
export async function isNamedMedia(name: string): Promise<boolean> {
  const {type, isAmbiguous} = await readExtension(name);
  return type !== undefined && !isAmbiguous;
}

/** Parses and normalises `--content-type` (RFC 9110, 8.3.1); a usage error if it is not image/* or video/*. */
export function parseContentType(value: string): string {
  const mediaType = parseMediaType(value.trim());
  if (mediaType === undefined || !isMediaType(mediaType.type) || mediaType.type.includes('*')) {
    const text = showable(value).slice(0, 60);
    throw new MediaError('usage', `"${text}" is not the type of an image or a video.`, {
      hint: hint`For example ${option('contentType', 'image/png')}, or ${option('contentType', 'video/mp4')}.`,
    });
  }
  return mediaTypeText(mediaType);
}
