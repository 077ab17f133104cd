import {type Holder, holderShape} from '../lib/files/holder.ts';
import {fromText, isText, toBytes, toText} from '../lib/files/typed-path.ts';
import {hasShape, isObject, parseObject} from '../lib/json.ts';
import type {Variant} from './identity.ts';

/** A path as a map key: one character (U+0000 to U+00FF) per byte. */
export type PathKey = string;

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
  /** Whether the service has declared that it honours Idempotency-Key. */
  honoursKeys?: boolean;
}

/** A path, and the state of the file there. If all of it is unchanged, the content is unchanged too, and need not be read. */
export interface FileState {
  path: PathKey;
  size: number;
  /** The times, device and inode; undefined if they cannot be trusted. */
  stat?: string | undefined;
  /** What decided the content type. */
  types?: string | undefined;
}

/** What is about to be uploaded. */
export type Intent = FileState & Variant;

/** One transition of one upload, as a line of the journal. The lines of an upload have the same key. */
export type Transition =
  | ({event: 'intent'; key: string} & Intent)
  /** With the intent, unless a line before has it; `hashed`: of an upload that another journal has committed. */
  | ({event: 'commit' | 'hashed'; key: string; sha256: string} & Partial<Intent>)
  /** `serviceId`: which service has stored it, unless a line before says so. */
  | {event: 'done'; key: string; recordJson: string; serviceId?: string | undefined}
  | {event: 'failed'; key: string; error: {code: string; message: string}}
  | {event: 'resolved'; key: string; as: 'uploaded'; sha256: string; recordJson: string}
  | {event: 'resolved'; key: string; as: 'resend'; sha256: string}
  /** The stored file no longer counts: the content may be sent again. */
  | {event: 'forgotten'; key: string}
  /** A file at this path has the content of that upload. */
  | ({event: 'seen'; key: string} & FileState);

/** What a line may say of an upload besides its event, key, writer and record. */
interface Members extends Partial<Intent> {
  as?: string;
  sha256?: string;
  serviceId?: string | undefined;
  error?: {code?: unknown; message?: unknown};
}

/** The JSON type of each member; one of another type is ignored. */
const memberTypes: Readonly<Record<keyof Members, 'string' | 'number' | 'object'>> = {
  path: 'string',
  size: 'number',
  stat: 'string',
  types: 'string',
  contentType: 'string',
  transform: 'string',
  as: 'string',
  sha256: 'string',
  serviceId: 'string',
  error: 'object',
};
const memberNames = Object.keys(memberTypes) as (keyof Members)[];

const intentMembers = ['path', 'size', 'contentType'] as const;

/** The members without which a line is not one. A place and a content type come together where a line need not have them. */
const neededMembers = new Map<unknown, readonly (keyof Members)[]>([
  ['intent', intentMembers],
  ['seen', ['path', 'size']],
  ['commit', ['sha256']],
  ['hashed', ['sha256']],
  ['done', []],
  ['failed', []],
  ['resolved', ['as', 'sha256']],
  ['forgotten', []],
] satisfies [Transition['event'], readonly (keyof Members)[]][]);

/** A line about an upload, and its writer; recordIn() returns its record. */
export interface UploadLine extends Members {
  event: Transition['event'];
  key: string;
  by: string;
}

/** What a writer says of itself: it begins, lives, is about to send all that it committed, or ends. Only the last to begin may send. */
export type WriterEvent = 'open' | 'alive' | 'release' | 'close';

/** A line about a writer; only its `open` line identifies the process. */
export interface WriterLine {
  event: WriterEvent;
  by: string;
  at?: string | undefined;
  holder?: Holder;
}

/** The first line of a journal. */
export type HeaderLine = {event: 'header'; version: unknown} & Partial<Scope>;

export type ParsedLine = HeaderLine | UploadLine | WriterLine;

/** The key of a path, given as text, or as bytes if it is not UTF-8. */
export function pathKey(path: string | Uint8Array): PathKey {
  return typeof path === 'string' ? fromText(path) : Buffer.from(path).toString('latin1');
}

/** The text of a path, with U+FFFD for bytes that are not UTF-8, and in that case also its bytes in Base64. */
export function pathFields(key: PathKey): {path: string; pathBase64?: string} {
  const path = toText(key);
  return isText(key) ? {path} : {path, pathBase64: toBytes(key).toString('base64')};
}

/** The beginning of every journal; a file that ends within it is an empty journal. */
const headerStart = '{"journal":"media","version":2,"service":';

/** The first line of a journal, with a line break. */
export function formatHeader({service, account, shard, serviceId, honoursKeys}: Scope): string {
  return `${JSON.stringify({journal: 'media', version: 2, service, account, shard, serviceId, honoursKeys})}\n`;
}

/** No first write of a journal has more bytes. */
const longestOpening = 4096;

/** Whether this may be what a power cut left of a header: its beginning, or its length without its bytes. */
export function mayBeHeader(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  if (/^\0+$/.test(text)) return text.length <= longestOpening;
  return text !== '' && (text.startsWith(headerStart) || headerStart.startsWith(text));
}

