import {MediaError} from '../../../errors.ts';
import type {Host} from '../../../host.ts';
import {inodeOf} from '../../../lib/files/inode-of.ts';
import {typedPath} from '../../../lib/files/typed-path.ts';
import type {UploadFlags} from './flags.ts';

/** A file that a run reads or writes besides its inputs, and its purpose. */
interface Used {
  what: string;
  /** Undefined for standard input. */
  path?: string;
}

/** Throws a usage error, before anything is written, if the journal, a list and standard output are not different files. */
export async function refuseSameFile({journal, filesFrom = []}: UploadFlags, host: Host): Promise<void> {
  const used: Used[] = [
    ...(journal === undefined ? [] : [{what: '--journal', path: journal}]),
    ...filesFrom.map(path => listAt(path)),
  ];
  const known = new Map<string, string>();
  const output = host.fileOf('stdout');
  if (output !== undefined) known.set(output, 'standard output');
  for (const {what, path} of used) {
    const identity =
      path === undefined ? host.fileOf('stdin') : await inodeOf(typedPath(host.cwd(), path), 'file');
    if (identity === undefined) continue;
    const other = known.get(identity);
    if (other !== undefined && (other !== what || what === '--journal')) throw sameFile(what, other, path);
    known.set(identity, what);
  }
}

function listAt(path: string): Used {
  return path === '-' ? {what: '--files-from -'} : {what: '--files-from', path};
}

function sameFile(what: string, other: string, path: string | undefined): MediaError {
  const named = path === undefined ? '' : `, ${path}`;
  return new MediaError('usage', `${what} and ${other} are the same file${named}.`, {
    hint: 'Use a different file for each.',
  });
}
