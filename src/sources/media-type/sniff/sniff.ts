import {holdsAudioFrames, isAudioStream} from '../bytes/audio.ts';
import {matches, type RandomAccess} from '../bytes/bytes.ts';
import {type Contents, readContainer} from '../tracks/containers.ts';
import {canonicalType, isMediaType, mayBeText} from '../types/tables.ts';
import {sniffPicture} from './pictures.ts';
import {isConfirmed, isCursor, sniffSignature} from './signatures.ts';
import {sniffPlainText, sniffText} from './text.ts';

const headLength = 64 * 1024;

/** Containers for which file-type cannot tell whether there is video. */
const undecided = new Set(['application/ogg', 'application/vnd.ms-asf']);

/** Audio types that file-type reports after only two bytes. */
const bareAudio = new Set(['audio/mpeg', 'audio/aac', 'audio/vnd.dolby.dd-raw']);

/** Finds out what a file's bytes are, from its first 64 KiB and, for containers, from the list of tracks. */
export async function sniff(bytes: RandomAccess): Promise<Finding> {
  const head = await bytes.read(0, Math.min(headLength, bytes.size));
  const isWhole = head.length === bytes.size;
  const type = sniffSignature(head) ?? sniffText(head, isWhole) ?? sniffPicture(head);
  const text = type === undefined || isMediaType(type) ? sniffPlainText(head, isWhole) : undefined;
  // Whatever a text begins with, it is in no binary format.
  if (text !== undefined && (type === undefined || !mayBeText(type))) return finding(text);
  if (type !== undefined) return finding(type, text !== undefined);
  const container = await readContainer(head, bytes);
  if (container !== undefined) return containerFinding(container);
  return askFileType(head, bytes);
}

function finding(type: string, isText = false): Finding {
  return isMediaType(type) ? {isMedia: true, type, isText} : {isMedia: false, what: type};
}

// Without known tracks, the file is what its first bytes say: a video that was cut short is still a video.
function containerFinding({type, tracks}: Contents): Finding {
  if (tracks === undefined || tracks === 'video') return {isMedia: true, type};
  return {isMedia: false, what: tracks, container: type};
}

/** Loads the module that sniffing nearly always needs. */
export async function loadSniffer(): Promise<void> {
  await import('file-type');
}

async function askFileType(head: Uint8Array, bytes: RandomAccess): Promise<Finding> {
  const {fileTypeFromBuffer} = await import('file-type');
  // It throws for some malformed files, which count as not recognised.
  const reported = (await fileTypeFromBuffer(head).catch(() => undefined))?.mime;
  if (reported === undefined) return isTiff(head) ? {isMedia: true, type: 'image/tiff'} : undefined;
  // XML is left to sniffText, which reads more than the declaration.
  if (reported === 'application/xml' || undecided.has(reported)) return undefined;
  if (!isConfirmed(reported, head, bytes.size)) return undefined;
  if (bareAudio.has(reported) && !(await isAudio(bytes))) return undefined;
  return finding(reported === 'image/x-icon' && isCursor(head) ? 'image/x-cursor' : canonicalType(reported));
}

// mediabunny needs more bytes than a short file has.
async function isAudio(bytes: RandomAccess): Promise<boolean> {
  return (await holdsAudioFrames(bytes, 0, bytes.size)) || isAudioStream(bytes);
}

// file-type also needs the directory, which may be at the end of a large file.
function isTiff(head: Uint8Array): boolean {
  return matches(head, 0, 'II*\0') || matches(head, 0, 'MM\0*');
}

/** What the bytes are: an image or video, certainly something else, or unknown (undefined). */
export type Finding = MediaFinding | OtherFinding | undefined;

export interface MediaFinding {
  isMedia: true;
  type: string;
  /** Whether its first bytes are text. */
  isText?: boolean;
}

export interface OtherFinding {
  isMedia: false;
  /** A media type or a description; for a video container, its content. */
  what: string;
  /** The type of the container if it contained video. */
  container?: string;
}
