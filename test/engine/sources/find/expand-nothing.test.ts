import {chmod, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import type {InputRequest} from '../../../../src/engine/sources/find/expand.ts';
import {expand, list} from '../../../support/expanding.ts';
import {inWords} from '../../../support/hints.ts';
import {asOrdinaryUser, collect, makeTree} from '../../../support/trees.ts';

const nothing = (message: string | RegExp) =>
  expect.objectContaining({
    code: 'nothing_matched',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });

describe('nothing to upload', () => {
  it.each<[string, Partial<InputRequest>, string]>([
    ['no input', {inputs: []}, 'There is nothing to upload: no input was given.'],
    ['a pattern', {inputs: ['*.gif']}, 'The pattern *.gif matches no file.'],
    [
      'a pattern below a directory that is not there',
      {inputs: ['nowhere/*.gif']},
      'The pattern nowhere/*.gif matches no file.',
    ],
    ['a pattern below a file', {inputs: ['a.png/*']}, 'The pattern a.png/* matches no file.'],
    ['an empty directory', {inputs: ['empty'], recursive: true}, 'The directory empty contains no file.'],
    [
      'a directory of empty ones',
      {inputs: ['hollow'], recursive: true},
      'The directory hollow contains no file.',
    ],
    [
      'a pattern, all of it excluded',
      {inputs: ['*.png'], exclude: ['a*']},
      'The pattern *.png matches no file that is not excluded.',
    ],
    [
      'a directory, all of it excluded',
      {inputs: ['p'], recursive: true, exclude: ['*.png']},
      'The directory p contains no file that is not excluded.',
    ],
  ])('%s', async (_, request, message) => {
    const root = await makeTree('a.png', 'p/b.png', 'empty/', 'hollow/deep/');
    await expect(list(root, {inputs: [], ...request})).rejects.toEqual(nothing(message));
  });

  it.each<[string, Partial<InputRequest>]>([
    ['a pattern', {inputs: ['a.png', '*.gif']}],
    ['a directory', {inputs: ['p', 'empty'], recursive: true}],
  ])('in %s that comes last fails before the first source', async (_, request) => {
    const root = await makeTree('a.png', 'p/b.png', 'empty/');
    await expect(expand(root, {inputs: [], ...request}).next()).rejects.toEqual(nothing(/./));
  });

  it.each<[string, Partial<InputRequest>, string | undefined]>([
    ['a pattern', {inputs: ['*.gif']}, 'A pattern matches directories only with -r.'],
    ['a pattern with -r', {inputs: ['*.gif'], recursive: true}, undefined],
    ['an empty directory', {inputs: ['empty'], recursive: true}, undefined],
    [
      'links alone',
      {inputs: ['links'], recursive: true},
      'Links to directories are not followed: name one to upload what is in it.',
    ],
    [
      'a URL with a ?',
      {inputs: ['https://a.example/?b']},
      "Download it first: curl -LO 'https://a.example/?b'",
    ],
  ])('in %s: what to do', async (_, request, hint) => {
    const root = await makeTree('p/b.png', 'empty/', 'links/');
    await symlink('../p', join(root, 'links/p'));
    const error = await list(root, {inputs: [], ...request}).catch(error => inWords(error));
    expect(error).toMatchObject({message: expect.any(String), hint});
  });

  it('is no failure of a list', async () => {
    const root = await makeTree('a.png', 'none');
    await writeFile(join(root, 'none'), '\n\n');
    expect(await list(root, {inputs: [], filesFrom: ['-', 'none']})).toEqual([]);
    expect(await list(root, {inputs: ['a.png'], filesFrom: ['none']})).toEqual(['a.png']);
  });

  it('is another thing than nothing new', async () => {
    const root = await makeTree('a.png', 'p/b.png');
    expect(await list(root, {inputs: ['a.png', '*.png', 'p', 'p'], recursive: true})).toEqual([
      'a.png',
      'p/b.png as b.png',
    ]);
  });

  it('is not said of a directory that cannot be read', async () => {
    const root = await makeTree('closed/');
    await chmod(root, 0o755);
    await chmod(join(root, 'closed'), 0);
    for (const inputs of [['closed'], ['closed/*.png']]) {
      const sources = await asOrdinaryUser(() => collect(expand(root, {inputs, recursive: true})));
      expect(sources.map(({name}) => name)).toEqual(['closed']);
    }
  });
});

describe('usage errors', () => {
  it.each<[string, Partial<InputRequest>, RegExp]>([
    ['- twice', {inputs: ['-', '-']}, /given twice/],
    ['- as input and list', {inputs: ['-'], filesFrom: ['-']}, /given twice/],
    ['- as two lists', {filesFrom: ['-', '-']}, /given twice/],
    [
      'a list that is missing',
      {inputs: ['a.png'], filesFrom: ['missing']},
      /The list missing could not be read: it does not exist/,
    ],
    ['a list that is a directory', {inputs: ['a.png'], filesFrom: ['p']}, /The list p is a directory/],
    ['a list that is none', {inputs: ['a.png'], filesFrom: ['zeros']}, /zeros is not a list of names/],
    ['a pattern that is none', {inputs: ['a.png'], exclude: ['']}, /is not a pattern/],
    ['a name without -', {inputs: ['a.png'], name: 'b.png'}, /A name is for standard input/],
  ])('%s', async (_, request, message) => {
    const root = await makeTree('a.png', 'p/b.png');
    await writeFile(join(root, 'zeros'), Buffer.from('\ufeffa.png\n', 'utf16le'));
    await expect(expand(root, {inputs: [], ...request}).next()).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(message),
    });
  });
});
