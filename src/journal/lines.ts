import {isUtf8} from 'node:buffer';
import {isObject, parseObject} from '../lib/json.ts';

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

/** The first line of a journal, without its line break. */
export function formatHeader({service, shard}: Scope): string {
  const part = shard === undefined ? '' : `,"shard":${JSON.stringify(shard)}`;
  return `${headerStart}${JSON.stringify(service)}${part}}`;
}

/** One transition of one input, as a line of the journal tells it. The key ties an input's lines together. */
export type Transition =
  | {event: 'intent'; key: string; path: PathKey; size: number; mtimeNs: bigint; contentType: string}
  | {event: 'commit'; key: string; sha256: string}
  | {event: 'done'; key: string; sha256: string; recordJson: string}
  | {event: 'failed'; key: string; code: string; message: string}
  | {event: 'resolved'; key: string; as: 'uploaded'; sha256: string; recordJson: string}
  /** `byRun`: by a run that sends other content of the path, not by a person. */
  | {event: 'resolved'; key: string; as: 'resend'; sha256: string; byRun?: true};

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

/** A transition as a line of the journal, with its line break; the record's JSON is embedded as it is. */
export function formatTransition(transition: Transition, now: number): string {
  const {event, key} = transition;
  const start = `{"event":"${event}","idempotencyKey":${JSON.stringify(key)},"at":"${new Date(now).toISOString()}"`;
  switch (event) {
    case 'intent': {
      const {path, size, mtimeNs, contentType} = transition;
      const pathText = JSON.stringify(pathFields(path)).slice(1, -1);
      const mtime = `"mtimeMs":${mtimeNs / 1_000_000n},"mtimeNs":"${mtimeNs}"`;
      return `${start},${pathText},"size":${size},${mtime},"contentType":${JSON.stringify(contentType)}}\n`;
    }
    case 'commit':
      return `${start},${hashField(transition)}}\n`;
    case 'done':
      return `${start},${hashField(transition)},${recordField(transition)}}\n`;
    case 'failed': {
      const {code, message} = transition;
      return `${start},"error":${JSON.stringify({code, message})}}\n`;
    }
    case 'resolved': {
      const fields = `${start},"as":"${transition.as}",${hashField(transition)}`;
      if (transition.as === 'uploaded') return `${fields},${recordField(transition)}}\n`;
      return `${fields}${transition.byRun ? ',"by":"run"' : ''}}\n`;
    }
  }
}

function hashField({sha256}: {sha256: string}): string {
  return `"sha256":${JSON.stringify(sha256)}`;
}

function recordField({recordJson}: {recordJson: string}): string {
  // JSON has line breaks only between its tokens.
  return `"record":${recordJson.replace(/[\r\n]+/g, ' ')}`;
}

/** A line as it was read: a transition without its record, which memberIn() gives. */
export type ParsedLine =
  | ({event: 'header'; version: unknown} & Partial<Scope>)
  | Extract<Transition, {event: 'intent' | 'commit' | 'failed'}>
  | {event: 'done'; key: string; sha256: string}
  | {event: 'resolved'; key: string; as: 'uploaded' | 'resend'; sha256: string; byRun?: true};

/** What a line of a journal tells; undefined when it is none. */
export function parseLine(text: string): ParsedLine | undefined {
  const value = parseObject(text);
  if (value === undefined) return undefined;
  if (value['journal'] === 'media') return parseHeader(value);
  const {event, idempotencyKey: key, sha256} = value;
  if (typeof key !== 'string' || key === '') return undefined;
  if (event === 'intent') return parseIntent(key, value);
  if (event === 'failed') {
    const error = isObject(value['error']) ? value['error'] : {};
    return {event, key, code: String(error['code'] ?? ''), message: String(error['message'] ?? '')};
  }
  if (typeof sha256 !== 'string') return undefined;
  if (event === 'commit') return {event, key, sha256};
  const as = value['as'];
  if (event === 'resolved' && as === 'resend') {
    return {event, key, as, sha256, ...(value['by'] === 'run' ? {byRun: true} : {})};
  }
  if (!isRecord(value['record'])) return undefined;
  if (event === 'done') return {event, key, sha256};
  return event === 'resolved' && as === 'uploaded' ? {event, key, as, sha256} : undefined;
}

function parseHeader({version, service, shard}: Record<string, unknown>): ParsedLine {
  return {
    event: 'header',
    version,
    ...(typeof service === 'string' ? {service} : {}),
    ...(typeof shard === 'string' ? {shard} : {}),
  };
}

/** As far as it can be told cheaply: a run prints it as the service's record. */
function isRecord(value: unknown): boolean {
  return (
    isObject(value) &&
    (typeof value['id'] === 'number' || (typeof value['id'] === 'string' && value['id'] !== ''))
  );
}

function parseIntent(key: string, value: Record<string, unknown>): ParsedLine | undefined {
  const {path, pathBase64, size, mtimeMs, mtimeNs, contentType} = value;
  if (typeof path !== 'string' || typeof contentType !== 'string' || typeof size !== 'number')
    return undefined;
  const mtime =
    typeof mtimeNs === 'string' && /^-?\d+$/.test(mtimeNs)
      ? BigInt(mtimeNs)
      : Number.isSafeInteger(mtimeMs)
        ? BigInt(mtimeMs as number) * 1_000_000n
        : undefined;
  if (mtime === undefined) return undefined;
  const bytes = typeof pathBase64 === 'string' ? Buffer.from(pathBase64, 'base64') : path;
  return {event: 'intent', key, path: pathKey(bytes), size, mtimeNs: mtime, contentType};
}

const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]/g;

/** The JSON of one member of an object, unchanged: its numbers keep every digit. */
export function memberIn(text: string, name: 'record' | 'id'): string | undefined {
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

/** The media ID in a record's JSON, every digit kept; empty when it has none. */
export function idIn(recordJson: string): string {
  const id = memberIn(recordJson, 'id') ?? '""';
  return id.startsWith('"') ? String(JSON.parse(id)) : id;
}
