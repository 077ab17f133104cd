import {testStories} from '../numbered-stories.ts';

// In a file of their own, so that two processors share them.
testStories(1101, 2000);
