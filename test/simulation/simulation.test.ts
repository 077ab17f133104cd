import {describe, expect, it} from 'vitest';
import {testStories} from './numbered-stories.ts';
import {tellStory} from './story.ts';

describe('whole runs on simulated disks, networks and clocks', () => {
  it('a writer wakes after another has taken its journal over: its failure does not settle what the other has sent', async () => {
    expect((await tellStory(352564180)).broken).toEqual([]);
  });

  testStories(1, 300);
});
