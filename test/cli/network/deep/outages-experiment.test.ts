import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {sandboxFor} from '../../../engine/service/program.ts';
import {experiment, onlyLong} from '../../../support/experiment/experiment.ts';
import {pause} from '../../../support/experiment/fault-proxy.ts';
import {KeepingServer} from '../../../support/experiment/keeping-server.ts';
import {missingPeer, type PeerName, startPeer} from '../../../support/experiment/peers.ts';
import {sha256Of, uniqueBytes} from '../../../support/experiment/verdicts.ts';
import {slowTest} from '../../../support/patience.ts';
import {missingProxy, squid, startProxy, tinyproxy} from '../../../support/proxy-programs.ts';

/** What is between the program and its service: the base URL and variables that lead through it. */
interface Way {
  name: string;
  missing: string | undefined;
  to: (origin: string) => Promise<{url: string; env?: Record<string, string>}>;
}

const behind = (name: PeerName): Way => ({
  name: `behind ${name}`,
  missing: missingPeer(name),
  to: async origin => ({url: (await startPeer(name, origin)).plainUrl}),
});

/** The proxies take media.test for 127.0.0.1. */
const through = (proxy: typeof squid): Way => ({
  name: `through ${proxy.name}`,
  missing: missingProxy(proxy),
  to: async origin => ({
    url: origin.replace('127.0.0.1', 'media.test'),
    env: {HTTP_PROXY: `http://${await startProxy(proxy)}`},
  }),
});

const ways: Way[] = [
  {name: 'directly', missing: undefined, to: async origin => ({url: origin})},
  ...(['nginx', 'caddy', 'haproxy', 'varnish'] as const).map(behind),
  ...[squid, tinyproxy].map(through),
];

interface Outage {
  files: number;
  ms: number;
  /** The value of `-c`, and the most files at a time that it allows. */
  concurrency: string;
  most: number;
  /** How long the service takes for each file; none unless given. */
  answerMs?: number;
}

/** Uploads so many files while the service is killed in their midst, and started again after so many milliseconds. */
async function throughAnOutage(way: Way, {files: count, ms, concurrency, most, answerMs = 0}: Outage) {
  let stored = 0;
  let connected = 0;
  let outage: Promise<void> | undefined;
  const die = async () => {
    ({connected} = server);
    server.die();
    await pause(ms);
    await server.revive();
  };
  const server = await KeepingServer.start({
    at: async moment => {
      if (moment === 'begun' && answerMs > 0) await pause(answerMs);
      if (moment === 'stored') stored += 1;
      if (stored >= count / 4) outage ??= die();
    },
  });
  const {url, env} = await way.to(server.url);
  const box = await sandboxFor(url, env);
  await mkdir(join(box.directory, 'files'));
  const sums = new Map<string, string>();
  for (let index = 0; index < count; index += 1) {
    const bytes = uniqueBytes(2_000);
    await writeFile(join(box.directory, `files/${index}.png`), bytes);
    sums.set(`files/${index}.png`, sha256Of(bytes));
  }
  const {stdout, exitCode} = await box.start(
    ['upload', '-r', 'files', '-c', concurrency, '--ndjson', '--allow-http'],
    slowTest,
  );
  await outage;
  await server.close();
  const counts: Record<string, number> = {};
  const wrong: string[] = [];
  for (const line of stdout.trimEnd().split('\n')) {
    const {file, status, error} = JSON.parse(line);
    counts[status] = (counts[status] ?? 0) + 1;
    const times = server.countOf(sums.get(file) ?? '');
    if (status === 'failed' || times > 1 || (status === 'uploaded' && times !== 1))
      wrong.push(`${file}: ${status} ${error?.code ?? ''}, stored ${times} times`);
  }
  const {uploaded = 0, unknown = 0} = counts;
  // As many as at a time, and one for each time that it was open again.
  if (unknown > most + 2) wrong.push(`${unknown} unknown`);
  if (uploaded + unknown !== count) wrong.push(JSON.stringify(counts));
  if (exitCode !== (unknown > 0 ? 5 : 0)) wrong.push(`exit status ${exitCode}, ${unknown} unknown`);
  return {wrong, unknown, connected};
}

for (const way of ways) {
  experiment(
    `an outage of 0.4, 3 and 20 s, ${way.name}: none failed, as few unknown as workers`,
    async ({scale}) => {
      const count = scale === 'long' ? 5_000 : 200;
      const outages = scale === 'long' ? [400, 3_000, 20_000] : [400];
      const broken: string[] = [];
      const unknown: number[] = [];
      for (const ms of outages) {
        const end = await throughAnOutage(way, {files: count, ms, concurrency: '8', most: 8});
        broken.push(...end.wrong.map(line => `${ms} ms: ${line}`));
        unknown.push(end.unknown);
      }
      const tried = count * outages.length;
      return {tried, held: tried - broken.length, broken, note: `${unknown.join(', ')} unknown`};
    },
    way.missing ?? (way.name === 'behind nginx' ? undefined : onlyLong()),
  );
}

const nginx = behind('nginx');

experiment(
  `-c auto:64, an outage of 3 s, ${nginx.name}: none failed, as few unknown as were in progress`,
  async ({scale}) => {
    const files = scale === 'long' ? 3_000 : 400;
    const outage = {files, ms: 3_000, concurrency: 'auto:64', most: 64, answerMs: 30};
    const {wrong, unknown, connected} = await throughAnOutage(nginx, outage);
    const note = `${unknown} unknown, ${connected} connections when it began`;
    return {tried: files, held: files - wrong.length, broken: wrong, note};
  },
  nginx.missing,
);
