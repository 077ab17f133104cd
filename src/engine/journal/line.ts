import {type Holder, holderShape} from '../../lib/files/holder.ts';
import {fromText, isText, toBytes, toText} from '../../lib/files/typed-path.ts';
import {hasShape, isObject, parseObject} from '../../lib/json.ts';
import type {ReceivedRecord} from '../service/record.ts';
import type {Variant} from './journal-identity.ts';

/** A path as a map key: one character (U+0000 to U+00FF) per byte. */
export type PathKey = string;

/** What a journal belongs to: one service, one account there, and one shard of the inputs. */
export interface Scope {
  /** The base URL, or the identity of the embedded service. */
  service: string;
  /** The account of the API key, if the service reports it. */
  account?: string;
  /** `K/N` with `--shard`. */
  shard?: string;
  /** The Media-Service-Id in the first responses, if the service sends it. */
  serviceId?: string;
  /** Whether the service declares that it honours Idempotency-Key. */
  honoursKeys?: boolean;
}

/** A path and the state of its file. A file in an equal state has equal content, so it need not be read. */
export interface FileState {
  path: PathKey;
  size: number;
  /** The times, device and inode; undefined if a change might leave them equal. */
  stat?: string | undefined;
  /** The type rule of the run, and after a space its transform, if it has one. */
  types?: string | undefined;
}

/** A file and the variant of it that a run is about to upload. */
export type Intent = FileState & Variant;

/** One transition of one upload, which is one line of the journal. All lines of an upload have the same key. */
export type Transition =
  | ({event: 'intent'; key: string} & Intent)
  /** With the intent, unless an earlier line has it. `hashed`: a commit that was merged from another journal. */
  | ({event: 'commit' | 'hashed'; key: string; sha256: string} & Partial<Intent>)
  /** `serviceId`: the service that stored the upload, unless an earlier line names it. */
  | {event: 'done'; key: string; recordJson: string; serviceId?: string | undefined}
  | {event: 'failed'; key: string; error: {code: string; message: string}}
  | {event: 'resolved'; key: string; as: 'uploaded'; sha256: string; recordJson: string}
  | {event: 'resolved'; key: string; as: 'resend'; sha256: string}
  /** The user has removed the stored file: the content may be sent again. */
  | {event: 'forgotten'; key: string}
  /** A file at this path has the content of that upload. */
  | ({event: 'seen'; key: string} & FileState);

/** The members of a line about an upload, besides its event, key, writer and record. */
interface UploadMembers extends Partial<Intent> {
  as?: string;
  sha256?: string;
  serviceId?: string | undefined;
  error?: {code?: unknown; message?: unknown};
}

