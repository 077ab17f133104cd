import {delimiter, dirname, join, sep} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Host} from '../../../host.ts';
import {isWithin} from '../../../lib/files/typed-path.ts';
import {isExecutable} from '../../../package-file.ts';
import type {CheckResult} from './check-result.ts';

/** Checks how this copy of the program was installed, and whether PATH finds another one: that is only a warning. */
export async function checkInstallation(host: Host): Promise<CheckResult> {
  const check = 'installation';
  const {way, place} = await installationOf(host);
  const here = `${way}, ${place}`;
  // On Windows, PATH finds scripts that start the program.
  if (host.platform === 'win32') return {check, status: 'ok', message: here};
  const programs = await programsInPath(host);
  const isOwn = ({target}: FoundProgram) => isWithin(target, place);
  const others = programs.filter(program => !isOwn(program)).map(({path}) => path);
  const [first] = programs;
  if (first !== undefined && !isOwn(first)) {
    const message = `${here}: another one comes first in PATH, ${first.path}`;
    return {check, status: 'warning', message};
  }
  const hidden = others.length === 0 ? '' : `, and hides ${others.join(', ')}`;
  const message = first === undefined ? `${here}, not in PATH` : `${here}, in PATH as ${first.path}${hidden}`;
  return {check, status: 'ok', message};
}

/** How this copy was installed, and the real path of its executable or of the package directory. */
async function installationOf({files, nodePath}: Host): Promise<{way: string; place: string}> {
  if (isExecutable) return {way: 'one executable', place: await files.realpath(nodePath())};
  // The file that this is built into is in dist.
  const place = await files.realpath(dirname(dirname(fileURLToPath(import.meta.url))));
  if (files.existsSync(join(place, 'src'))) return {way: 'a clone', place};
  return {way: place.includes(`${sep}node_modules${sep}`) ? 'the package' : 'a copy of the package', place};
}

interface FoundProgram {
  path: string;
  /** What it is a link to. */
  target: string;
}

/** The programs called `media` in PATH that can be run, in the order in which a shell looks; each file once. */
async function programsInPath({env, files}: Host): Promise<FoundProgram[]> {
  const programs = new Map<string, FoundProgram>();
  for (const directory of (env['PATH'] ?? '').split(delimiter)) {
    const path = join(directory || '.', 'media');
    try {
      await files.access(path, 1);
      if (!(await files.stat(path)).isFile()) continue;
      const target = await files.realpath(path);
      if (!programs.has(target)) programs.set(target, {path, target});
    } catch {
      // This directory has no such program.
    }
  }
  return [...programs.values()];
}
