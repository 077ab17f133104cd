import {testStories} from '../numbered-stories.ts';

testStories(301, 1100);
