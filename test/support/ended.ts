import {readFile} from 'node:fs/promises';
import {eventually} from './eventually.ts';

/** Resolves when a process has ended, even if a call of one of its threads on a hanging disk keeps it from disappearing. */
export async function ended(pid: number): Promise<void> {
  await eventually(async () => {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ') Z');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  });
}
