import {testManifestStories} from './numbered-manifest-stories.ts';

testManifestStories(1, 25, ['lost with its machine']);
