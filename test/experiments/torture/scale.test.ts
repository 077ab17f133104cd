import {createHash} from 'node:crypto';
import {linkSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {access, mkdtemp, rm} from 'node:fs/promises';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, onTestFinished} from 'vitest';
import {shardOf} from '../../../src/engine/sources/find/shard.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {listen, urlOf} from '../../support/loopback.ts';
import {fixture, Sandbox} from '../../support/media.ts';
import {memoryIn, tellMemory} from '../../support/memory.ts';
import {slowTest} from '../../support/patience.ts';

const mebibyte = 1024 * 1024;
const perDirectory = 1000;

/** A directory for many files, in memory where the system has such a place. */
async function roomyDirectory(): Promise<string> {
  const base = await access('/dev/shm').then(
    () => '/dev/shm',
    () => tmpdir(),
  );
  const directory = await mkdtemp(join(base, 'media-scale-'));
  onTestFinished(() => rm(directory, {recursive: true, force: true}));
  return directory;
}

/** The path of the n-th file below the root, in the order of the walk. */
function pathOf(index: number): string {
  const part = (value: number) => String(value).padStart(4, '0');
  return `d${part(Math.floor(index / perDirectory))}/p${part(index % perDirectory)}.png`;
}

/** Answers each upload with an ID made of its content's hash; `onFirst` holds the first answer back. */
async function hashingSink(onFirst: () => Promise<void> = async () => {}) {
  const hashes: string[] = [];
  const server = createServer(async (request, response) => {
    const hash = createHash('sha256');
    for await (const bytes of request) hash.update(bytes as Buffer);
    const digest = hash.digest('hex');
    hashes.push(digest);
    if (hashes.length === 1) await onFirst();
    response.setHeader('content-type', 'application/json');
    response.end(`{"id":"m_${digest}","type":"IMAGE"}`);
  });
  await listen(server);
  return {url: urlOf(server), hashes};
}

function sandboxIn(directory: string, url: string): Sandbox {
  return new Sandbox(directory, {
    MEDIA_BASE_URL: url,
    MEDIA_API_KEY: 'key-of-the-test-1234',
    NODE_OPTIONS: tellMemory,
  });
}

const counts = {short: 2_000, long: 200_000};
const treeCounts = {short: 20_000, long: 200_000};
/** In MiB: what a journal knows of its files is held in memory, about 1 kB of each. */
const mostMemory = {short: 200, long: 400};

experiment(
  'small files, each of other content: stored once, in order, in bounded memory; run again: none',
  async ({scale}) => {
    const count = counts[scale];
    const directory = await roomyDirectory();
    const png = readFileSync(fixture('photo.png')).subarray(0, 600);
    const expected: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const path = join(directory, 'assets', pathOf(index));
      if (index % perDirectory === 0) mkdirSync(join(path, '..'), {recursive: true});
      const content = Buffer.concat([png, Buffer.from(String(index))]);
      writeFileSync(path, content);
      expected.push(createHash('sha256').update(content).digest('hex'));
    }
    const sink = await hashingSink();
    const sandbox = sandboxIn(directory, sink.url);
    const command = ['upload', '-r', 'assets', '--journal', 'j', '--json'];
    const records = expected.map(hash => `{"id":"m_${hash}","type":"IMAGE"}\n`).join('');
    const memory: number[] = [];
    for (const summary of [`${count} uploaded, 0 skipped`, `0 uploaded, ${count} skipped`]) {
      const {stdout, stderr, exitCode} = await sandbox.run([...command, '--verbose'], {timeout: 800_000});
      expect(stderr).toContain(`${summary}, 0 failed, 0 unknown\n`);
      expect(exitCode).toBe(0);
      expect(stdout === records, 'the records come in the order of the inputs').toBe(true);
      // The second run sends nothing.
      expect(sink.hashes.length).toBe(count);
      memory.push(memoryIn(stderr) / mebibyte);
    }
    expect(new Set(sink.hashes)).toEqual(new Set(expected));
    expect(Math.max(...memory)).toBeLessThan(mostMemory[scale]);
    return {
      tried: count,
      held: new Set(sink.hashes).size,
      note: `${memory.map(Math.round).join(' and ')} MiB at most`,
    };
  },
);

experiment(
  'a tree of many files: the first is sent while the walk is on its way, in 200 MiB',
  async ({scale}) => {
    const count = treeCounts[scale];
    const share = 1_000;
    const directory = await roomyDirectory();
    const png = readFileSync(fixture('photo.png'));
    let original = '';
    const inShare: string[] = [];
    // Mostly hard links, which cost next to nothing.
    for (let index = 0; index < count; index += 1) {
      const name = pathOf(index);
      const path = join(directory, 'assets', name);
      if (shardOf(Buffer.from(name), share) === 1) inShare.push(name);
      if (index % perDirectory === 0) {
        mkdirSync(join(path, '..'), {recursive: true});
        writeFileSync(path, Buffer.concat([png, Buffer.from(String(index))]));
        original = path;
      } else {
        linkSync(original, path);
      }
    }
    // A file of this share in the last directory, which is there only once the first upload has arrived.
    const lastDirectory = pathOf(count - 1).split('/')[0] ?? '';
    const late = Array.from({length: 100_000}, (_, index) => `${lastDirectory}/q${index}.png`).find(
      name => shardOf(Buffer.from(name), share) === 1,
    );
    const sink = await hashingSink(async () => linkSync(original, join(directory, 'assets', late ?? '')));
    const {stdout, stderr, exitCode} = await sandboxIn(directory, sink.url).run(
      ['upload', '-r', 'assets', '--shard', `1/${share}`, '--template', '{file}\\n'],
      slowTest,
    );
    expect(exitCode, stderr).toBe(0);
    const sent = stdout
      .split('\n')
      .slice(0, -1)
      .map(line => line.slice('assets/'.length));
    expect(sent).toEqual([...inShare, late]);
    const memory = memoryIn(stderr) / mebibyte;
    expect(memory).toBeLessThan(200);
    return {
      tried: count,
      held: count,
      note: `${sent.length} of them sent as shard 1/${share}, ${Math.round(memory)} MiB at most`,
    };
  },
);
