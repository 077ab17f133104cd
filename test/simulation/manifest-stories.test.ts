import {testManifestStories} from './numbered-manifest-stories.ts';

testManifestStories(1, 80, ['in another commit', 'lost with its machine', 'replaced']);
