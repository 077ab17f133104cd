import {join} from 'node:path';
import {expandInputs, inputContext} from '../../../engine/sources/find/expand.ts';
import type {Source} from '../../../engine/sources/open/source.ts';
import {MediaError, NotMediaError, throwAs} from '../../../errors.ts';
import {isBelow, isWithin, resolveUserPath} from '../../../lib/files/typed-path.ts';
import {Stop} from '../../../lib/stop.ts';
import {decideSourceType} from '../../../media/type/decide.ts';
import {asMediaError, type Report} from '../../output/report.ts';
import type {Invocation} from '../../session/invocation.ts';

const hint = 'Name a directory with images and videos with --seed.';
const neverStopped = new Stop<Error>();

/** The images and videos below a directory, without those of a data directory in it; rejects if there is none. */
export async function* seedFiles(directory: string, dataDirectory: string, {host, report}: Invocation) {
  const place = await host.files
    .realpath(resolveUserPath(host.cwd(), directory))
    .catch(throwAs('file_missing', `${directory} could not be found`, hint));
  if (!(await host.files.stat(place)).isDirectory())
    throw new MediaError('usage', `${directory} is not a directory.`, {hint});
  const inputs = [directory === '-' ? './-' : directory];
  let count = 0;
  let leftOut = 0;
  const data = await host.files.realpath(dataDirectory);
  // Warns of a link to what is outside of the directory, so that the seed is the same wherever that is copied.
  const leaves = async (path: string, name: string) => {
    const target = await host.files.realpath(path).catch(() => path);
    if (isWithin(target, place)) return false;
    report.warning(`${name} is a link to ${target}, outside of ${directory}. It is not part of the seed.`);
    return true;
  };
  const links: string[] = [];
  const context = {...inputContext(host), onUnfollowedLink: (name: string) => links.push(name)};
  for await (const source of expandInputs({inputs, recursive: true}, context)) {
    const path = join(place, String(source.relativePath));
    if (isBelow(path, data)) continue;
    const contentType = await seedTypeOf(source, report);
    if (contentType === undefined || (await leaves(path, source.name))) {
      leftOut += 1;
      continue;
    }
    count += 1;
    const {name} = source;
    const onSame = (other: string) =>
      report.note(`${[name, other].sort().join(' and ')} have the same content and are stored once.`);
    yield {name, contentType, open: () => source.open(neverStopped), onSame};
  }
  for (const link of links) await leaves(resolveUserPath(host.cwd(), link), link);
  if (count === 0)
    throw new MediaError('nothing_matched', `${directory} contains no images or videos.`, {hint});
  if (leftOut > 0)
    report.note(`The seed has ${count} of the files in ${directory}; ${leftOut} were left out.`);
}

/** The content type of a seed file; undefined if the seed leaves it out, which is a warning unless it is no media. */
async function seedTypeOf(source: Source, report: Report): Promise<string | undefined> {
  if (source.found?.isHidden) return undefined;
  try {
    const file = await source.open(neverStopped);
    const deciding = decideSourceType(source, file, {types: 'extension'});
    return (await deciding.finally(() => file.close(true))).contentType;
  } catch (error) {
    const isOtherFile = error instanceof NotMediaError && !error.isCalledMedia;
    if (!isOtherFile) report.warning(`${asMediaError(error).message} It is not part of the seed.`);
    return undefined;
  }
}
