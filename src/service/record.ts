import {defined} from '../lib/defined.ts';
import {isNestedTooDeeply, isObject, parseObject} from '../lib/json.ts';

/**
 * The shapes that the service answers with (service interface, part 2). Nothing in the interface says which fields
 * are always there, so every one is optional and nullable; unknown fields and unknown enumeration values are kept.
 */
export interface MediaUrl {
  /** Open enumeration; PUBLIC occurs. */
  variant?: string | null;
  url?: string | null;
  [field: string]: unknown;
}

/** A media record. `duration` and `size` have no documented unit and are shown as the service gives them. */
export interface MediaRecord {
  /** The media ID. */
  id?: string | null;
  /** Open enumeration; IMAGE occurs. */
  type?: string | null;
  urls?: MediaUrl[] | null;
  width?: number | null;
  height?: number | null;
  imageType?: string | null;
  fileUrl?: string | null;
  duration?: number | null;
  thumbnailUrl?: string | null;
  hlsUrl?: string | null;
  size?: number | null;
  [field: string]: unknown;
}

/** An error record; `code` has no documented meaning and need not be the HTTP status. */
export interface ErrorRecord {
  code?: number;
  message: string;
}

/** A media record with the text that it was read from. */
export interface ReceivedRecord {
  record: MediaRecord;
  /** The service's JSON, white space between tokens removed and nothing else changed: numbers keep every digit. */
  json: string;
}

const stringOrNumber = /("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)/g;
const stringOrSpace = /("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g;
/** In a text without any of these, every number is held. */
const largeNumber = /\d{16}|\d[eE]/;

/** Why a text is no media record; ends the sentence "the answer was ...". */
export type RecordProblem = 'not JSON' | 'no JSON object' | 'nested too deeply' | 'without an id';

/**
 * Reads a media record, or tells why the text is none: it has to be a JSON object with an `id`. Numbers that a
 * JavaScript number cannot hold are kept as strings of their digits.
 */
export function parseRecord(text: string): ReceivedRecord | {problem: RecordProblem} {
  if (isNestedTooDeeply(text)) return {problem: 'nested too deeply'};
  let value: unknown;
  try {
    value = JSON.parse(text);
    if (largeNumber.test(text)) value = JSON.parse(quoteLargeNumbers(text));
  } catch {
    return {problem: 'not JSON'};
  }
  if (!isObject(value)) return {problem: 'no JSON object'};
  if (typeof value['id'] === 'number') value['id'] = String(value['id']);
  if (typeof value['id'] !== 'string' || value['id'] === '') return {problem: 'without an id'};
  return {record: value as MediaRecord, json: compactJson(text)};
}

/** The JSON text on one line: white space between its tokens is dropped, everything else stays as it is. */
export function compactJson(text: string): string {
  return /\s/.test(text) ? text.replace(stringOrSpace, '$1') : text;
}

function quoteLargeNumbers(text: string): string {
  return text.replace(stringOrNumber, (token, string: string | undefined) =>
    string !== undefined || isHeld(token) ? token : `"${token}"`,
  );
}

/** Whether a JavaScript number holds this one: an integer with every digit, anything else as near as it gets. */
function isHeld(token: string): boolean {
  const number = Number(token);
  return Number.isFinite(number) && (!/^-?\d{16,}$/.test(token) || Number.isSafeInteger(number));
}

/** Reads an error record, or undefined when the text is none: front ends answer with HTML, text or nothing. */
export function parseErrorRecord(text: string): ErrorRecord | undefined {
  const value = parseObject(text);
  if (value === undefined || typeof value['message'] !== 'string') return undefined;
  const code = value['code'];
  return {message: value['message'], ...defined({code: typeof code === 'number' ? code : undefined})};
}

/** The URL to hand out: the PUBLIC variant's, else fileUrl. */
export function publicUrl(record: MediaRecord): string | undefined {
  const urls: unknown = record.urls;
  const variants = Array.isArray(urls) ? urls.filter(isObject) : [];
  const url = variants.find(entry => entry['variant'] === 'PUBLIC' && typeof entry['url'] === 'string')?.[
    'url'
  ];
  if (typeof url === 'string') return url;
  return typeof record.fileUrl === 'string' ? record.fileUrl : undefined;
}