/** The JSON type of each member; a member of another type is ignored. */
const memberTypes: Readonly<Record<keyof UploadMembers, 'string' | 'number' | 'object'>> = {
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
const memberNames = Object.keys(memberTypes) as (keyof UploadMembers)[];

const intentMembers = ['path', 'size', 'contentType'] as const;

/** The members that a line of an event must have. Where an intent is optional, it is complete or absent. */
const requiredMembers = new Map<unknown, readonly (keyof UploadMembers)[]>([
  ['intent', intentMembers],
  ['seen', ['path', 'size']],
  ['commit', ['sha256']],
  ['hashed', ['sha256']],
  ['done', []],
  ['failed', []],
  ['resolved', ['as', 'sha256']],
  ['forgotten', []],
] satisfies [Transition['event'], readonly (keyof UploadMembers)[]][]);

/** A parsed line about an upload; recordIn() returns its record. */
export interface UploadLine extends UploadMembers {
  event: Transition['event'];
  key: string;
  by: string;
}

/** What a manifest knows before its journal has a file; the lines are at the offsets from `-lines.length` to -1. */
export interface Seed {
  scope?: Scope | undefined;
  /** A `done` line for each stored file, and a `commit` for unknown content; each has its intent and its hash. */
  lines: readonly (UploadLine & {received?: ReceivedRecord})[];
}

/** Who writes the lines of a seed. */
export const seedWriter = 'manifest';

/** A writer opens the journal, is alive, releases all commits, or ends. Only the last writer to open it may send. */
export type WriterEvent = 'open' | 'alive' | 'release' | 'close';

/** A line about a writer. Only an `open` line identifies the process. */
export interface WriterLine {
  event: WriterEvent;
  by: string;
  at?: string | undefined;
  holder?: Holder;
}

/** The first line of a journal. */
export type HeaderLine = {event: 'header'; version: unknown} & Partial<Scope>;

export type ParsedLine = HeaderLine | UploadLine | WriterLine;

/** The key of a path; a path that is not UTF-8 comes as bytes. */
export function pathKey(path: string | Uint8Array): PathKey {
  return typeof path === 'string' ? fromText(path) : Buffer.from(path).toString('latin1');
}

/** The members of a line for a path: its text and, if it is not UTF-8, its bytes in Base64. */
export function pathFields(key: PathKey): {path: string; pathBase64?: string} {
  const path = toText(key);
  return isText(key) ? {path} : {path, pathBase64: toBytes(key).toString('base64')};
}

/** Every journal begins so; a file that ends within these characters is an empty journal. */
const headerStart = '{"journal":"media","version":2,"service":';

/** The first line of a journal, with a line break. */
export function formatHeader({service, account, shard, serviceId, honoursKeys}: Scope): string {
  return `${JSON.stringify({journal: 'media', version: 2, service, account, shard, serviceId, honoursKeys})}\n`;
}

/** In bytes: the first write of a journal is not longer. */
const longestOpening = 4096;

/** Whether a power cut may have left these bytes of a header: its beginning, or zeros. */
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

/** The text before a record. A record is the last member of its line. */
const recordMark = ',"record":';

/** A transition as a line; the JSON of its record stays unchanged. A `done` line needs no writer. */
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

/** A commit line as a `hashed` line, for a merged journal, which has no release after its commits. */
export function commitAsHashed(line: string): string {
  return line.replace('{"event":"commit"', '{"event":"hashed"');
}

/** The text of a line's record: parsing it could change the digits of its numbers. */
export function recordIn(line: string): string | undefined {
  const mark = line.indexOf(recordMark);
  return mark === -1 ? undefined : line.slice(mark + recordMark.length, line.lastIndexOf('}')).trim();
}

/** Whether a value has the media ID that makes it a record of the service. */
export function isRecord(value: unknown): boolean {
  const id = isObject(value) ? value['id'] : undefined;
  return typeof id === 'number' || (typeof id === 'string' && id !== '');
}

const writerEvents: ReadonlySet<unknown> = new Set<WriterEvent>(['open', 'alive', 'release', 'close']);

/** The `open` lines in a text. */
export function openLinesIn(text: string): WriterLine[] {
  const lines = text.split('\n').filter(line => line.includes('"event":"open"'));
  return lines.map(parseLine).filter((line): line is WriterLine => line?.event === 'open');
}

/** Parses a line; undefined if it is not a journal line. */
export function parseLine(text: string): ParsedLine | undefined {
  // The line adds one level to the depth of its record.
  const value = parseObject(text, {wrapping: 1});
  if (value === undefined) return undefined;
  if (value['journal'] === 'media') return parseHeader(value);
  const {event, by} = value;
  if (writerEvents.has(event) && typeof by === 'string') return parseWriter(event as WriterEvent, by, value);
  const line = parseUpload(value);
  if (line === undefined) return undefined;
  const needsRecord = line.event === 'done' || (line.event === 'resolved' && line.as !== 'resend');
  if (!needsRecord) return line;
  // recordIn() searches for a record at the end of its line.
  const isAtEnd = Object.keys(value).at(-1) === 'record' && text.includes(recordMark);
  return isAtEnd && isRecord(value['record']) ? line : undefined;
}

type Fields = Record<string, unknown>;

/** A header of any version: scopeOf() refuses other versions than 2. Scope members of a wrong type are left out. */
function parseHeader({version, service, account, shard, serviceId, honoursKeys}: Fields): HeaderLine {
  const scope = {service, account, shard, serviceId};
  const texts = Object.entries(scope).filter(([, value]) => typeof value === 'string');
  const keySupport = typeof honoursKeys === 'boolean' && {honoursKeys};
  return {event: 'header', version, ...Object.fromEntries(texts), ...keySupport};
}

/** A line about a writer; an invalid holder is left out, so that nobody can judge whether the writer is alive. */
function parseWriter(event: WriterEvent, by: string, {at, process}: Fields): WriterLine {
  const line = {event, by, at: typeof at === 'string' ? at : undefined};
  const holder = isObject(process) ? {...process, token: by} : {};
  return hasShape(holder, holderShape) ? {...line, holder} : line;
}

/** A line about an upload; undefined if a required member is missing or wrong, or if its intent is incomplete. */
function parseUpload(value: Fields): UploadLine | undefined {
  const {event, idempotencyKey: key, pathBase64} = value;
  const by = event === 'done' ? '' : value['by'];
  const required = requiredMembers.get(event);
  if (typeof key !== 'string' || key === '' || typeof by !== 'string' || required === undefined)
    return undefined;
  const line: Fields & {path?: unknown} = {event, key, by};
  for (const name of memberNames) if (typeof value[name] === memberTypes[name]) line[name] = value[name];
  const isComplete = (names: readonly string[]) => names.every(name => Object.hasOwn(line, name));
  if (!isComplete(required) || (line.path !== undefined && event !== 'seen' && !isComplete(intentMembers)))
    return undefined;
  if (typeof line.path === 'string')
    line.path = pathKey(typeof pathBase64 === 'string' ? Buffer.from(pathBase64, 'base64') : line.path);
  return line as unknown as UploadLine;
}
