import type {MediaError} from '../errors.ts';
import type {ReceivedRecord} from '../service/record.ts';
import type {Source} from '../sources/open/source.ts';

/** What became of one input. */
export type Outcome = OutcomeFacts &
  (
    | {status: 'uploaded'; received: ReceivedRecord}
    /** Uploaded by an earlier run of the same journal, with this record. */
    | {status: 'skipped'; received: ReceivedRecord}
    /** Checked and found fit, under `dryRun`; nothing was sent. `duplicateOf` names an earlier input of equal content. */
    | {status: 'checked'; duplicateOf?: string}
    | {status: 'failed'; error: MediaError}
    | {status: 'unknown'; error: MediaError}
  );

/** What a walk found and left out, which is no input of anybody's. */
export interface LeftOut {
  status: 'left out';
  /** Its path, as an outcome names it. */
  name: string;
  /** Its place among what the inputs stand for, from 0. */
  position: number;
  isHidden: boolean;
}

export interface OutcomeFacts {
  /** What the user called the input. */
  name: string;
  /** The name's bytes, where they are not UTF-8. */
  nameBytes?: Buffer;
  /** Set of what can be opened only once: standard input. */
  isOnce?: true;
  /** Its place among the inputs, from 0. */
  position: number;
  contentType?: string;
  /** That it is sent as another type than its bytes have, in a sentence. */
  warning?: string;
  /** Bytes. */
  size?: number;
  /** Requests begun. */
  attempts: number;
  elapsedMs: number;
}

/** What is said of a source that is left out. */
export function leftOut(position: number, {name, found}: Source): LeftOut {
  return {status: 'left out', name, position, isHidden: found?.isHidden === true};
}

/** What an outcome calls its source. */
export function nameOf({
  name,
  nameBytes,
  isOnce,
}: Source): Pick<OutcomeFacts, 'name' | 'nameBytes' | 'isOnce'> {
  return {name, ...(nameBytes && {nameBytes}), ...(isOnce && {isOnce})};
}
