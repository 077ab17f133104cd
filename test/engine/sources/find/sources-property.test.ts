import {Buffer} from 'node:buffer';
import fc from 'fast-check';
import picomatch from 'picomatch';
import {describe, expect} from 'vitest';
import {readNames} from '../../../../src/engine/sources/find/name-lists.ts';
import {inShard, parseShard, shardOf} from '../../../../src/engine/sources/find/shard.ts';
import {normalizeName} from '../../../../src/engine/sources/find/walk/names.ts';
import {
  compileFilters,
  compileGlob,
  compilePattern,
} from '../../../../src/engine/sources/find/walk/patterns.ts';
import type {Source} from '../../../../src/engine/sources/open/source.ts';
import {MediaError} from '../../../../src/errors.ts';
import {fromText, isText, toBytes, toText} from '../../../../src/lib/files/typed-path.ts';
import {decideContentType, parseContentType, type TypeRule} from '../../../../src/media/type/decide.ts';
import {anyText, holdsFor} from '../../../support/property.ts';

const rules = fc.constantFrom<TypeRule>('extension', 'content', 'strict');
const extensions = fc.constantFrom('', '.png', '.JPG', '.mp4', '.ts', '.svg', '.txt', '.heic', '.mkv', '.x');
const starts = fc.constantFrom(
  '',
  '\x89PNG\r\n\x1a\n',
  'GIF89a',
  '\xff\xd8\xff\xe0',
  '<svg xmlns="http://www.w3.org/2000/svg">',
  '<!doctype html>',
  '%PDF-1.7',
  'PK\x03\x04',
  '\x1aE\xdf\xa3',
  '\0\0\0\x20ftypisom',
  'RIFF\0\0\0\0WEBPVP8 ',
  'BM',
  'II*\0',
);

function inMemory(bytes: Uint8Array) {
  return {
    size: bytes.length,
    read: async (position: number, length: number) => bytes.subarray(position, position + length),
  };
}

/** What rejects with words is an answer too; anything else is a bug. */
async function orRefusal<Result>(action: () => Result | Promise<Result>): Promise<Result | MediaError> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof MediaError) return error;
    throw error;
  }
}

describe('the content type', () => {
  const contents = fc
    .tuple(starts, fc.uint8Array({maxLength: 200}))
    .map(([start, rest]) => Buffer.concat([Buffer.from(start, 'latin1'), rest]));
  holdsFor(
    'any name and bytes: an image, a video, or a refusal in words',
    [anyText, extensions, contents, rules],
    async (name, extension, bytes, rule) => {
      const decision = await orRefusal(() => decideContentType(`${name}${extension}`, inMemory(bytes), rule));
      if (decision instanceof MediaError) expect(decision.code).toMatch(/^(not_media|type_mismatch)$/);
      else expect(decision.contentType).toMatch(/^(image|video)\/[a-z0-9][a-z0-9.+-]*$/);
    },
  );

  holdsFor(
    'strict: what it lets through, every rule sends under the same type',
    [extensions, contents],
    async (extension, bytes) => {
      const strict = await orRefusal(() => decideContentType(`a${extension}`, inMemory(bytes), 'strict'));
      if (strict instanceof MediaError) return;
      expect(await decideContentType(`a${extension}`, inMemory(bytes), 'extension')).toEqual(strict);
    },
  );

  const fields = fc.oneof(
    anyText,
    anyText.map(text => `image/png;${text}`),
    anyText.map(text => `video/${text}`),
  );
  holdsFor('--content-type: fit for a header, and stable', [fields], async text => {
    const type = await orRefusal(() => parseContentType(text));
    if (type instanceof MediaError) return expect(type.code).toBe('usage');
    expect(type).toMatch(/^(image|video)\/[!-~][\t -~]*$/);
    expect(type).not.toMatch(/[\r\n\0]/);
    expect(parseContentType(type)).toBe(type);
  });
});

const paths = fc
  .array(fc.string({unit: fc.constantFrom(...'ab.é- *[]{}()!\\'), minLength: 1, maxLength: 5}), {
    minLength: 1,
    maxLength: 4,
  })
  .map(parts => parts.join('/'));

describe('names', () => {
  holdsFor('any bytes: none is lost; any text comes back', [fc.uint8Array(), anyText], (bytes, text) => {
    const name = Buffer.from(bytes).toString('latin1');
    expect(toBytes(name)).toEqual(Buffer.from(bytes));
    expect(toText(fromText(text))).toBe(text);
    expect(isText(fromText(text))).toBe(true);
  });

  holdsFor('normalised: stays so, and has no empty parts and no dots', [paths], path => {
    const plain = normalizeName(fromText(path));
    expect(normalizeName(plain)).toBe(plain);
    if (plain !== '.') expect(plain.split('/').every(part => part !== '.' && part !== '')).toBe(true);
  });

  const names = fc.array(
    fc.string({unit: fc.constantFrom(...'ab é\t"\\\r-'), minLength: 1}).filter(name => !name.endsWith('\r')),
  );
  holdsFor(
    'a list of names: comes back however it is cut into pieces',
    [names, fc.array(fc.nat({max: 20})), fc.boolean()],
    async (list, cuts, isZero) => {
      const separator = isZero ? '\0' : '\n';
      const bytes = Buffer.from(list.map(name => `${name}${separator}`).join(''));
      async function* pieces() {
        let from = 0;
        for (const cut of cuts) {
          yield bytes.subarray(from, from + cut);
          from += cut;
        }
        yield bytes.subarray(from);
      }
      const read: string[] = [];
      for await (const name of readNames(pieces(), 'list')) read.push(toText(name));
      expect(read).toEqual(list);
    },
  );
});

