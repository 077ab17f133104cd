import {existsSync} from 'node:fs';
import {copyFile, readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {fixture, temporaryDirectory} from '../../../support/media.ts';
import {exiftool, needExiftool, noExiftool} from '../exiftool.ts';
import {handmade} from '../handmade.ts';
import {judge} from '../judge.ts';
import {makeFiles} from '../makers.ts';
import {stripped} from '../tagged.ts';

test('files in the manner of 12 makers: exiftool finds no location, and all other tags', async context => {
  needExiftool(context);
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

/** The tags of exiftool's group of locations that it writes into some kinds of metadata. */
async function writableLocations(...kinds: readonly string[]): Promise<string[]> {
  const listed = await exiftool('-listx', '-s', ...kinds.map(kind => `-${kind}:all`));
  return listed.split('<table ').flatMap(table => {
    const [, kind = '', ofTable] = /g0='(\w+)'.*g2='(\w+)'/.exec(table) ?? [];
    const [, group = kind] = /g1='([^']+)'/.exec(table) ?? [];
    if (!kinds.some(one => one === kind || one === group)) return [];
    const tags = [...table.matchAll(/<tag id='[^']*' name='([^']+)'.* writable='true'(?: g2='(\w+)')?/g)];
    return tags.filter(([, , own = ofTable]) => own === 'Location').map(([, name]) => `${group}:${name}`);
  });
}

test.skipIf(noExiftool !== undefined).each([
  ['photo.jpg', ['XMP', 'IPTC'], 140, '1'],
  ['photo.heic', ['XMP'], 130, '1'],
  ['clip.mov', ['Keys', 'UserData', 'ItemList'], 9, '1 2 3'],
])(
  '%s with each tag of %j that exiftool has in its group of locations: none stays',
  async (file, kinds, least, value) => {
    const tags = await writableLocations(...kinds);
    expect(tags.length).toBeGreaterThan(least);
    const path = join(await temporaryDirectory(), file);
    await copyFile(fixture(file), path);
    await exiftool('-n', '-m', '-overwrite_original', ...tags.map(tag => `-${tag}=${value}`), path);
    const before = await readFile(path);
    const after = await stripped(before);
    if (typeof after === 'string') expect.fail(after);
    const {located, broken} = await judge([{name: file, before, after}]);
    expect(broken).toEqual([]);
    expect(located).toBe(1);
  },
);

/** Files of which a place was once sent, beside the repository where there are any. */
const found = new URL('../../../../../shared/found/', import.meta.url);

test.skipIf(noExiftool !== undefined || !existsSync(found))(
  'files of which a place was once sent: none stays, or they are refused',
  async () => {
    const refused = [];
    const pairs = [];
    for (const name of (await readdir(found)).filter(one => !/\.(?:md|jsonl)$/.test(one))) {
      const before = await readFile(new URL(name, found));
      const after = await stripped(before);
      if (typeof after === 'string') refused.push(`${name}: ${after}`);
      else pairs.push({name, before, after});
    }
    expect((await judge(pairs)).broken).toEqual([]);
    expect(refused.filter(line => !line.endsWith(': the positions of a dashcam'))).toEqual([]);
  },
);
