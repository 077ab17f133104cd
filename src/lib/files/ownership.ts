import type {Stats} from 'node:fs';
import type {Host} from '../../host.ts';
import {shellQuoted} from '../shell.ts';

/** Whose files are to be trusted. */
export type User = Pick<Host, 'platform' | 'userId' | 'groupId'>;

/** Why another user may have written a file or a directory's entries; undefined if only this user and `group` can. */
export function ownershipProblem(
  path: string,
  {uid, gid, mode}: Pick<Stats, 'uid' | 'gid' | 'mode'>,
  {platform, userId}: Omit<User, 'groupId'>,
  group?: number,
): {why: string; remedy?: string} | undefined {
  if (platform === 'win32') return undefined;
  const user = userId();
  if (user !== undefined && uid !== user) return {why: `${path} belongs to another user`};
  if ((mode & (gid === group ? 0o002 : 0o022)) === 0) return undefined;
  if ((mode & 0o1000) !== 0) return {why: `${path} is a directory that users share`};
  const remedy = `Check that nobody has changed its content, then run: chmod go-w ${shellQuoted(path)}`;
  return {why: `Other users may change ${path}`, remedy};
}
