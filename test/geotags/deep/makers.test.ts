import {expect, test} from 'vitest';
import {needPrograms} from '../../support/installed.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {handmade} from '../handmade.ts';
import {judge} from '../judge.ts';
import {makeFiles} from '../makers.ts';
import {stripped} from '../tagged.ts';

test('files in the manner of 12 makers: exiftool finds no location, and all other tags', async context => {
  needPrograms(context, ['exiftool']);
  const made = [...(await makeFiles(await temporaryDirectory(), 1)), ...(await handmade())];
  const pairs = [];
  for (const {name, bytes} of made) {
    const after = await stripped(bytes);
    if (typeof after === 'string') expect.fail(`${name}: ${after}`);
    pairs.push({name, before: bytes, after});
  }
  const {located, broken} = await judge(pairs);
  expect(broken).toEqual([]);
  expect(located).toBe(made.length);
});
