import {environment, upload} from '../commands.js';
import {photosIn, placeOf} from '../files.js';
import {inRounds, timed} from '../measure.js';

/** How many photos, and their bytes: thumbnails, pictures of a web page, and photos as phones take them. */
const sizes = [
  [2_000, 25_000],
  [2_000, 114_000],
  [200, 3_000_000],
];

/** What it costs to send photos without their location, in processor time; a file of up to 64 kB is sent with its head. */
export async function geotags(directory, sink) {
  const env = environment(sink.url, directory);
  const results = [];
  for (const [count, size] of sizes) {
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
    const what = `${count.toLocaleString('en')} photos of ${size / 1_000} kB without their location, processor time`;
    results.push({what, unit: 'ms', ours: strip, against: 'as they are', peer: keep, atMost: 1.1});
  }
  return results;
}
