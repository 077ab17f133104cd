import {expect, test} from 'vitest';
import {slowTest} from '../../support/patience.ts';
import {leaksOf} from './leaks.ts';

/** What V8 and Node make once is less than this for each of so many; a leak is one object or more. */
const mostObjects = 0.8;

test.each([
  [
    '1,000 files in one call of the library, and by media upload',
    new URL('subjects/files.js', import.meta.url),
    1_000,
    {uploaded: 1_101, skipped: 20, 'media upload: 0': 1, 'stream: 0': 20},
  ],
  [
    '200 calls of the library, ended in every way',
    new URL('subjects/calls.js', import.meta.url),
    200,
    {
      ...{uploaded: 120, skipped: 62, checked: 26, left: 13, rejected: 13, outcome_unknown: 13},
      ...{file_missing: 13, not_a_file: 13, empty_file: 26},
      ...{'rejected: enough': 26, 'rejected: These inputs end early.': 13, 'rejected: usage': 13},
    },
  ],
  [
    '100 batches of one media watch',
    new URL('subjects/watch.js', import.meta.url),
    100,
    {batches: 105, 'status SIGTERM': 1},
  ],
  [
    '300 times a journal that is refused',
    new URL('subjects/journals.js', import.meta.url),
    300,
    {
      ...{uploaded: 1, checked: 14, file_missing: 14},
      ...{journal_unusable: 112, journal_of_other_service: 28, journal_in_use: 14},
      ...{'upload: 1': 70, 'list: 1': 70, 'merge: 1': 70, 'merge again: 0': 14, 'merge into: 1': 14},
    },
  ],
  [
    '1,000 pages, files and refusals of the embedded service',
    new URL('subjects/service.js', import.meta.url),
    1_000,
    {200: 506, 206: 63, 401: 63, 403: 126, 404: 126, 405: 63, 406: 63, 415: 63, 416: 63},
  ],
])('%s: the process holds what it held before', slowTest, async (_what, program, things, results) => {
  const {objectsForEach, ...found} = await leaksOf(program, things);
  expect(found).toEqual({more: {}, results});
  expect(objectsForEach).toBeLessThan(mostObjects);
});
