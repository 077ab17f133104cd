import {MediaError, systemError} from '../../errors.ts';
import type {Hint} from '../../hint.ts';
import {type Holder, holderText} from '../../lib/files/holder.ts';
import {isOutOfSpace} from '../../lib/system-code.ts';

/** The error for a damaged journal, or a file that is not a journal; `sentence` has no full stop. */
export function unusableJournalError(sentence: string, hint: Hint, cause?: unknown): MediaError {
  return new MediaError('journal_unusable', `${sentence}.`, {hint, cause});
}

/** The error for a journal that the system could not read or write. */
export function journalAccessError(path: string, access: 'read' | 'written', cause: unknown): MediaError {
  const remedy = isOutOfSpace(cause) ? 'Free some space' : 'Check its disk, and that you may write there';
  const advice =
    access === 'read'
      ? 'Check that you may read it.'
      : `Nothing is sent without being recorded. ${remedy}, then run the command again.`;
  return systemError('journal_failed', `The journal ${path} could not be ${access}`, cause, advice);
}

/** The error for a run whose journal another run uses. */
export function journalInUseError(displayPath: string, holder: Holder | undefined): MediaError {
  return new MediaError('journal_in_use', `The journal ${displayPath} is in use by ${holderText(holder)}.`, {
    hint: 'Wait until that run has ended, or use another journal.',
  });
}

/** The error for a run that stops because another run has taken its journal over. */
export function takenOverError(displayPath: string, holder: Holder | undefined): MediaError {
  return new MediaError(
    'journal_in_use',
    `The journal ${displayPath} was taken over by ${holderText(holder)}, so this run sends nothing more.`,
    {hint: 'Its results so far are printed. When the other run has ended, the same command continues.'},
  );
}

/** The error for a journal file that was removed, replaced or cut while this run wrote to it. */
export function lostJournalError(displayPath: string, how: string): MediaError {
  return new MediaError('journal_failed', `The journal ${displayPath} ${how} while it was in use.`, {
    hint: 'Nothing is sent without being recorded. Restore the journal if you can; without it, the next run sends everything again.',
  });
}
