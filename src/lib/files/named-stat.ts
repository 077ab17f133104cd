import type {Stats} from 'node:fs';
import {stat} from 'node:fs/promises';
import {MediaError} from '../../errors.ts';
import {systemCode, systemReason} from '../system-code.ts';

/** What is at a path that the user named, links followed; rejects with `file_missing` or `file_unreadable`. */
export async function namedStat(name: string, path: string): Promise<Stats> {
  return stat(path).catch(cause => {
    throw systemCode(cause) === 'ENOENT'
      ? new MediaError('file_missing', `${name} does not exist.`, {cause})
      : new MediaError('file_unreadable', `${name} could not be read: ${systemReason(cause)}.`, {cause});
  });
}
