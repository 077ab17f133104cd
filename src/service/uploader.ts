import type {StopSignal} from '../host.ts';
import type {Body} from '../http/http.ts';
import type {ReceivedRecord} from './record.ts';

export interface UploadRequest {
  contentType: string;
  /** A UUID, the same for every attempt at one file's content. */
  idempotencyKey: string;
  body: Body;
  signal: StopSignal;
}

export type UploadAnswer = Stored | Unreadable | Refused;

/** A 2xx with a media record. */
export interface Stored {
  kind: 'stored';
  received: ReceivedRecord;
}

/** A 2xx without a media record that could be read; `problem` ends the sentence "the answer was ...". */
export interface Unreadable {
  kind: 'unreadable';
  status: number;
  problem: string;
}

/** Any other status. */
export interface Refused {
  kind: 'refused';
  status: number;
  /** Of the error record, where there was one. */
  message?: string;
  /** The error record's `code`. */
  serviceCode?: number;
  /** The Retry-After field as it came. */
  retryAfter?: string;
  /** The Location field as it came. */
  location?: string;
}

/** Sends one upload request; rejects when the request could not be sent or its answer not be read. */
export interface Uploader {
  upload(request: UploadRequest): Promise<UploadAnswer>;
}
