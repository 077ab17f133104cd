import type {StopSignal} from '../host.ts';
import type {BodyWriter, WholeBody} from '../http.ts';
import type {ErrorRecord, ReceivedRecord} from '../service/record.ts';

export interface UploadRequest {
  contentType: string;
  /** Bytes. */
  contentLength: number;
  /** A UUID, the same for every attempt at one file's content. */
  idempotencyKey: string;
  /** Exactly `contentLength` bytes; a writer throws to drop the request. */
  body: BodyWriter | WholeBody;
  signal: StopSignal;
}

export type UploadAnswer =
  /** A 2xx with a media record. */
  | {kind: 'stored'; received: ReceivedRecord}
  /** A 2xx without a media record that could be read; `problem` ends the sentence "the answer was ...". */
  | {kind: 'unreadable'; status: number; problem: string}
  /** Any other status. */
  | {
      kind: 'refused';
      status: number;
      errorRecord?: ErrorRecord;
      /** The Retry-After field as it came. */
      retryAfter?: string;
      /** The Location field as it came. */
      location?: string;
    };

/** Sends one upload request; rejects when the request could not be sent or its answer not be read. */
export interface Uploader {
  upload(request: UploadRequest): Promise<UploadAnswer>;
}
