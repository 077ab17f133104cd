import {constants} from 'node:os';

/** The code of a system error such as ENOENT or ECONNRESET, if the value is one. */
export function systemCode(error: unknown): string | undefined {
  const {code, errno} = (error ?? {}) as {code?: unknown; errno?: unknown};
  if (typeof code !== 'string') return undefined;
  if (!code.startsWith('Unknown system error')) return code;
  // Node has no names for the errors of a disk quota (EDQUOT) or of a file on a server (ESTALE), among others.
  return Object.entries(constants.errno).find(([, number]) => number === -Number(errno))?.[0] ?? code;
}

/** A check whether a call failed with one of these codes. */
export function failedWith(...codes: readonly string[]): (error: unknown) => boolean {
  return error => codes.includes(systemCode(error) ?? '');
}

/** Whether this process, or the machine, has no file descriptor left. */
export const isOutOfDescriptors = failedWith('EMFILE', 'ENFILE');
/** Whether the disk, or this user's quota, is full. */
export const isOutOfSpace = failedWith('ENOSPC', 'EDQUOT');
/** Whether this user may not do that. */
export const isDenied = failedWith('EACCES', 'EPERM');
/** Whether there is no such file. */
export const isMissing = failedWith('ENOENT', 'ENOTDIR');

/** Takes a missing file for none; throws any other error. */
export function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** What a call returns; undefined if it throws. */
export function undefinedIfThrows<Result>(call: () => Result): Result | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

/** Why a call failed, for the end of a sentence: in words, as the system's code, or the error's message. */
export function systemReason(error: unknown): string {
  if (isOutOfSpace(error)) return 'the disk is full';
  if (isDenied(error)) return 'permission denied';
  if (systemCode(error) === 'EISDIR') return 'it is a directory';
  if (systemCode(error) === 'EEXIST') return 'it already exists';
  return systemCode(error) ?? (error instanceof Error ? error.message : String(error));
}
