import {MediaClient, sourceOf, uploadAll} from '../../../src/index.ts';
import {experiment} from '../../support/experiment/experiment.ts';
import {KeepingServer} from '../../support/experiment/keeping-server.ts';
import {sha256Of, uniqueBytes} from '../../support/experiment/verdicts.ts';

experiment(
  'uploadAll aborted or left anywhere: a result for each source that was taken, nothing sent after',
  async ({scale, random}) => {
    const below = (limit: number) => Math.floor(random() * limit);
    const server = await KeepingServer.start();
    const broken: string[] = [];
    const tried = scale === 'long' ? 400 : 20;
    let results = 0;
    for (let trial = 0; trial < tried; trial += 1) {
      const client = new MediaClient({baseUrl: server.url, apiKey: 'key-of-the-test'});
      const files = Array.from({length: 1 + below(60)}, () => uniqueBytes(500 + below(100_000)));
      const concurrency = [1, 2, 8, 'auto' as const][below(4)] ?? 1;
      const end = below(files.length + 1);
      const isLeft = random() < 0.5;
      const caller = new AbortController();
      let taken = 0;
      let isClosed = false;
      function* sources() {
        try {
          for (const [index, bytes] of files.entries()) {
            taken += 1;
            yield sourceOf(`${index}.png`, bytes);
          }
        } finally {
          isClosed = true;
        }
      }
      const statuses = new Map<number, string>();
      const iterate = async () => {
        for await (const {position, status} of uploadAll(sources(), {
          client,
          concurrency,
          signal: caller.signal,
        })) {
          statuses.set(position, status);
          if (statuses.size < end) continue;
          if (isLeft) break;
          caller.abort('enough');
        }
        return 'ended';
      };
      const outcome = await iterate().catch(error => error);
      const stored = files.map(bytes => server.countOf(sha256Of(bytes)));
      results += statuses.size;
      const wrong = [
        ...(outcome === (isLeft ? 'ended' : 'enough') ? [] : [`ended with ${outcome}`]),
        ...(isLeft || statuses.size === taken ? [] : [`${taken} taken, ${statuses.size} results`]),
        ...(isClosed ? [] : ['not closed']),
        ...[...statuses].flatMap(([position, status]) =>
          (status === 'uploaded') === (stored[position] === 1)
            ? []
            : [`${position}: ${status}, stored ${stored[position]}`],
        ),
        ...stored
          .slice(taken)
          .flatMap((count, index) => (count === 0 ? [] : [`${taken + index}: sent, not taken`])),
      ];
      const before = server.stored.length;
      await client.close();
      if (server.stored.length !== before) wrong.push('sent after the end');
      broken.push(
        ...wrong.map(line => `${concurrency}, ${isLeft ? 'left' : 'aborted'} after ${end}: ${line}`),
      );
    }
    await server.close();
    return {tried, held: tried - new Set(broken).size, broken, note: `${results} results`};
  },
);
