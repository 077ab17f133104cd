import {describe, expect, it} from 'vitest';
import {profilesOf} from '../completed.ts';

describe('media completion --profiles', () => {
  it.each([
    ['no settings file', undefined],
    ['one of another shape', '{"profiles":null}'],
    ['one that is no object', '3'],
  ])('%s: nothing, exit 0', async (_name, config) => {
    expect(await profilesOf(config)).toBe('');
  });
});
