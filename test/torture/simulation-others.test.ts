import {tellStories} from './stories.ts';

tellStories('third');
tellStories('fourth');
