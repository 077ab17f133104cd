import {copyFile, mkdir, readdir, readFile, rename, rm, truncate, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {sandboxFor} from '../../../engine/service/program.ts';
import {cannotContain, startContained} from '../../../support/containers.ts';
import {eventually} from '../../../support/eventually.ts';
import {experiment, type Findings, type Scale} from '../../../support/experiment/experiment.ts';
import {pauseBriefly} from '../../../support/experiment/fault-proxy.ts';
import {KeepingServer} from '../../../support/experiment/keeping-server.ts';
import {sha256Of, uniqueBytes} from '../../../support/experiment/verdicts.ts';
import type {Sandbox} from '../../../support/media.ts';
import {twoStores} from '../../../support/two-stores.ts';

const concurrency = 4;
const times: Record<Scale, number> = {short: 1, long: 100};

/** Tries something so many times; each time resolves to a sentence for everything that is wrong. */
async function tryTimes(scale: Scale, once: () => Promise<string[]>, note?: string): Promise<Findings> {
  const broken: string[] = [];
  let held = 0;
  for (let time = 0; time < times[scale]; time += 1) {
    const wrong = await once();
    if (wrong.length === 0) held += 1;
    broken.push(...wrong.map(line => `${time}: ${line}`));
  }
  return {tried: times[scale], held, broken, ...(note === undefined ? {} : {note})};
}

/** Puts files with contents of their own in a directory. */
async function write(box: Sandbox, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await mkdir(join(box.directory, name, '..'), {recursive: true});
    await writeFile(join(box.directory, name), uniqueBytes(500 + 100 * names.indexOf(name)));
  }
}

function upload(...inputs: string[]): string[] {
  return ['upload', ...inputs, '--journal', 'j', '--ndjson', '-c', String(concurrency)];
}

function statusesOf(stdout: string): string[] {
  const lines = stdout.split('\n').filter(line => line !== '');
  return lines.map(line => (JSON.parse(line) as {status: string}).status);
}

const names = (count: number) => Array.from({length: count}, (_, index) => `files/${index}.png`);

experiment('one journal and another base URL: refused before anything is sent', ({scale, random}) =>
  tryTimes(scale, async () => {
    const [own, other] = [await KeepingServer.start(), await KeepingServer.start()];
    const box = await sandboxFor(own.url);
    await write(box, names(3));
    const urls = [
      own.url,
      other.url,
      `${own.url}/prefix`,
      own.url.replace('127.0.0.1', 'localhost'),
      'embedded',
    ];
    const first = urls[random() < 0.5 ? 0 : 4] ?? '';
    const broken: string[] = [];
    const run = (url: string) => box.run(upload('-r', 'files', '--base-url', url));
    if ((await run(first)).exitCode !== 0) broken.push('the first run failed');
    const [text, stored] = [await readFile(join(box.directory, 'j'), 'utf8'), own.stored.length];
    for (const url of urls.filter(one => one !== first)) {
      const {exitCode, stdout, stderr} = await run(url);
      if (exitCode !== 1 || stdout !== '' || !stderr.includes('journal_of_other_service'))
        broken.push(`${first}, then ${url}: exit status ${exitCode}, ${stderr}`);
    }
    if (own.stored.length + other.stored.length !== stored) broken.push('something was sent');
    if ((await readFile(join(box.directory, 'j'), 'utf8')) !== text) broken.push('the journal was changed');
    await Promise.all([own.close(), other.close()]);
    return broken;
  }),
);

experiment(
  'one journal and a store that is replaced behind its URL, between two runs or within one: nothing of the first is skipped or printed there, little is sent, and the first one gets each file once',
  ({scale, random}) =>
    tryTimes(scale, async () => {
      const stores = await twoStores();
      const {box} = stores;
      const count = 12;
      await write(box, names(count));
      const own = random() < 0.5 ? ['--journal', 'j'] : ['--once'];
      const command = ['upload', '-r', 'files', ...own, '--ndjson', '-c', String(concurrency)];
      const replacedAt = 1 + Math.floor(random() * 2 * count);
      const broken: string[] = [];
      const first = box.start([...command, '--limit-rate', '20k']);
      let hasEnded = false;
      void first.then(() => {
        hasEnded = true;
      });
      await eventually(async () => hasEnded || (await stores.stored()) >= replacedAt);
      const {identity} = await stores.replace();
      const {exitCode: firstStatus, stderr: firstText} = await first;
      const elsewhere = await stores.stored();
      if (elsewhere > concurrency) broken.push(`${elsewhere} sent to the other store`);
      if (elsewhere > 0 !== firstText.includes(identity)) broken.push(`told otherwise: ${firstText}`);
      if (elsewhere > 0 && ![1, 3, 5].includes(Number(firstStatus)))
        broken.push(`exit status ${firstStatus}`);
      for (const words of [[], ['--dry-run'], ['--verify', 'strict']]) {
        const {exitCode, stdout, stderr} = await box.run([...command, ...words]);
        if (exitCode !== 1 || stdout !== '' || !stderr.includes('journal_of_other_service'))
          broken.push(`${words}: exit status ${exitCode}, ${stdout}${stderr}`);
      }
      if ((await stores.stored()) !== elsewhere) broken.push('sent to the other store');
      await stores.restore();
      const {exitCode, stdout, stderr} = await box.run([...command, '--on-unknown', 'retry']);
      if (exitCode !== 0 || statusesOf(stdout).length !== count)
        broken.push(`exit status ${exitCode}, ${stderr}`);
      const contents = (await stores.service().records()).map(({sha256}) => sha256);
      if (contents.length !== count || new Set(contents).size !== count)
        broken.push(`${contents.length} stored of ${count}`);
      return broken;
    }),
);

