import {tellStories} from './stories.ts';

tellStories('fifth');
tellStories('sixth');
tellStories('seventh');
tellStories('eighth');