describe('patterns', () => {
  holdsFor('any text: a pattern, or a refusal in words', [anyText, paths], async (text, path) => {
    const matches = await orRefusal(() => compilePattern(text, {dot: true}));
    if (matches instanceof MediaError) expect(matches.code).toBe('usage');
    else expect(typeof matches(path)).toBe('boolean');
  });

  const plainPaths = fc
    .array(fc.string({unit: fc.constantFrom(...'ab é-_1'), minLength: 1, maxLength: 5}), {
      minLength: 1,
      maxLength: 4,
    })
    .map(parts => parts.join('/'));
  holdsFor(
    'a path with every character escaped: matches itself and no other',
    [plainPaths, plainPaths],
    async (path, other) => {
      const matches = compilePattern(path.replace(/[^/]/g, '\\$&'), {dot: true});
      expect(matches(path)).toBe(true);
      expect(matches(other)).toBe(path === other);
    },
  );

  const pieces = fc.constantFrom('*', '*', '*', 'a', 'b', '-', '.', '?', '/', '**', '{a,b}', '[ab]');
  holdsFor(
    'a pattern with many stars: matches what picomatch matches',
    [
      fc.array(pieces, {minLength: 1, maxLength: 9}).map(parts => parts.join('')),
      fc.array(fc.string({unit: fc.constantFrom(...'aab--./'), minLength: 1, maxLength: 9}), {minLength: 20}),
    ],
    async (parts, typed) => {
      const names = typed.map(normalizeName).filter(name => !/^\/|^\.$|\.\./.test(name));
      const pattern = normalizeName(parts).replace(/^\//, '');
      // Unlike in a shell, its ** may be part of a name, and a/** matches a.
      fc.pre(pattern !== '' && !/\*\*[*{.]/.test(pattern));
      const matches = compilePattern(pattern, {dot: true});
      const judged = pattern.replace(/\/\*\*$/, '/**/*');
      // Its short cuts for common patterns differ: *.* does not match "a." there.
      const options = {dot: true, nonegate: true, windows: false, fastpaths: false};
      const {source} = picomatch.makeRe(judged, options);
      const regExp = new RegExp(source, 's');
      expect(names.filter(matches)).toEqual(names.filter(name => name === pattern || regExp.test(name)));
    },
  );

  holdsFor('exclusion of **/*: takes nothing; of nothing: takes everything', [plainPaths], async path => {
    const name = fromText(path);
    expect(compileFilters(['**/*']).takes(name)).toBe(false);
    expect(compileFilters([]).takes(name)).toBe(true);
  });

  holdsFor(
    'a glob: enters every directory above what it takes',
    [plainPaths, fc.constantFrom('**/*', '*/*', '**/a*', '*', '{a,b}*/**')],
    async (path, pattern) => {
      const glob = compileGlob(pattern, false);
      if (!glob.takes(fromText(path))) return;
      const parts = path.split('/');
      for (let end = 1; end < parts.length; end += 1)
        expect(glob.enters(fromText(parts.slice(0, end).join('/')))).toBe(true);
    },
  );
});

describe('shards', () => {
  const counts = fc.integer({min: 1, max: 50});
  holdsFor(
    'any path: part of exactly one of any number of shards',
    [fc.uint8Array({minLength: 1}), counts],
    (bytes, count) => {
      const relativePath = Buffer.from(bytes);
      const source: Source = {
        name: 'x',
        relativePath,
        open: () => Promise.reject(new Error('never')),
      };
      const own = Array.from({length: count}, (_, index) => ({index: index + 1, count})).filter(shard =>
        inShard(source, shard),
      );
      expect(own.map(({index}) => index)).toEqual([shardOf(relativePath, count)]);
    },
  );

  holdsFor(
    'K/N: read where 1 <= K <= N, refused elsewhere',
    [fc.integer({min: -2, max: 60}), fc.integer({min: -2, max: 60}), anyText],
    async (index, count, text) => {
      const shard = await orRefusal(() => parseShard(`${index}/${count}`));
      if (index >= 1 && index <= count) expect(shard).toEqual({index, count});
      else expect(shard).toBeInstanceOf(MediaError);
      const any = await orRefusal(() => parseShard(text));
      if (!(any instanceof MediaError)) expect(any.index >= 1 && any.index <= any.count).toBe(true);
    },
  );
});
