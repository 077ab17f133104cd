import {environment, upload} from '../commands.js';
import {photosIn, placeOf} from '../files.js';
import {inRounds, timed} from '../measure.js';

/** What it costs to send photos without their location, in processor time; a file of up to 64 kB is sent with its head. */
export async function geotags(directory, sink) {
  const env = environment(sink.url, directory);
  const results = [];
  for (const size of [25_000, 114_000]) {
    const count = 2_000;
    const photos = photosIn(placeOf((count * size) / 6_000, directory), count, size);
    const run = mode => {
      const {user, system} = timed(upload('-r', photos, '-c', '16', '--ndjson', '--geotags', mode), {env});
      return user + system;
    };
    let isEven = false;
    const {strip, keep} = await inRounds(10, () => {
      isEven = !isEven;
      const [first, second] = isEven ? ['keep', 'strip'] : ['strip', 'keep'];
      return {[first]: run(first), [second]: run(second)};
    });
    const what = `2,000 photos of ${size / 1_000} kB without their location, processor time`;
    results.push({what, unit: 'ms', ours: strip, against: 'as they are', peer: keep, atMost: 1.1});
  }
  return results;
}
