import {testManifestStories} from '../numbered-manifest-stories.ts';

testManifestStories(26, 400, ['in another commit', 'lost with its machine', 'replaced']);
