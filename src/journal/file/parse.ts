import {type Holder, holderShape} from '../../lib/files/holder.ts';
import {isObject, parseObject} from '../../lib/json.ts';
import {hasShape} from '../../lib/shape.ts';
import {type Intent, pathKey, recordMark, type Scope, type Transition, type WriterEvent} from './lines.ts';

/** What a line says of an upload, without its record; recordIn() returns that. */
export type UploadFacts =
  | Extract<Transition, {event: 'intent' | 'seen' | 'commit' | 'hashed' | 'failed' | 'forgotten'}>
  | {event: 'done'; key: string; serviceId?: string | undefined}
  | {event: 'resolved'; key: string; as: 'uploaded' | 'resend'; sha256: string};

/** The same, and its writer. */
export type UploadLine = UploadFacts & {by: string};

/** A line about a writer; only its `open` line identifies the process. */
export type WriterLine = {event: WriterEvent; by: string; holder?: Holder};

/** A parsed line. */
export type ParsedLine = ({event: 'header'; version: unknown} & Partial<Scope>) | UploadLine | WriterLine;

const writerEvents: ReadonlySet<unknown> = new Set<WriterEvent>(['open', 'alive', 'release', 'close']);

/** Whether a line is about a writer. */
export function isWriterLine(line: ParsedLine): line is WriterLine {
  return writerEvents.has(line.event);
}

/** Parses a line of a journal; undefined if it is not one. */
export function parseLine(text: string): ParsedLine | undefined {
  // The record is cut out first, since it may be nested as deeply as any record that is read, and the line is one level
  // deeper.
  const mark = text.indexOf(recordMark);
  if (mark === -1) return interpret(parseObject(text), undefined);
  const end = text.lastIndexOf('}');
  const record = parseObject(text.slice(mark + recordMark.length, end));
  return interpret(parseObject(`${text.slice(0, mark)}${text.slice(end)}`), record);
}

type Fields = Record<string, unknown>;

function interpret(value: Fields | undefined, record: Fields | undefined): ParsedLine | undefined {
  if (value === undefined) return undefined;
  if (value['journal'] === 'media') return parseHeader(value);
  const {event, idempotencyKey: key, sha256} = value;
  if (event === 'done')
    return isKey(key) && isRecord(record)
      ? {event, key, by: '', serviceId: textOf(value['serviceId'])}
      : undefined;
  const {by} = value;
  if (typeof by !== 'string') return undefined;
  if (writerEvents.has(event)) return parseWriter(event as WriterEvent, by, value['process']);
  if (!isKey(key)) return undefined;
  if (event === 'intent') {
    const intent = intentIn(value);
    return intent === undefined ? undefined : {event, key, by, ...intent};
  }
  if (event === 'seen') {
    const place = placeIn(value);
    return place === undefined ? undefined : {event, key, by, ...place};
  }
  if (event === 'failed') {
    const error = isObject(value['error']) ? value['error'] : {};
    return {event, key, by, code: String(error['code'] ?? ''), message: String(error['message'] ?? '')};
  }
  if (event === 'forgotten') return {event, key, by};
  if (typeof sha256 !== 'string') return undefined;
  if (event === 'commit' || event === 'hashed') {
    const intent = value['path'] === undefined ? {} : intentIn(value);
    return intent === undefined ? undefined : {event, key, by, sha256, ...intent};
  }
  const as = value['as'];
  if (event === 'resolved' && as === 'resend') return {event, key, by, as, sha256};
  const isUploaded = event === 'resolved' && as === 'uploaded' && isRecord(record);
  return isUploaded ? {event, key, by, as, sha256} : undefined;
}

function isKey(key: unknown): key is string {
  return typeof key === 'string' && key !== '';
}

function parseHeader({version, service, account, shard, serviceId}: Fields): ParsedLine {
  const scope = {service, account, shard, serviceId};
  const texts = Object.entries(scope).filter(([, value]) => typeof value === 'string');
  return {event: 'header', version, ...Object.fromEntries(texts)};
}

function parseWriter(event: WriterEvent, by: string, process: unknown): WriterLine {
  if (!isObject(process)) return {event, by};
  const holder = {...process, token: by};
  return hasShape(holder, holderShape) ? {event, by, holder} : {event, by};
}

/** Whether a text is the JSON of a record. */
export function isRecordJson(text: string): boolean {
  return isRecord(parseObject(text));
}

/** A cheap check, since a run prints this as the service's record. */
function isRecord(value: Fields | undefined): boolean {
  const id = value?.['id'];
  return typeof id === 'number' || (typeof id === 'string' && id !== '');
}

function intentIn(value: Fields): Intent | undefined {
  const {contentType} = value;
  const place = placeIn(value);
  return place === undefined || typeof contentType !== 'string' ? undefined : {...place, contentType};
}

function placeIn(value: Fields): Omit<Intent, 'contentType'> | undefined {
  const {path: text, pathBase64, size} = value;
  if (typeof text !== 'string' || typeof size !== 'number') return undefined;
  const path = pathKey(typeof pathBase64 === 'string' ? Buffer.from(pathBase64, 'base64') : text);
  return {path, size, stat: textOf(value['stat']), types: textOf(value['types'])};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The JSON of a line's record, unchanged: its numbers keep every digit. */
export function recordIn(line: string): string | undefined {
  const mark = line.indexOf(recordMark);
  return mark === -1 ? undefined : line.slice(mark + recordMark.length, line.lastIndexOf('}')).trim();
}

const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g;

/** The media ID in a record's JSON, every digit kept; empty when it has none. */
export function idIn(recordJson: string): string {
  const id = memberIn(recordJson, 'id') ?? '""';
  return id.startsWith('"') ? String(JSON.parse(id)) : id;
}

/** The JSON of one member of an object, unchanged. */
function memberIn(text: string, name: string): string | undefined {
  let depth = 0;
  let before: string | undefined;
  let start: number | undefined;
  for (const {0: found, index} of text.matchAll(token)) {
    if (found === '}' || found === ']') depth -= 1;
    const ends = (depth === 1 && found === ',') || (depth === 0 && found === '}');
    if (ends && start !== undefined) return text.slice(start, index).trim();
    if (depth === 1 && found === ':' && before === `"${name}"`) start ??= index + 1;
    if (depth === 1) before = found;
    if (found === '{' || found === '[') depth += 1;
  }
  return undefined;
}
