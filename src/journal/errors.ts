import {MediaError, systemError} from '../errors.ts';

import type {Hint} from '../hint.ts';
import {type Holder, holderText} from '../lib/files/holder.ts';
import {isOutOfSpace} from '../lib/system-code.ts';

/** The error for a file that cannot be used as a journal, or a damaged journal; `sentence` has no full stop. */
export function unusable(sentence: string, hint: Hint, cause?: unknown): MediaError {
  return new MediaError('journal_unusable', `${sentence}.`, {hint, cause});
}

/** The error for a journal that could not be read or written, with the system's reason. */
export function journalFailed(path: string, did: 'read' | 'written', cause: unknown): MediaError {
  const remedy = isOutOfSpace(cause) ? 'Free some space' : 'Check its disk, and that you may write there';
  const advice =
    did === 'read'
      ? 'Check that you may read it.'
      : `Nothing is sent without being recorded. ${remedy}, then run the command again.`;
  return systemError('journal_failed', `The journal ${path} could not be ${did}`, cause, advice);
}

export function inUse(shown: string, holder: Holder | undefined): MediaError {
  return new MediaError('journal_in_use', `The journal ${shown} is in use by ${holderText(holder)}.`, {
    hint: 'Wait until that run has ended, or use another journal.',
  });
}

/** The error for a run that must stop because another one has taken its journal over. */
export function fencedOff(shown: string, other: string): MediaError {
  return new MediaError(
    'journal_in_use',
    `The journal ${shown} was taken over by ${other}, so this run sends nothing more.`,
    {hint: 'Its results so far are printed. When the other run has ended, the same command continues.'},
  );
}

/** The error for a journal whose file is no longer the one that this run writes to. */
export function gone(shown: string, how: string): MediaError {
  return new MediaError('journal_failed', `The journal ${shown} ${how} while it was in use.`, {
    hint: 'Nothing is sent without being recorded. Restore the journal if you can; without it, the next run sends everything again.',
  });
}
