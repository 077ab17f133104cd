import {dirname} from 'node:path';
import {commonScope} from '../../../engine/journal/journal.ts';
import {
  type Manifest,
  parseManifest,
  renderManifest,
  sidesOf,
} from '../../../engine/manifest/manifest-file.ts';
import {
  hashesIn,
  manifestPath,
  readManifestText,
  writeManifest,
} from '../../../engine/manifest/manifest-store.ts';
import {mergeManifests} from '../../../engine/manifest/merge-manifests.ts';
import {MediaError} from '../../../errors.ts';
import {countText} from '../../../lib/units.ts';
import type {ExitStatus, Invocation} from '../../session/invocation.ts';

/**
 * Writes what several manifests know to one file, and keeps what that file knows. A manifest with conflict markers of
 * git counts as two. Rejects, and writes nothing, if they have two contents for a file, and the disk has neither.
 */
export async function joinManifests(
  {files, output}: {files: readonly string[]; output: string},
  {host, report}: Invocation,
): Promise<ExitStatus> {
  const directory = dirname(await manifestPath(output, host));
  const hashOf = hashesIn(directory, host.files);
  const text = (await readManifestText(output, host)) ?? '';
  const outputSides = text === '' ? [] : sidesOf(text);
  const parts = outputSides.map(side => ({displayPath: output, scope: parseManifest(side, output)}));
  for (const displayPath of new Set(files)) {
    if (displayPath === output) continue;
    const read = await readManifestText(displayPath, host);
    if (read === undefined)
      throw new MediaError('file_missing', `The manifest ${displayPath} does not exist.`, {
        hint: 'Check its name. Nothing was written.',
      });
    for (const side of sidesOf(read)) parts.push({displayPath, scope: parseManifest(side, displayPath)});
  }
  // Only for its error: all manifests must belong to one service and account.
  commonScope(parts);
  const [first, ...others] = parts.map(({scope}) => scope);
  if (first === undefined) return 0;
  let joined = first;
  const conflicts = new Set<string>();
  for (const other of others) {
    for (const [key, {sha256, received}] of other.files) {
      const known = joined.files.get(key);
      const [id, knownId] = [received, known?.received ?? received].map(({record}) => record.id);
      if (known !== undefined && known.sha256 !== sha256) conflicts.add(key);
      else if (id !== knownId)
        report.note(
          `${key} is stored twice with the same content, as ${[id, knownId].sort().join(' and ')}.`,
        );
    }
    joined = await mergeManifests(undefined, other, joined, hashOf);
  }
  for (const key of conflicts) {
    if ((await hashOf(key)) === joined.files.get(key)?.sha256) continue;
    throw new MediaError(
      'journal_unproven',
      `${key} has two contents in these manifests, and the file has neither.`,
      {
        hint: 'Nothing was written. Restore one of them, or delete the lines of both: the next run uploads the file.',
      },
    );
  }
  // A file that differs only in its layout stays as it is.
  const isKnown = outputSides.length === 1 && renderManifest(joined) === renderManifest(first);
  const before: Manifest = {...first, files: new Map(), unknown: new Map(), text};
  if (!isKnown) await writeManifest(output, before, joined, host, hashOf);
  const {files: known, unknown} = joined;
  report.note(`${output}: ${countText(known.size, 'file')}, ${unknown.size} unknown.`);
  return 0;
}
