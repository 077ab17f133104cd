import {readFile} from 'node:fs/promises';
import {setTimeout as pause} from 'node:timers/promises';
import {png} from '../../embedded/support.ts';
import {experiment, onlyLong} from '../../support/experiment/experiment.ts';
import {sandbox} from '../../support/media.ts';
import {serve} from '../../support/served.ts';

const perMinute = 2_000;
const minutes = Number(process.env['LOAD_MINUTES'] ?? 10);

/** What a process and its children occupy, in MiB. */
async function residentOf(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  let kib = 0;
  for (const one of [pid, ...children.split(' ').filter(id => id !== '')]) {
    const status = await readFile(`/proc/${one}/status`, 'utf8').catch(() => '');
    kib += Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }
  return Math.round(kib / 1024);
}

experiment(
  `${perMinute} uploads a minute for ${minutes} minutes: every one is answered, and the memory does not grow`,
  async () => {
    const {child, url, key} = await serve(await sandbox(), '--ephemeral', '--quiet');
    const broken: string[] = [];
    const memory: number[] = [];
    const running = new Set<Promise<void>>();
    const start = performance.now();
    const total = perMinute * minutes;
    let stored = 0;
    const upload = async (index: number) => {
      const response = await fetch(`${url}/v1/media/upload`, {
        method: 'POST',
        headers: {Authorization: `Bearer ${key}`, 'Content-Type': 'image/png'},
        body: png(100 + (index % 500), 100 + Math.floor(index / 500)),
      });
      const {thumbnailUrl} = (await response.json()) as {thumbnailUrl?: string};
      if (response.status === 200 && thumbnailUrl !== undefined) stored += 1;
      else broken.push(`upload ${index}: ${response.status}, thumbnail ${thumbnailUrl}`);
    };
    for (let index = 0; index < total; index += 1) {
      const due = start + (index * 60_000) / perMinute;
      if (performance.now() < due) await pause(due - performance.now());
      const one = upload(index).catch(error => {
        broken.push(`upload ${index}: ${error}`);
      });
      running.add(one);
      void one.then(() => running.delete(one));
      if (index % Math.ceil(total / 20) === 0) memory.push(await residentOf(child.pid ?? 0));
    }
    await Promise.all(running);
    const seconds = Math.round((performance.now() - start) / 1000);
    memory.push(await residentOf(child.pid ?? 0));
    // The first samples are from before everything was used.
    const [early, late] = [memory.slice(4, 10), memory.slice(-6)].map(part => Math.max(...part));
    if ((late ?? 0) > 1.2 * (early ?? 0)) broken.push(`memory grew: ${memory.join(' ')} MiB`);
    return {tried: total, held: stored, broken, note: `${seconds} s, MiB: ${memory.join(' ')}`};
  },
  process.platform === 'linux' ? onlyLong() : 'reads /proc',
);
