import type {MediaError} from '../errors.ts';
import type {ReceivedRecord} from '../service/record.ts';
import type {Dimensions} from '../sources/media-type/dimensions.ts';
import type {Source} from '../sources/open/source.ts';

/** The result of one input. */
export type Outcome = OutcomeFacts &
  /** `unrecorded`: why the journal could not record it; the next run does not know about it. */
  (
    | {status: 'uploaded'; received: ReceivedRecord; unrecorded?: MediaError}
    /** Uploaded by an earlier run of the same journal, with this record. */
    | {status: 'skipped'; received: ReceivedRecord}
    /** Stored, now or before, but the record differs from the file; `error` says how. */
    | {status: 'mismatched'; received: ReceivedRecord; error: MediaError; unrecorded?: MediaError}
    /** Passed the checks of a dry run; nothing was sent. `duplicateOf` names an earlier input with the same content. */
    | {status: 'checked'; duplicateOf?: string}
    | {status: 'failed'; error: MediaError}
    | {status: 'unknown'; error: MediaError}
  );

/** A file that a walk found and left out, and that was not named. */
export interface LeftOut {
  status: 'left out';
  /** Its path, in the same form as an outcome's name. */
  name: string;
  /** Its position among all files of the inputs, from 0. */
  position: number;
  isHidden: boolean;
}

export interface OutcomeFacts {
  /** The input as the user named it. */
  name: string;
  /** The name's bytes, if they are not UTF-8. */
  nameBytes?: Buffer;
  /** Set for standard input, which can be read only once. */
  isOnce?: true;
  /** Its position among the inputs, from 0. */
  position: number;
  contentType?: string;
  /** A sentence that says that the content type and the bytes of the file differ. */
  warning?: string;
  /** Bytes. */
  size?: number;
  /** The size of a picture, if records are verified. */
  dimensions?: Dimensions;
  /** How many requests were started. */
  attempts: number;
  elapsedMs: number;
}

/** The result of a source that is left out. */
export function leftOut(position: number, {name, found}: Source): LeftOut {
  return {status: 'left out', name, position, isHidden: found?.isHidden === true};
}

/** The fields of an outcome that name its source. */
export function nameOf({
  name,
  nameBytes,
  isOnce,
}: Source): Pick<OutcomeFacts, 'name' | 'nameBytes' | 'isOnce'> {
  return {name, ...(nameBytes && {nameBytes}), ...(isOnce && {isOnce})};
}

/** Why the journal could not record a stored file, if so. */
export function unrecordedOf(outcome: Outcome): MediaError | undefined {
  return 'unrecorded' in outcome ? outcome.unrecorded : undefined;
}
