import {rmSync} from 'node:fs';
import {join} from 'node:path';
import {environment, media, upload} from '../commands.js';
import {newPicture, picturesIn, placeOf} from '../files.js';
import {inRounds, timed} from '../measure.js';
import {within} from '../within.js';
import {writeJournal} from '../write-journal.js';

/** What it takes to go on with a large journal: one more file, and a proof of all. */
export async function journals(directory, sink) {
  const path = name => join(directory, `${name}.journal`);
  for (const [name, count] of Object.entries({small: 10_000, tenth: 100_000, large: 1_000_000}))
    writeJournal(path(name), sink.url, count);
  const env = environment(sink.url, directory);
  const picture = join(directory, 'one more.gif');
  const one = name => {
    newPicture(picture);
    return timed(upload(picture, '--json', '--journal', path(name)), {env});
  };
  const {wall, peak, more} = await inRounds(5, () => {
    rmSync(path('new'), {force: true});
    const [without, small, large] = [one('new'), one('small'), one('large')];
    return {...large, more: small.wall - without.wall};
  });
  const checked = timed(media('journal', 'check', path('large'), '--', picture), {env});
  const merged = name => {
    rmSync(path('all'), {force: true});
    return timed(media('journal', 'merge', '-o', path('all'), path(name)), {env});
  };
  const [tenth, whole] = [merged('tenth'), merged('large')];
  return [
    within('a file more with 1,000,000 in its journal', 'ms', wall, 15_000),
    within('the same, peak memory', 'MiB', peak, 400),
    within('a file more with 10,000 in its journal: on top of one with none', 'ms', more, 150),
    within('journal check of 1,000,000, peak memory', 'MiB', [checked.peak], 400),
    within('journal merge of 1,000,000, peak memory', 'MiB', [whole.peak], 400),
    {
      what: 'journal merge of 1,000,000',
      unit: 'µs an entry',
      ours: [whole.wall / 1000],
      against: 'of 100,000',
      peer: [tenth.wall / 100],
      atMost: 1.1,
    },
    {
      what: 'files that the journal has the records of',
      unit: 'a second',
      ...(await resumed(directory, path('resumed'), env)),
      against: '8,000 a second',
      atLeast: 1,
    },
  ];
}

/** How many files a second a run goes by that its journal has the records of. */
async function resumed(directory, journal, env) {
  const count = 20_000;
  const pictures = picturesIn(join(placeOf(count, directory), 'tree20'), count, 43);
  const all = upload('-r', pictures, '-c', '16', '--ndjson');
  rmSync(journal, {force: true});
  // The first round uploads them.
  const {ours} = await inRounds(3, () => ({
    ours: count / (timed([...all, '--journal', journal], {env}).wall / 1000),
  }));
  return {ours, ratio: ours.map(rate => rate / 8000)};
}
