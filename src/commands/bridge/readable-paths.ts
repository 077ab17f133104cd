import {realpath, stat} from 'node:fs/promises';
import {isAbsolute, relative, sep} from 'node:path';
import {MediaError} from '../../errors.ts';
import {failed} from '../../lib/files/failed.ts';
import {pathOfFileUrl} from '../../lib/files/file-url.ts';
import {typedPath} from '../../lib/files/typed-path.ts';
import {systemReason} from '../../lib/system-code.ts';
import {BridgeRefusal} from './refusal.ts';

/** The real paths of the directories that files may be read from; rejects if one is not a directory. */
export function realRoots(roots: readonly string[], cwd: string): Promise<string[]> {
  return Promise.all(
    roots.map(async root => {
      const path = await realpath(typedPath(cwd, root)).catch(
        failed('file_missing', `${root} could not be found`, 'Name an existing directory with --root.'),
      );
      if ((await stat(path)).isDirectory()) return path;
      throw new MediaError('usage', `${root} is not a directory.`, {hint: 'Name a directory with --root.'});
    }),
  );
}

/**
 * The real path of a file that a request names, links resolved; throws a refusal if it is not an absolute path or a file:// URL,
 * does not exist, or is in none of the roots. Without roots, every path may be read.
 */
export async function readablePath(named: string, roots: readonly string[]): Promise<string> {
  const path = pathIn(named);
  if (!isAbsolute(path)) return withoutSlash(named, roots);
  const real = await realpath(path).catch(cause => {
    // Whether a file exists outside the roots is nobody's business.
    const where = roots.length === 0 ? systemReason(cause) : 'it does not exist, or it is outside --root';
    throw new BridgeRefusal(400, `${named} could not be read: ${where}.`, {cause});
  });
  if (roots.length > 0 && !roots.some(root => isBelow(real, root)))
    throw new BridgeRefusal(400, `${named} could not be read: it does not exist, or it is outside --root.`);
  return real;
}

/** The plugin of Obsidian drops the first slash of absolute paths, which PicGo does not notice where it runs in the root directory. */
async function withoutSlash(named: string, roots: readonly string[]): Promise<string> {
  try {
    return await readablePath(`/${named}`, roots);
  } catch (cause) {
    throw new BridgeRefusal(400, `${named} is not the absolute path of a file.`, {cause});
  }
}

function pathIn(named: string): string {
  try {
    return pathOfFileUrl(named);
  } catch (cause) {
    throw new BridgeRefusal(400, `${named} is not the URL of a local file.`, {cause});
  }
}

function isBelow(path: string, root: string): boolean {
  const rest = relative(root, path);
  return rest !== '' && rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}
