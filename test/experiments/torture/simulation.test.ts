import {tellStories} from './stories.ts';

tellStories('first');
tellStories('second');
tellStories('third');
tellStories('fourth');