/** A line about a writer, with a line break. */
export function formatWriterLine(event: WriterEvent, {token: by, ...holder}: Holder, now: number): string {
  const at = new Date(now).toISOString();
  return `${JSON.stringify({event, by, at, process: event === 'open' ? holder : undefined})}\n`;
}

/** The text before a record, which is the last member of its line. */
const recordMark = ',"record":';

/** A transition as a line, with its record's JSON unchanged. A record needs no writer; the time of a commit is that of the next release. */
export function formatTransition(transition: Transition, by: string): string {
  const {event, key, path, ...members}: Omit<UploadLine, 'by'> = transition;
  const line: Fields = {event, idempotencyKey: key, by: event === 'done' ? undefined : by};
  if (path !== undefined) Object.assign(line, pathFields(path));
  for (const name of memberNames) if (name !== 'path') line[name] = members[name];
  const json = JSON.stringify(line);
  if (!('recordJson' in transition)) return `${json}\n`;
  // JSON has line breaks only between its tokens.
  return `${json.slice(0, -1)}${recordMark}${transition.recordJson.replace(/[\r\n]+/g, ' ')}}\n`;
}

/** The same line without the permission to send: in a merged journal, commits would wait for their release in vain. */
export function withoutCommit(line: string): string {
  return line.replace('{"event":"commit"', '{"event":"hashed"');
}

/** The JSON of a line's record, unchanged: its numbers keep every digit. */
export function recordIn(line: string): string | undefined {
  const mark = line.indexOf(recordMark);
  return mark === -1 ? undefined : line.slice(mark + recordMark.length, line.lastIndexOf('}')).trim();
}

export function isRecordJson(text: string): boolean {
  return isRecord(parseObject(text));
}

/** A cheap check, since a run prints this as the service's record. */
function isRecord(value: unknown): boolean {
  const id = isObject(value) ? value['id'] : undefined;
  return typeof id === 'number' || (typeof id === 'string' && id !== '');
}

const writerEvents: ReadonlySet<unknown> = new Set<WriterEvent>(['open', 'alive', 'release', 'close']);

export function isWriterLine(line: ParsedLine): line is WriterLine {
  return writerEvents.has(line.event);
}

/** The lines in a text by which a writer began. */
export function openLinesIn(text: string): WriterLine[] {
  const lines = text.split('\n').filter(line => line.includes('"event":"open"'));
  return lines.map(parseLine).filter((line): line is WriterLine => line?.event === 'open');
}

/** Parses a line of a journal; undefined if it is not one. */
export function parseLine(text: string): ParsedLine | undefined {
  // A record is one level deeper in its line.
  const value = parseObject(text, {wrapping: 1});
  if (value === undefined) return undefined;
  if (value['journal'] === 'media') return parseHeader(value);
  const {event, by} = value;
  if (writerEvents.has(event) && typeof by === 'string') return parseWriter(event as WriterEvent, by, value);
  const line = parseUpload(value);
  if (line === undefined) return undefined;
  const needsRecord = line.event === 'done' || (line.event === 'resolved' && line.as !== 'resend');
  if (!needsRecord) return line;
  // Where recordIn() finds it.
  const isAtEnd = Object.keys(value).at(-1) === 'record' && text.includes(recordMark);
  return isAtEnd && isRecord(value['record']) ? line : undefined;
}

type Fields = Record<string, unknown>;

function parseHeader({version, service, account, shard, serviceId, honoursKeys}: Fields): HeaderLine {
  const scope = {service, account, shard, serviceId};
  const texts = Object.entries(scope).filter(([, value]) => typeof value === 'string');
  const declared = typeof honoursKeys === 'boolean' && {honoursKeys};
  return {event: 'header', version, ...Object.fromEntries(texts), ...declared};
}

function parseWriter(event: WriterEvent, by: string, {at, process}: Fields): WriterLine {
  const line = {event, by, at: typeof at === 'string' ? at : undefined};
  const holder = isObject(process) ? {...process, token: by} : {};
  return hasShape(holder, holderShape) ? {...line, holder} : line;
}

function parseUpload(value: Fields): UploadLine | undefined {
  const {event, idempotencyKey: key, pathBase64} = value;
  const by = event === 'done' ? '' : value['by'];
  const needed = neededMembers.get(event);
  if (typeof key !== 'string' || key === '' || typeof by !== 'string' || needed === undefined)
    return undefined;
  const line: Fields & {path?: unknown} = {event, key, by};
  for (const name of memberNames) if (typeof value[name] === memberTypes[name]) line[name] = value[name];
  const isComplete = (names: readonly string[]) => names.every(name => Object.hasOwn(line, name));
  if (!isComplete(needed) || (line.path !== undefined && event !== 'seen' && !isComplete(intentMembers)))
    return undefined;
  if (typeof line.path === 'string')
    line.path = pathKey(typeof pathBase64 === 'string' ? Buffer.from(pathBase64, 'base64') : line.path);
  return line as unknown as UploadLine;
}
