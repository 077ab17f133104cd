import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {sandboxFor} from '../../engine/service/program.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {pause} from '../../support/experiment/fault-proxy.ts';
import {type KeepingOptions, KeepingServer} from '../../support/experiment/keeping-server.ts';
import {missingPeer, type PeerName, startPeer} from '../../support/experiment/peers.ts';
import {sha256Of, uniqueBytes} from '../../support/experiment/verdicts.ts';
import {slowTest} from '../../support/patience.ts';

interface Line {
  file: string;
  status: string;
  attempts: number;
  error?: {status?: number; hint?: string};
}

/** Uploads files through a gateway; the lines of NDJSON, and how often each is stored. */
async function through(name: PeerName, path: string, count: number, options: KeepingOptions = {}) {
  const server = await KeepingServer.start(options);
  const {plainUrl} = await startPeer(name, server.url);
  const box = await sandboxFor(`${plainUrl}/${path}`);
  await mkdir(join(box.directory, 'files'));
  const sums = new Map<string, string>();
  for (let index = 0; index < count; index += 1) {
    const bytes = uniqueBytes(3_000);
    await writeFile(join(box.directory, `files/${index}.png`), bytes);
    sums.set(`files/${index}.png`, sha256Of(bytes));
  }
  const {stdout} = await box.run(['upload', ...sums.keys(), '-c', '4', '--ndjson'], slowTest);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Line);
  await server.close();
  return lines.map(line => ({...line, stored: server.countOf(sums.get(line.file) ?? '')}));
}

experiment(
  'nginx limits requests with 503: unknown, never sent again, and 429 is named',
  async ({scale}) => {
    const lines = await through('nginx', 'limited-503', scale === 'long' ? 60 : 12);
    const wrong = lines.filter(({status, error, stored}) =>
      status === 'uploaded'
        ? stored !== 1
        : status !== 'unknown' ||
          stored > 1 ||
          error?.status !== 503 ||
          !error.hint?.includes('should return 429'),
    );
    const unknown = lines.filter(({status}) => status === 'unknown').length;
    if (unknown === 0) wrong.push(...lines);
    const broken = wrong.map(line => JSON.stringify(line));
    return {tried: lines.length, held: lines.length - wrong.length, broken, note: `${unknown} unknown`};
  },
  missingPeer('nginx'),
);

experiment(
  'nginx limits requests with 429: each file is stored once',
  async ({scale}) => {
    const lines = await through('nginx', 'limited-429', scale === 'long' ? 60 : 12);
    const wrong = lines.filter(({status, stored}) => status !== 'uploaded' || stored !== 1);
    const retries = lines.reduce((sum, {attempts}) => sum + attempts - 1, 0);
    if (retries === 0) wrong.push(...lines);
    const broken = wrong.map(line => JSON.stringify(line));
    return {tried: lines.length, held: lines.length - wrong.length, broken, note: `${retries} retries`};
  },
  missingPeer('nginx'),
);

experiment(
  'Varnish responds with 503 with Retry-After for a service that has stored the file: unknown, stored once',
  async ({scale}) => {
    const slow = {at: (moment: string) => (moment === 'stored' ? pause(1_500) : undefined)};
    const lines = await through('varnish', '', scale === 'long' ? 12 : 3, slow);
    const wrong = lines.filter(
      ({status, error, stored}) => status !== 'unknown' || error?.status !== 503 || stored !== 1,
    );
    const broken = wrong.map(line => JSON.stringify(line));
    return {tried: lines.length, held: lines.length - wrong.length, broken};
  },
  missingPeer('varnish'),
);
