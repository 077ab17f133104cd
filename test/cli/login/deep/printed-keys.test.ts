import {describe, it} from 'vitest';
import {expectNoKey} from '../logging-in.ts';

describe('the key in what is printed', () => {
  it.each([
    ['a stored key that it does not know', 'stored', 'unknown'],
    ['MEDIA_API_KEY that the service knows', 'given', 'known'],
    ['MEDIA_API_KEY that it does not know', 'given', 'unknown'],
  ] as const)('%s: nowhere, also with --verbose and in every failure', (_name, place, standing) =>
    expectNoKey(place, standing),
  );
});
