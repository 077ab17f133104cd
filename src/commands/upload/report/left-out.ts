import {MediaError} from '../../../errors.ts';
import type {UploadFlags} from '../setup/flags.ts';
import type {Tally} from './tally.ts';

/** Throws `nothing_matched` if all files were left out; not for a shard, since other machines may upload files. */
export function refuseNothing({total, leftOut}: Tally, {shard}: UploadFlags): void {
  if (total > 0 || leftOut === 0 || shard !== undefined) return;
  const counted = leftOut === 1 ? '1 name was' : `${leftOut} names were`;
  throw new MediaError(
    'nothing_matched',
    `There is nothing to upload: ${counted} left out (hidden, or neither an image nor a video).`,
    {hint: '--verbose lists them, --all uploads them anyway.'},
  );
}

/** The note on links to directories that were not followed. */
export function unfollowedText(links: ReadonlySet<string>): string {
  const [first = ''] = links;
  return links.size === 1
    ? `1 link to a directory was not followed: ${first}. Name it to upload what is in it.`
    : `${links.size} links to directories were not followed: ${first} and others. Name them to upload what is in them.`;
}
