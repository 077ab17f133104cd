import {isUtf8} from 'node:buffer';
import type {Holder} from '../../lib/files/holder.ts';

/** A path as map keys hold it: one character (U+0000 to U+00FF) for each of its bytes. */
export type PathKey = string;

/** What a journal file begins with; a file cut off within it is a journal that holds nothing yet. */
export const headerStart = '{"journal":"media","version":2,"service":';

/** What a journal is about: the service that has what it tells of, and the part of the inputs that it was written for. */
export interface Scope {
  /** Its base URL, or the embedded service's own identity. */
  service: string;
  /** `K/N`, where the inputs were divided. */
  shard?: string;
}

/** A path, and what spares the reading of what is there: as in `FileState`. */
interface Place {
  path: PathKey;
  stat?: string | undefined;
  types?: string | undefined;
}

/** One transition of one upload, as a line of the journal tells it. The key ties an upload's lines together. */
export type Transition =
  | ({event: 'intent'; key: string; size: number; contentType: string} & Place)
  | {event: 'commit'; key: string; sha256: string}
  | {event: 'done'; key: string; sha256: string; recordJson: string}
  | {event: 'failed'; key: string; code: string; message: string}
  | {event: 'resolved'; key: string; as: 'uploaded'; sha256: string; recordJson: string}
  | {event: 'resolved'; key: string; as: 'resend'; sha256: string}
  /** What is at the service is to count for nothing: it may be sent again. */
  | {event: 'forgotten'; key: string}
  /** There is a file at that path with the content of that upload. */
  | ({event: 'seen'; key: string; size: number} & Place);

const printableAscii = /^[ -~]*$/;

/** The key of a path that is given as text, or as bytes where it is not UTF-8. */
export function pathKey(path: string | Uint8Array): PathKey {
  if (typeof path !== 'string') return Buffer.from(path).toString('latin1');
  return printableAscii.test(path) ? path : Buffer.from(path).toString('latin1');
}

/** A path's text, with U+FFFD for what is not UTF-8, and its bytes in Base64 where the text does not say all. */
export function pathFields(key: PathKey): {path: string; pathBase64?: string} {
  if (printableAscii.test(key)) return {path: key};
  const bytes = Buffer.from(key, 'latin1');
  const path = bytes.toString();
  return isUtf8(bytes) ? {path} : {path, pathBase64: bytes.toString('base64')};
}

/** The first line of a journal, without its line break. */
export function formatHeader({service, shard}: Scope): string {
  const part = shard === undefined ? '' : `,"shard":${JSON.stringify(shard)}`;
  return `${headerStart}${JSON.stringify(service)}${part}}`;
}

/**
 * What a line tells of its writer: that it begins, that it lives, that what it committed until here is about to be sent, and
 * that it ends. The last one to begin is the only one that may send anything.
 */
export type WriterEvent = 'open' | 'alive' | 'release' | 'close';

/** A line about a writer, with its line break. */
export function formatWriterLine(event: WriterEvent, {token, ...holder}: Holder, now: number): string {
  const process = event === 'open' ? `,"process":${JSON.stringify(holder)}` : '';
  return `{"event":"${event}","by":"${token}","at":"${new Date(now).toISOString()}"${process}}\n`;
}

/** A transition as a line of the journal that a writer writes, with its line break; the record's JSON is embedded as it is. */
export function formatTransition(transition: Transition, by: string, now: number): string {
  const {event, key} = transition;
  const at = new Date(now).toISOString();
  const start = `{"event":"${event}","idempotencyKey":${JSON.stringify(key)},"by":"${by}","at":"${at}"`;
  switch (event) {
    case 'intent':
      return `${start},${placeFields(transition)},"contentType":${JSON.stringify(transition.contentType)}}\n`;
    case 'seen':
      return `${start},${placeFields(transition)}}\n`;
    case 'commit':
      return `${start},${hashField(transition)}}\n`;
    case 'done':
      return `${start},${hashField(transition)}${recordField(transition)}}\n`;
    case 'forgotten':
      return `${start}}\n`;
    case 'failed': {
      const {code, message} = transition;
      return `${start},"error":${JSON.stringify({code, message})}}\n`;
    }
    case 'resolved': {
      const record = transition.as === 'uploaded' ? recordField(transition) : '';
      return `${start},"as":"${transition.as}",${hashField(transition)}${record}}\n`;
    }
  }
}

function placeFields({path, size, stat, types}: Place & {size: number}): string {
  const pathText = JSON.stringify(pathFields(path)).slice(1, -1);
  const statText = stat === undefined ? '' : `,"stat":"${stat}"`;
  const typesText = types === undefined ? '' : `,"types":${JSON.stringify(types)}`;
  return `${pathText},"size":${size}${statText}${typesText}`;
}

function hashField({sha256}: {sha256: string}): string {
  return `"sha256":${JSON.stringify(sha256)}`;
}

/** What comes before a record, which is the last member of its line. */
export const recordMark = ',"record":';

function recordField({recordJson}: {recordJson: string}): string {
  // JSON has line breaks only between its tokens.
  return `${recordMark}${recordJson.replace(/[\r\n]+/g, ' ')}`;
}
