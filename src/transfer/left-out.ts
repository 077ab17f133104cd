import {type ErrorCode, MediaError, NotMediaError} from '../errors.ts';
import type {Source} from '../sources/open/source.ts';
import type {TransferOptions} from './options.ts';

/** Failures from before a file's bytes could be read. */
const unread: readonly ErrorCode[] = ['empty_file', 'file_unreadable', 'file_missing', 'not_a_file'];

/**
 * Whether a walk leaves out a source that failed with this error, because neither its name nor its bytes say that it is an
 * image or a video. Inputs that the user named are never left out.
 */
export async function isLeftOut({found}: Source, error: unknown): Promise<boolean> {
  if (found === undefined || !(error instanceof MediaError)) return false;
  if (error instanceof NotMediaError) return !error.isCalledMedia;
  return unread.includes(error.code) && !(await found.isNamedMedia());
}

/** Whether a walk would leave out a source that is not sent any more. */
export async function wouldBeLeftOut(
  source: Source,
  {contentType, stop}: Pick<TransferOptions, 'contentType' | 'stop'>,
): Promise<boolean> {
  if (source.found === undefined) return false;
  if (source.found.isHidden) return true;
  if (await source.found.isNamedMedia()) return false;
  try {
    const opened = await source.open(stop);
    await contentType(source, opened).finally(() => opened.close());
    return false;
  } catch (error) {
    return isLeftOut(source, error);
  }
}
