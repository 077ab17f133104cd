import {readFile} from 'node:fs/promises';
import {eventually} from '../embedded/support.ts';

/** Resolves once a process has ended, though a call of one of its threads on a disk that hangs may keep it from being gone. */
export async function ended(pid: number): Promise<void> {
  await eventually(async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ') Z');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  });
}
