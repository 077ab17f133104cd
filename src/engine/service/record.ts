import {MediaError} from '../../errors.ts';
import {fact, hint, phrase} from '../../hint.ts';
import {isNestedTooDeeply, isObject, isString, parseJson, parseObject} from '../../lib/json.ts';
import {undefinedIfThrows} from '../../lib/system-code.ts';
import {safeUrl} from '../../lib/url.ts';
import type {HttpResponse} from '../http/http.ts';

// The shapes of the service's responses (docs/design/interface.md). The interface does not say which fields are always
// present, so each is optional and nullable; unknown fields and enumeration values are kept.

export interface MediaUrl {
  /** Open enumeration; PUBLIC occurs. */
  variant?: string | null;
  url?: string | null;
  [field: string]: unknown;
}

/** A media record. `duration` and `size` have no documented unit and are shown as the service sends them. */
export interface MediaRecord {
  id?: string | null;
  /** Open enumeration; IMAGE occurs. */
  type?: string | null;
  /** Objects with the fields `variant`, of which PUBLIC occurs, and `url`. */
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

/** An error record; `code` has no documented meaning and may differ from the HTTP status. */
export interface ErrorRecord {
  code?: number;
  message: string;
}

/** A media record with the JSON that it was read from. */
export interface ReceivedRecord {
  record: MediaRecord & {id: string};
  /** The service's JSON without white space between tokens and otherwise unchanged: numbers keep every digit. */
  json: string;
  /** Which service has sent it, if it said so. */
  serviceId?: string;
}

const decoder = new TextDecoder();

/** A body as text, without a byte order mark (RFC 8259, section 8.1). */
export function bodyText(body: Uint8Array): string {
  return decoder.decode(body);
}

/** Parses a media record, an object with an `id`, or says why it is not one. Large numbers become texts of digits. */
export function parseRecord(text: string): ReceivedRecord | {problem: string} {
  if (isNestedTooDeeply(text)) return {problem: 'nested too deeply'};
  const value = undefinedIfThrows(() => parseJson(text));
  if (value === undefined) return {problem: 'not JSON'};
  if (!isObject(value)) return {problem: 'not a JSON object'};
  if (typeof value['id'] === 'number') value['id'] = String(value['id']);
  if (typeof value['id'] !== 'string' || value['id'] === '') return {problem: 'without an id'};
  return {record: value as ReceivedRecord['record'], json: compactJson(text)};
}

/** The JSON text on one line, without white space between tokens and otherwise unchanged. */
export function compactJson(text: string): string {
  return /\s/.test(text) ? text.replace(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, '$1') : text;
}

/** Parses an error record; undefined for other responses: front ends send HTML, text or nothing. */
export function parseErrorRecord(text: string): ErrorRecord | undefined {
  const {message, code} = parseObject(text) ?? {};
  if (!isString(message)) return undefined;
  return {message, ...(Number.isFinite(code) && {code: code as number})};
}

/** The URL for users: the PUBLIC variant's, otherwise fileUrl. */
export function publicUrl(record: MediaRecord): string | undefined {
  const urls: unknown = record.urls;
  const variants = Array.isArray(urls) ? urls.filter(isObject) : [];
  const {url = record.fileUrl} =
    variants.find(({variant, url}) => variant === 'PUBLIC' && isString(url) && url !== '') ?? {};
  return isString(url) && url !== '' ? url : undefined;
}

/** The URL for users in its safe form, if it is a web URL. */
export function webUrl(record: MediaRecord): string | undefined {
  return safeUrl(publicUrl(record) ?? '');
}

/** The error for a stored file if its record has no such URL. */
export function noUrlError(name: string, record: MediaRecord, urlOf = publicUrl): MediaError | undefined {
  if (urlOf(record) !== undefined) return undefined;
  const kind = urlOf === webUrl ? 'web URL' : 'URL';
  const sentence = phrase`${fact('subject', name)} was stored, but the service returned no ${kind} for it.`;
  return new MediaError('no_url', sentence, {
    hint: hint`Do not upload it again.${hint` Its media ID is ${fact('mediaId', record.id)}.`}`,
  });
}

/** The warning about a file where only a value is empty since its record has no URL. */
export const emptyUrl = 'The service returned no URL for it, so that its value is empty.';

/** The service's ID in a response, 1 to 128 characters that URLs may have; undefined if absent or malformed. */
export function serviceIdIn({headers}: Pick<HttpResponse, 'headers'>): string | undefined {
  return /^[\w.~-]{1,128}$/.exec(headers['media-service-id'] ?? '')?.[0];
}

/** Whether the service honours Idempotency-Key (a boolean of RFC 9651); undefined if the response does not say. */
export function honoursKeysIn({headers}: Pick<HttpResponse, 'headers'>): boolean | undefined {
  const digit = /^\?([01]) *(;|$)/.exec(headers['accept-idempotency-key'] ?? '')?.[1];
  return digit === undefined ? undefined : digit === '1';
}
