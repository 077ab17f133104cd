import {type ErrorCode, MediaError, systemCode} from '../errors.ts';
import type {Holder} from '../lib/lock.ts';

/** The stable codes of what can go wrong with a journal. */
export const journalCodes = {
  inUse: 'journal_in_use',
  otherService: 'journal_of_other_service',
  unusable: 'journal_unusable',
  failed: 'journal_failed',
  unproven: 'journal_unproven',
} as const satisfies Record<string, ErrorCode>;

/** A file that cannot serve as a journal, or whose journal is damaged; `sentence` lacks its full stop. */
export function unusable(sentence: string, hint: string, cause?: unknown): MediaError {
  return new MediaError(journalCodes.unusable, `${sentence}.`, {hint, cause});
}

/** A journal that could not be read or written, for the system's reason. */
export function journalFailed(path: string, did: 'read' | 'written', cause: unknown): MediaError {
  const code = systemCode(cause);
  const text = code === 'ENOSPC' || code === 'EDQUOT' ? 'the disk is full' : (code ?? String(cause));
  const hint =
    did === 'read'
      ? 'Check that you may read it.'
      : 'Nothing is sent that cannot be journalled. Make room, then run it again.';
  return new MediaError(journalCodes.failed, `The journal ${path} could not be ${did}: ${text}.`, {
    cause,
    hint,
  });
}

/** A journal that another run holds. */
export function inUse(path: string, lockPath: string, holder: Holder | undefined): MediaError {
  const who = holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.hostName}`;
  return new MediaError(journalCodes.inUse, `The journal ${path} is in use by ${who}.`, {
    hint: `Wait until that run has ended, or give this one a journal of its own; if there is no such process, remove ${lockPath}.`,
  });
}
