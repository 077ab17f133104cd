import {nextTurn, type StopSignal} from '../../../host.ts';
import {resolveUserPath} from '../../../lib/files/typed-path.ts';
import type {Source} from '../open/source.ts';
import type {InputContext, InputRequest} from './expand.ts';

/** Whether the inputs can be read twice: first to survey them. A list from a pipe or standard input cannot. */
export async function isRepeatable(
  {filesFrom = []}: InputRequest,
  context: Pick<InputContext, 'cwd' | 'files'>,
) {
  const {cwd, files} = context;
  for (const list of filesFrom) {
    const stats = await files.stat(resolveUserPath(cwd, list)).catch(() => undefined);
    if (list === '-' || !stats?.isFile()) return false;
  }
  return true;
}

/** A few at a time: one would wait behind the reads of files being sent, and all at once would hold those up. */
const measuredAtATime = 256;

/** Reports the size of each source that is not left out, without opening it; false if stopped before the end. */
export async function survey(
  sources: AsyncIterable<Source>,
  onFile: (bytes: number) => void,
  signal: StopSignal,
): Promise<boolean> {
  let sizes: (number | Promise<number>)[] = [];
  /** Reports the sizes measured so far, and lets other work go on. */
  const report = async () => {
    for (const bytes of await Promise.all(sizes)) onFile(bytes);
    sizes = [];
    await nextTurn();
  };
  for await (const source of sources) {
    if (signal.aborted) return false;
    if (source.found?.isHidden || (await source.found?.isNamedMedia()) === false) continue;
    sizes.push(source.measure?.() ?? 0);
    if (sizes.length >= measuredAtATime) await report();
  }
  await report();
  return true;
}