experiment(
  'one journal and files under other names: patterns, directories, lists, renamed, copied, NFC and NFD, edits with a kept size and mtime',
  ({scale, random}) =>
    tryTimes(scale, async () => {
      const server = await KeepingServer.start();
      const box = await sandboxFor(server.url);
      const below = (name: string) => join(box.directory, 'files', name);
      const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T;
      const contents = new Set<string>();
      await write(box, names(4));
      const broken: string[] = [];
      for (let run = 0; run < 5; run += 1) {
        const there = await readdir(join(box.directory, 'files'));
        for (const name of there) {
          await utimes(below(name), 1_000_000_000, 1_000_000_000);
          contents.add(sha256Of(await readFile(below(name))));
        }
        await writeFile(
          join(box.directory, 'list'),
          there.map(name => `./files/../files/${name}\n`).join(''),
        );
        const inputs = pick([['files/*.png'], ['-r', 'files'], ['--files-from', 'list'], ['-r', '.']]);
        const {exitCode, stderr} = await box.run(upload(...inputs));
        if (exitCode !== 0) broken.push(`${inputs.join(' ')}: exit status ${exitCode}, ${stderr}`);
        const check = await box.run(['journal', 'check', 'j', '--', 'files']);
        if (check.exitCode !== 0) broken.push(`check after ${inputs.join(' ')}: ${check.stdout}`);
        const [from, other] = [pick(there), pick(there)];
        const edited = await readFile(below(other));
        await pick([
          () => rename(below(from), below(`renamed-${run}.png`)),
          () => copyFile(below(from), below(`copy-${run}.png`)),
          () => copyFile(below(from), below(`caf\u00e9-${run}.png`)),
          () => copyFile(below(from), below(`cafe\u0301-${run}.png`)),
          () => writeFile(below(other), Buffer.concat([edited.subarray(0, -6), Buffer.from(`edit ${run}`)])),
        ])();
      }
      for (const content of contents) {
        const count = server.countOf(content);
        if (count !== 1) broken.push(`a content is stored ${count} times`);
      }
      await server.close();
      return broken;
    }),
);

experiment(
  'a journal that is removed, replaced or cut short while it is in use: nothing is sent that it does not have, and the rest is told',
  ({scale, random}) =>
    tryTimes(scale, async () => {
      const changeAt = 1 + Math.floor(random() * 10);
      const kind = Math.floor(random() * 3);
      let storedThen = 0;
      let changed = '';
      const server = await KeepingServer.start({
        at: async moment => {
          if (moment !== 'stored' || changed === '' || server.stored.length !== changeAt) return;
          if (kind === 0) await rm(changed);
          if (kind === 1)
            await copyFile(changed, `${changed}.copy`).then(() => rename(`${changed}.copy`, changed));
          if (kind === 2) await truncate(changed, 60);
          storedThen = server.stored.length;
        },
      });
      const box = await sandboxFor(server.url);
      await write(box, names(30));
      changed = join(box.directory, 'j');
      const {exitCode, stdout, stderr} = await box.run(upload('-r', 'files'));
      const uploaded = statusesOf(stdout).filter(status => status === 'uploaded').length;
      const broken: string[] = [];
      if (exitCode !== 3) broken.push(`exit status ${exitCode}, ${stderr}`);
      if (uploaded !== server.stored.length)
        broken.push(`${uploaded} told of ${server.stored.length} stored`);
      if (server.stored.length - storedThen > concurrency)
        broken.push(`${server.stored.length - storedThen} sent after the change`);
      if (!(stdout + stderr).includes('journal_failed')) broken.push(stderr);
      await server.close();
      return broken;
    }),
);

experiment(
  'a pod killed by SIGKILL: its successor on another host goes on after 90 s, each file is stored once',
  ({scale, random}) =>
    tryTimes(scale, async () => {
      let kill = () => {};
      const server = await KeepingServer.start({
        at: moment => {
          if (moment === 'stored') kill();
        },
      });
      const box = await sandboxFor(server.url);
      await write(box, names(20));
      const killed = new Promise<void>(resolve => {
        let left = 1 + Math.floor(random() * 12);
        kill = () => {
          left -= 1;
          if (left === 0) resolve();
        };
      });
      const first = startContained(box, upload('-r', 'files'), {ownIds: true, hostName: 'pod-1'});
      await killed;
      await pauseBriefly(random() * 5);
      await first.signal('SIGKILL');
      await first.child;
      await server.idle();
      const past = Date.now() / 1000 - 91;
      for (const path of ['j', 'j.lock'])
        await utimes(join(box.directory, path), past, past).catch(() => undefined);
      const second = startContained(box, upload('-r', 'files'), {ownIds: true, hostName: 'pod-2'});
      const {exitCode, stdout, stderr} = await second.child;
      const statuses = statusesOf(stdout);
      const unknown = statuses.filter(status => status === 'unknown').length;
      const broken: string[] = [];
      if (exitCode !== (unknown > 0 ? 5 : 0)) broken.push(`exit status ${exitCode}, ${stderr}`);
      if (unknown > concurrency || statuses.length !== 20)
        broken.push(`${unknown} unknown of ${statuses.length} told`);
      const contents = new Set(server.stored.map(({sha256}) => sha256));
      if (contents.size !== server.stored.length) broken.push('stored twice');
      if (contents.size < 20 - unknown) broken.push(`${contents.size} stored, ${unknown} unknown`);
      await server.close();
      return broken;
    }),
  cannotContain(),
);
