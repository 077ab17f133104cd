import {testManifestStories} from '../numbered-manifest-stories.ts';

testManifestStories(81, 400, ['in another commit', 'lost with its machine', 'replaced']);
