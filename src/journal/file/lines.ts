import {isUtf8} from 'node:buffer';
import type {Holder} from '../../lib/files/holder.ts';

/** A path as a map key: one character (U+0000 to U+00FF) per byte. */
export type PathKey = string;

/** The beginning of every journal; a file that ends within it is an empty journal. */
export const headerStart = '{"journal":"media","version":2,"service":';

/** What a journal belongs to: the service that it describes, and the part of the inputs that it was written for. */
export interface Scope {
  /** The base URL, or the identity of the embedded service. */
  service: string;
  /** The account there that the key belongs to, if the service says so. */
  account?: string;
  /** `K/N`, if the inputs were divided. */
  shard?: string;
  /** What the service that was first seen there sends as Media-Service-Id, if it does. */
  serviceId?: string;
}

/** A path, and the state of the file there: as in `FileState`. */
interface Place {
  path: PathKey;
  size: number;
  stat?: string | undefined;
  types?: string | undefined;
}

/** What is about to be uploaded. */
export type Intent = Place & {contentType: string};

/** One transition of one upload, as a line of the journal. The lines of an upload have the same key. */
export type Transition =
  | ({event: 'intent'; key: string} & Intent)
  /** With the intent, unless a line before has it. */
  | ({event: 'commit'; key: string; sha256: string} & Partial<Intent>)
  /** The hash of an upload that another journal has committed. */
  | ({event: 'hashed'; key: string; sha256: string} & Partial<Intent>)
  /** `serviceId`: which service has stored it, unless a line before says so. */
  | {event: 'done'; key: string; recordJson: string; serviceId?: string | undefined}
  | {event: 'failed'; key: string; code: string; message: string}
  | {event: 'resolved'; key: string; as: 'uploaded'; sha256: string; recordJson: string}
  | {event: 'resolved'; key: string; as: 'resend'; sha256: string}
  /** The stored file no longer counts: the content may be sent again. */
  | {event: 'forgotten'; key: string}
  /** A file at this path has the content of that upload. */
  | ({event: 'seen'; key: string} & Place);

const printableAscii = /^[ -~]*$/;

/** The key of a path, given as text, or as bytes if it is not UTF-8. */
export function pathKey(path: string | Uint8Array): PathKey {
  if (typeof path !== 'string') return Buffer.from(path).toString('latin1');
  return printableAscii.test(path) ? path : Buffer.from(path).toString('latin1');
}

/** The text of a path, with U+FFFD for bytes that are not UTF-8, and in that case also its bytes in Base64. */
export function pathFields(key: PathKey): {path: string; pathBase64?: string} {
  if (printableAscii.test(key)) return {path: key};
  const bytes = Buffer.from(key, 'latin1');
  const path = bytes.toString();
  return isUtf8(bytes) ? {path} : {path, pathBase64: bytes.toString('base64')};
}

/** The first line of a journal, without its line break. */
export function formatHeader({service, account, shard, serviceId}: Scope): string {
  const owner = account === undefined ? '' : `,"account":${JSON.stringify(account)}`;
  const part = shard === undefined ? '' : `,"shard":${JSON.stringify(shard)}`;
  return `${headerStart}${JSON.stringify(service)}${owner}${part}${idField(serviceId)}}`;
}

/**
 * What a writer reports about itself: it begins, it is alive, everything that it committed so far is about to be sent,
 * or it ends. Only the writer that began last may send anything.
 */
export type WriterEvent = 'open' | 'alive' | 'release' | 'close';

/** A line about a writer, with a line break. */
export function formatWriterLine(event: WriterEvent, {token, ...holder}: Holder, now: number): string {
  const process = event === 'open' ? `,"process":${JSON.stringify(holder)}` : '';
  return `{"event":"${event}","by":"${token}","at":"${new Date(now).toISOString()}"${process}}\n`;
}

/**
 * A transition as a line by this writer, with a line break; the record's JSON is embedded unchanged. A record stands whoever
 * wrote it, and the time of a commit is that of the release after it.
 */
export function formatTransition(transition: Transition, by: string): string {
  const {event, key} = transition;
  const upload = `{"event":"${event}","idempotencyKey":${JSON.stringify(key)}`;
  if (event === 'done') return `${upload}${idField(transition.serviceId)}${recordField(transition)}}\n`;
  const start = `${upload},"by":"${by}"`;
  switch (event) {
    case 'intent':
      return `${start},${intentFields(transition)}}\n`;
    case 'seen':
      return `${start},${placeFields(transition)}}\n`;
    case 'commit':
    case 'hashed': {
      const intent = hasIntent(transition) ? `,${intentFields(transition)}` : '';
      return `${start}${intent},${hashField(transition)}}\n`;
    }
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

function hasIntent(transition: Partial<Intent>): transition is Intent {
  return transition.path !== undefined;
}

function intentFields(intent: Intent): string {
  return `${placeFields(intent)},"contentType":${JSON.stringify(intent.contentType)}`;
}

function placeFields({path, size, stat, types}: Place): string {
  const pathText = JSON.stringify(pathFields(path)).slice(1, -1);
  const statText = stat === undefined ? '' : `,"stat":"${stat}"`;
  const typesText = types === undefined ? '' : `,"types":${JSON.stringify(types)}`;
  return `${pathText},"size":${size}${statText}${typesText}`;
}

function idField(serviceId: string | undefined): string {
  return serviceId === undefined ? '' : `,"serviceId":${JSON.stringify(serviceId)}`;
}

function hashField({sha256}: {sha256: string}): string {
  return `"sha256":${JSON.stringify(sha256)}`;
}

/** The text before a record, which is the last member of its line. */
export const recordMark = ',"record":';

function recordField({recordJson}: {recordJson: string}): string {
  // JSON has line breaks only between its tokens.
  return `${recordMark}${recordJson.replace(/[\r\n]+/g, ' ')}`;
}
