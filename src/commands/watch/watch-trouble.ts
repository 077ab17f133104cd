import {MediaError} from '../../errors.ts';
import {systemCode, systemReason} from '../../lib/system-code.ts';

/** What an error of the watcher means: without events, nothing can be watched; what cannot be read is passed over. */
export function watchTrouble(cause: unknown, directory: string): {isFatal: boolean; error: MediaError} {
  const code = systemCode(cause);
  if (code === 'ENOSPC' || code === 'EMFILE' || code === 'ENFILE') {
    const sentence = `${directory} cannot be watched: the system allows no more watches (${code}).`;
    const hint =
      'Use --poll, or raise the limits (fs.inotify.max_user_watches and max_user_instances on Linux).';
    return {isFatal: true, error: new MediaError('local_failure', sentence, {hint, cause})};
  }
  const sentence = `A part of ${directory} cannot be watched: ${systemReason(cause)}.`;
  return {isFatal: false, error: new MediaError('local_failure', sentence, {cause})};
}
