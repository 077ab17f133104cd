import {type ErrorCode, MediaError} from '../../errors.ts';
import {systemReason} from '../system-code.ts';

/** For `catch`: rejects with a MediaError whose sentence is `what`, a colon and the reason of the system. */
export function failed(code: ErrorCode, what: string, hint?: string): (cause: unknown) => never {
  return cause => {
    throw new MediaError(code, `${what}: ${systemReason(cause)}.`, {hint, cause});
  };
}
