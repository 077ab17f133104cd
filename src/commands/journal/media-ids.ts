import {failed, MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {readText} from '../../lib/files/read-text.ts';
import {typedPath} from '../../lib/files/typed-path.ts';

/** The media IDs of a list: on each line a path, an idempotency key or a SHA-256, then a space and the ID. */
export async function mediaIdsIn(path: string, host: Host): Promise<Map<string, string>> {
  const hint = 'Use a file with a path and a media ID on each line.';
  const text = await readText(typedPath(host.cwd(), path)).catch(
    failed('file_unreadable', `The list ${path} could not be read`, hint),
  );
  const ids = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, name, id] = /^(.*\S)\s+(\S+)\s*$/.exec(line) ?? [];
    if (name === undefined || id === undefined)
      throw new MediaError('usage', `Line ${index + 1} of ${path} is not a path followed by a media ID.`, {
        hint: 'Write one on each line, as in: photos/cat.png med_123',
      });
    ids.set(name, id);
  }
  return ids;
}
