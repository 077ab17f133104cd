import {linkSync, mkdirSync, writeFileSync} from 'node:fs';
import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {expect, it} from 'vitest';
import {expandInputs} from '../../../../../../src/engine/sources/find/expand.ts';
import {systemFiles} from '../../../../../../src/lib/files/file-system.ts';
import {slowTest} from '../../../../../support/patience.ts';
import {makeTree, stdinOf} from '../../../../../support/trees.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const mebibyte = 2 ** 20;

function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Mostly hard links, which take a thirtieth of the time of files of their own on a busy disk. */
function fill(directory: string, count: number): void {
  mkdirSync(directory, {recursive: true});
  let original = '';
  for (let file = 0; file < count; file += 1) {
    const path = join(directory, `${number(file)}.png`);
    if (file % 1000 === 0) {
      writeFileSync(path, '');
      original = path;
    } else {
      linkSync(original, path);
    }
  }
}

function number(value: number): string {
  return String(value).padStart(6, '0');
}

function expand(cwd: string, inputs = ['.']) {
  return expandInputs(
    {inputs, recursive: true},
    {cwd, files: systemFiles, stdin: () => stdinOf(''), temporaryDirectory: cwd},
  );
}

it('20 directories of 1,000 files come one by one, in order, in little memory', slowTest, async () => {
  const root = await makeTree();
  for (let directory = 0; directory < 20; directory += 1) fill(join(root, number(directory)), 1000);
  const sources = expand(root);
  expect((await sources.next()).value?.relativePath).toBe('000000/000000.png');
  // Had it been read already, its files would still come.
  await rm(join(root, '000010'), {recursive: true});
  const before = usedHeap();
  let largest = before;
  let count = 1;
  let isOrdered = true;
  for await (const source of sources) {
    if (source.everyShard) {
      expect(source.name).toBe('000010');
      count += 1000;
      continue;
    }
    const expected = `${number(Math.floor(count / 1000))}/${number(count % 1000)}.png`;
    isOrdered &&= source.relativePath === expected && source.name === expected;
    if (count % 4_000 === 0) largest = Math.max(largest, usedHeap());
    count += 1;
  }
  expect(isOrdered).toBe(true);
  expect(count).toBe(20_000);
  expect((largest - before) / mebibyte).toBeLessThan(4);
});

it('one directory of 25,000 files comes in order, in little memory', slowTest, async () => {
  const root = await makeTree();
  fill(root, 25_000);
  const before = usedHeap();
  const sources = expand(root);
  expect((await sources.next()).value?.relativePath).toBe('000000.png');
  expect((usedHeap() - before) / mebibyte).toBeLessThan(8);
  let count = 1;
  let isOrdered = true;
  for await (const source of sources) {
    isOrdered &&= source.relativePath === `${number(count)}.png`;
    count += 1;
  }
  expect(isOrdered).toBe(true);
  expect(count).toBe(25_000);
});

it('two inputs of 10,000 files each cost what it takes to know them again', slowTest, async () => {
  const root = await makeTree();
  fill(join(root, 'a'), 10_000);
  fill(join(root, 'b'), 10_000);
  const before = usedHeap();
  let count = 0;
  let after = 0;
  for await (const _ of expand(root, ['a', 'b', '.'])) {
    count += 1;
    if (count === 20_000) after = usedHeap();
  }
  expect(count).toBe(20_000);
  expect((after - before) / mebibyte).toBeLessThan(12);
});
