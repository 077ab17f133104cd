import {eventually} from '../../support/eventually.ts';
import {experiment, onlyLong} from '../../support/experiment/experiment.ts';
import {type Fault, FaultProxy} from '../../support/experiment/fault-proxy.ts';
import {KeepingServer} from '../../support/experiment/keeping-server.ts';
import {missingPeer, type Peer, startPeer} from '../../support/experiment/peers.ts';
import {concurrently, Tally} from '../../support/experiment/tally.ts';
import {compare, uniqueBytes, uploadBatch} from '../../support/experiment/verdicts.ts';
import {seededRandom} from '../../support/seeded.ts';
import {type FaultParameters, faults} from './faults.ts';

/** What a proxy may meet on either side of it: TLS carries bytes only, so that nothing here knows of requests. */
const onEitherSide = [
  'latency down',
  'reset up',
  'reset down',
  'half-open up',
  'half-open down',
  'slicer up',
  'limit-data up',
  'limit-data down',
  'slow close up',
];

/** What a service may do to a proxy, which speaks plain HTTP to it. */
const behindIt = [
  '401 at 0 %',
  '413 at 50 %',
  '500 at 100 %',
  'answer dropped by FIN',
  '2,000 interim answers',
  'two Content-Lengths',
  'two answers to one request',
];

const chosen = [...onEitherSide, ...behindIt];

const sizes = [3_000, 900_000, 5_000_000];

interface Cell {
  fault: string;
  size: number;
  files: number;
  side: 'before it' | 'behind it';
  scheme: 'plain' | 'TLS';
}

const all: Cell[] = chosen.flatMap(fault =>
  sizes.flatMap(size =>
    [1, 4].flatMap(files =>
      (behindIt.includes(fault) ? (['behind it'] as const) : (['before it', 'behind it'] as const)).flatMap(
        side => (['plain', 'TLS'] as const).map(scheme => ({fault, size, files, side, scheme})),
      ),
    ),
  ),
);

for (const name of ['nginx', 'haproxy', 'mitmproxy'] as const) {
  experiment(
    `through ${name}`,
    async ({scale, random}) => {
      const tally = new Tally();
      const server = await KeepingServer.start();
      const behind = await FaultProxy.start(server.url, random);
      const peer = await startPeer(name, behind.url);
      const cells = all.filter(() => scale === 'long' || random() < 0.03);
      cells.sort(() => random() - 0.5);
      // As many as there is time for.
      const end = performance.now() + 55_000;
      await tryCell({fault: 'none', size: 900_000, files: 4, side: 'before it', scheme: 'TLS'}, peer);
      // One at a time: the connections of a proxy to its origin are anybody's.
      await concurrently(cells, 1, async cell => {
        if (performance.now() < end) await tryCell(cell, peer);
      });
      await behind.close();
      await server.close();
      return tally.findings(`${chosen.length} kinds of fault`);

      async function tryCell(cell: Cell, {plainUrl, tlsUrl, certificateAuthorities}: Peer): Promise<void> {
        const {fault, size, files, side, scheme} = cell;
        const own = seededRandom(random() * 2 ** 31);
        const make = (): Fault =>
          own() < 0.7
            ? ((faults[fault] as (parameters: FaultParameters) => Fault) ?? (() => ({})))({
                random: own,
                bodyBytes: size,
              })
            : {};
        const url = new URL(scheme === 'TLS' ? tlsUrl : plainUrl);
        const before = await FaultProxy.start(url.href, own);
        behind.nextFault = side === 'behind it' ? make : () => ({});
        if (side === 'before it') before.nextFault = make;
        url.port = new URL(before.url).port;
        const bodies = Array.from({length: files}, () => uniqueBytes(size));
        const outcomes = await uploadBatch({
          url: url.href,
          certificateAuthorities,
          bodies,
          options: {retries: 2, concurrency: 2, timeoutMs: 1_500},
          deadlineMs: 9_000,
        });
        await before.drained();
        await before.close();
        // What the proxy has taken whole may still be on its way to the service.
        await eventually(async () => {
          await behind.quiet();
          return !server.isBusy;
        });
        const comparison = compare(outcomes, bodies, server.stored.splice(0));
        if (fault === 'none' && comparison.uploaded < files)
          comparison.broken.push('not uploaded, without a fault');
        tally.add(`${fault} ${side}, ${files} x ${size} bytes, ${scheme}`, comparison);
      }
    },
    // It takes seconds to start.
    (name === 'mitmproxy' ? onlyLong() : undefined) ?? missingPeer(name),
  );
}
