// The comments of OutcomeFacts are user documentation: `npm run completions` puts them into docs/ and its schemas.
import {hasTrait, MediaError, NotMediaError, OwnFileError, type PlainError} from '../../errors.ts';
import {fact, hint, phrase} from '../../hint.ts';
import {publicUrl, type ReceivedRecord} from '../service/record.ts';
import type {Source} from '../sources/open/source.ts';
import type {Dimensions, TransferOptions} from './transfer-options.ts';

interface StoredFacts extends Pick<ReceivedRecord, 'record' | 'json'> {
  id: string;
  /** The URL for users: of the `PUBLIC` variant, else `fileUrl`; absent if there is neither. */
  url?: string;
  /** Set if the file is stored but the journal could not record it: the next run does not know about it. */
  unrecorded?: MediaError;
}

/** The result of one input. */
export type Outcome = OutcomeFacts &
  (
    | ({status: 'uploaded'} & StoredFacts)
    /** Uploaded by an earlier run with the same journal. */
    | ({status: 'skipped'} & StoredFacts)
    /** With `verify: 'strict'`: it is stored, now or before, but its record differs from the file, as `error` says. */
    | ({status: 'mismatched'; error: MediaError} & StoredFacts)
    /** Passed the checks of a dry run; nothing was sent. */
    | {status: 'checked'}
    /** `failed`: it is not stored. `unknown`: it was sent completely, and may or may not be stored. */
    | {status: 'failed' | 'unknown'; error: MediaError}
  );

/** The result of one input with the hints of its errors as text: what a face shows. */
export type UploadResult = WithText<Outcome>;

type WithText<Facts> = {
  [Name in keyof Facts]: Facts[Name] extends MediaError | undefined ? PlainError : Facts[Name];
};

/** An outcome as a face shows it; `write` makes the hint of an error text. */
export function withHints(outcome: Outcome, write: (error: MediaError) => PlainError): UploadResult {
  return {
    ...outcome,
    ...('error' in outcome && {error: write(outcome.error)}),
    ...('unrecorded' in outcome && {unrecorded: write(outcome.unrecorded)}),
  } as UploadResult;
}

/** A file that a walk found and left out, and that was not named. */
export interface LeftOut {
  status: 'left out';
  /** Its path, in the same form as an outcome's. */
  file: string;
  /** Its position among all files of the inputs, from 0. */
  position: number;
  isHidden: boolean;
}

export interface OutcomeFacts {
  /** The input as the user named it. */
  file: string;
  /** The name's bytes, if they are not UTF-8. */
  nameBytes?: Buffer;
  /** Set for standard input and streams, which can be read only once. */
  isOnce?: true;
  /** Its position among the inputs, from 0. */
  position: number;
  /** The content type, as it is sent. */
  contentType?: string;
  /** Warnings about the file, as sentences. */
  warning?: string;
  /** Whether the file contains its location: `present`, `none`, or `stripped` if it was sent without it. */
  geotags?: 'none' | 'stripped' | 'present';
  /** What was compared with the record: `size`, `type`, `width`, `height`. */
  verified?: readonly string[];
  /** The size in bytes. */
  size?: number;
  /** The SHA-256 of the file in hex, if the run knows it. */
  sha256?: string;
  /** The size of a picture or a video in pixels, if records are verified and it is certain. */
  dimensions?: Dimensions;
  /** How many requests it took. */
  attempts: number;
  /** How long it took, in milliseconds. */
  elapsedMs: number;
}

/** What an outcome says of a stored file. */
export function storedFacts({record, json}: ReceivedRecord): StoredFacts {
  const url = publicUrl(record);
  return {id: record.id, record, json, ...(url !== undefined && {url})};
}

/** Why the journal could not record a stored file, if so. */
export function unrecordedOf(outcome: Outcome): MediaError | undefined {
  return 'unrecorded' in outcome ? outcome.unrecorded : undefined;
}

/** The warning that the size in the record differs from the file's; undefined if it does not, or is no number. */
export function sizeWarning(outcome: Outcome): string | undefined {
  if (outcome.status !== 'uploaded') return undefined;
  const {size} = outcome.record;
  if (typeof size !== 'number' || outcome.size === undefined || size === outcome.size) return undefined;
  return `The service stored ${size} bytes of the ${outcome.size} that were sent; a proxy may have changed them.`;
}

/** The fields that the record of a stored file and the file both know, and the error if they differ. */
export function comparisonOf(outcome: Outcome): {verified: string[]; error?: MediaError} | undefined {
  if (outcome.status !== 'uploaded' && outcome.status !== 'skipped') return undefined;
  const {file: name, size, contentType, dimensions: {width, height} = {}, record} = outcome;
  const verified: string[] = [];
  const found: string[] = [];
  /** Compares a field with the file, unless either does not know it. */
  const compare = (what: string, stored: unknown, here: number | string | null | undefined) => {
    if (here == null || typeof stored !== typeof here) return;
    verified.push(what);
    if (stored !== here) found.push(`${what} ${stored} instead of ${here}`);
  };
  compare('size', record.size, size);
  // Other types may be of any file.
  if (record.type === 'IMAGE' || record.type === 'VIDEO')
    compare('type', record.type, contentType?.split('/')[0]?.toUpperCase());
  // Services may heed a rotation or not, and metadata may state one anywhere in a file.
  const isTurned = record.width === height && record.height === width;
  compare('width', record.width, isTurned ? height : width);
  compare('height', record.height, isTurned ? width : height);
  if (found.length === 0) return {verified};
  const sentence = phrase`${fact('subject', name)} is stored, but its record differs from the file: ${found.join(', ')}.`;
  const details = {hint: hint`Its media ID is ${fact('mediaId', record.id)}.`};
  return {verified, error: new MediaError('record_mismatch', sentence, details)};
}

/** Whether a walk leaves out a source with this failure: neither its name nor its bytes say that it is media. */
export async function isLeftOut({found}: Source, error: unknown): Promise<boolean> {
  if (error instanceof OwnFileError) return true;
  if (found === undefined || !(error instanceof MediaError)) return false;
  if (error instanceof NotMediaError) return !error.isCalledMedia;
  return hasTrait(error.code, 'unread') && !(await found.isNamedMedia());
}

/** Whether a walk would leave out a source that is not sent any more. */
export async function wouldBeLeftOut(source: Source, options: TransferOptions): Promise<boolean> {
  const {contentType, stop} = options;
  if (source.found === undefined) return false;
  if (source.found.isHidden) return true;
  if (await source.found.isNamedMedia()) return false;
  try {
    const opened = await source.open(stop);
    await contentType(source, opened).finally(() => opened.close(true));
    return false;
  } catch (error) {
    return isLeftOut(source, error);
  }
}
