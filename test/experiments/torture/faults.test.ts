import {experiment, type Scale} from '../../support/experiment/experiment.ts';
import {FaultProxy} from '../../support/experiment/fault-proxy.ts';
import {KeepingServer, type Origin} from '../../support/experiment/keeping-server.ts';
import {concurrently, Tally} from '../../support/experiment/tally.ts';
import {
  type Comparison,
  compare,
  embeddedOrigin,
  uniqueBytes,
  uploadBatch,
} from '../../support/experiment/verdicts.ts';
import {seededRandom} from '../../support/seeded.ts';
import {after, closeAfterAnswer, deceptive, type FaultParameters, faults, inRequest} from './faults.ts';

/** One chunk, several, and enough to be paused before its release. */
const sizes = [3_000, 900_000, 5_000_000];
const origins: Record<string, () => Promise<Origin & {key?: string}>> = {
  'a plain server': () => KeepingServer.start(),
  'the embedded service': embeddedOrigin,
};

interface Cell {
  fault: string;
  size: number;
  files: number;
  origin: string;
  seed: number;
}

/** Every fault with every size, single and in a batch, before both services; the short form takes a part of them, `npm test` half of that. */
function cells(scale: Scale, random: () => number): Cell[] {
  const all = Object.keys(faults).flatMap(fault =>
    sizes.flatMap(size =>
      [1, 6].flatMap(files =>
        Object.keys(origins).map(origin => ({fault, size, files, origin, seed: random() * 2 ** 31})),
      ),
    ),
  );
  const share = 0.2;
  return scale === 'long' ? all : all.filter(({size}) => random() < (size > 1_000_000 ? 0.03 : share));
}

async function tryCell({fault, size, files, origin, seed}: Cell): Promise<Comparison> {
  const random = seededRandom(seed);
  const service = await (origins[origin] as () => Promise<Origin & {key?: string}>)();
  const proxy = await FaultProxy.start(service.url, random);
  const make = faults[fault] as (parameters: FaultParameters) => object;
  const parameters = {random, bodyBytes: size};
  // Some connections are spared, so that later attempts and files meet a sound one.
  proxy.nextFault = () => (random() < 0.7 ? make(parameters) : {});
  const bodies = Array.from({length: files}, () => uniqueBytes(size));
  const outcomes = await uploadBatch({
    url: proxy.url,
    ...(service.key === undefined ? {} : {key: service.key}),
    bodies,
    options: {
      retries: 2,
      concurrency: 3,
      timeoutMs: 600,
      onUnknown: service.honoursKeys ? 'retry' : 'hold',
    },
    deadlineMs: 6_000,
  });
  await proxy.drained();
  const stored = await service.close();
  await proxy.close();
  return compare(outcomes, bodies, stored, !deceptive.has(fault));
}

experiment('faults on the wire: the verdict is what was stored', async ({scale, random}) => {
  const tally = new Tally();
  await concurrently(cells(scale, random), 6, async cell => {
    const {fault, size, files, origin} = cell;
    tally.add(`${fault}, ${files} x ${size} bytes, ${origin}`, await tryCell(cell));
  });
  return tally.findings(`${Object.keys(faults).length} kinds`);
});

/** How many uploads share a server and a proxy. */
const perServer = 100;

experiment('an answer cut at each byte: uploaded only when it came whole', async ({random}) => {
  const tally = new Tally();
  const service = await KeepingServer.start();
  const proxy = await FaultProxy.start(service.url, random);
  const probe = uniqueBytes(3_000);
  let length = 0;
  proxy.nextFault = () => ({
    down: way => chunk => {
      length += chunk.length;
      return way.pass(chunk);
    },
  });
  const whole = await uploadBatch({url: proxy.url, bodies: [probe], options: {}, deadlineMs: 4_000});
  tally.add('whole', compare(whole, [probe], service.stored));
  for (let byte = 0; byte < length; byte += 1) {
    const how = byte % 2 === 0 ? 'end' : 'reset';
    proxy.nextFault = () => ({down: after(byte, link => link.cut(how))});
    const bodies = [uniqueBytes(3_000)];
    const outcomes = await uploadBatch({url: proxy.url, bodies, options: {}, deadlineMs: 4_000});
    await proxy.drained();
    const comparison = compare(outcomes, bodies, service.stored);
    if (comparison.uploaded > 0) comparison.broken.push('called uploaded');
    tally.add(`after ${byte} of ${length} bytes, ${how}`, comparison);
  }
  await proxy.close();
  await service.close();
  return tally.findings(`${length} bytes`);
});

experiment('keep-alive closed as it is used again: never sent twice, never lost', async ({scale, random}) => {
  const tally = new Tally();
  await concurrently(Array(scale === 'long' ? 250 : 15).keys(), 2, async () => {
    const service = await KeepingServer.start();
    const proxy = await FaultProxy.start(service.url, random);
    proxy.nextFault = () => ({down: closeAfterAnswer(random(), random() < 0.5 ? 'end' : 'reset')});
    // One after the other, so that each of the last four finds the connection of the one before about to close.
    const bodies = Array.from({length: 5}, () => uniqueBytes(3_000));
    const outcomes = await uploadBatch({
      url: proxy.url,
      bodies,
      options: {concurrency: 1},
      deadlineMs: 6_000,
    });
    await proxy.drained();
    tally.add('5 files on one connection', compare(outcomes, bodies, await service.close()));
    await proxy.close();
  });
  return tally.findings('4 uses again each');
});

experiment('random cuts: no wrong verdict', async ({scale, random}) => {
  const tally = new Tally();
  const trials = scale === 'long' ? 10_000 : 500;
  const seeds = Array.from({length: trials / perServer}, () => random() * 2 ** 31);
  await concurrently(seeds, 4, async seed => cutRandomly(seededRandom(seed), tally));
  return tally.findings('one file each');
});

async function cutRandomly(random: () => number, tally: Tally): Promise<void> {
  const service = await KeepingServer.start();
  const proxy = await FaultProxy.start(service.url, random);
  for (let trial = 0; trial < perServer; trial += 1) {
    const size = Math.floor(
      ([3_000, 60_000, 250_000, 700_000][Math.floor(random() * 4)] as number) * (0.5 + random()),
    );
    const direction = random() < 0.75 ? 'up' : 'down';
    const byte = direction === 'up' ? inRequest({random, bodyBytes: size}) : Math.floor(random() * 300);
    const how = random() < 0.5 ? 'end' : 'reset';
    let connections = 0;
    const cuts = random() < 0.5 ? 1 : 3;
    const retries = Math.floor(random() * 3);
    proxy.nextFault = () => (connections++ < cuts ? {[direction]: after(byte, link => link.cut(how))} : {});
    const bodies = [uniqueBytes(size)];
    const options = {retries, timeoutMs: 2_000};
    const outcomes = await uploadBatch({url: proxy.url, bodies, options, deadlineMs: 6_000});
    await proxy.drained();
    await service.idle();
    const what = `${size} bytes, ${how} after byte ${byte} ${direction}, ${retries} retries`;
    tally.add(what, compare(outcomes, bodies, service.stored.splice(0)));
  }
  await proxy.close();
  await service.close();
}
