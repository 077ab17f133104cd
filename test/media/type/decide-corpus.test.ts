import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {MediaError} from '../../../src/errors.ts';
import type {Hint} from '../../../src/hint.ts';
import {decideContentType, type TypeRule} from '../../../src/media/type/decide.ts';

interface Entry {
  file: string;
  trueType: string;
}

/** Real files of many makers, and files that were once mistaken, beside the repository where there are any: see their README.md. */
const corpora = ['media', 'found'].map(name => new URL(`../../../../shared/${name}/`, import.meta.url));

const fixtures = new URL('../../fixtures/', import.meta.url);

/** What their names say, where that is another spelling, or another member of the family, than what they are. */
const typesByName = new Map([
  ['heic-mif1.heic', 'image/heic'],
  ['heic-sequence-msf1.heic', 'image/heic'],
  ['heif-sample.heif', 'image/heif'],
  ['wmv-basic.wmv', 'video/x-ms-wmv'],
]);

async function decide(name: string, rule: TypeRule, folder: URL): Promise<{type: string; warning?: Hint}> {
  const bytes = readFileSync(new URL(name, folder));
  const read = async (position: number, length: number) => bytes.subarray(position, position + length);
  try {
    const {contentType, ...rest} = await decideContentType(name, {size: bytes.length, read}, rule);
    return {type: contentType, ...rest};
  } catch (error) {
    if (error instanceof MediaError) return {type: error.code};
    throw error;
  }
}

describe('a file of ours that passes strictly passes by name and by content too, without a warning', () => {
  const files = readdirSync(fixtures).filter(name => !/^(\.ts|make\.sh|README\.md)$/.test(name));

  test.each(files)('%s', async name => {
    const strict = await decide(name, 'strict', fixtures);
    const isRefused = strict.type === 'not_media' || strict.type === 'type_mismatch';
    const byName = await decide(name, 'extension', fixtures);
    if (!isRefused) expect(byName).toEqual(strict);
    if (strict.type === 'not_media') expect(byName.type).toBe('not_media');
    expect((await decide(name, 'content', fixtures)).type === 'not_media').toBe(strict.type === 'not_media');
  });
});

for (const corpus of corpora.filter(folder => existsSync(new URL('index.jsonl', folder)))) {
  const lines = readFileSync(new URL('index.jsonl', corpus), 'utf8').trim().split('\n');
  const entries = lines.map(line => JSON.parse(line) as Entry);

  describe('a real file', () => {
    test.each(entries.filter(entry => /^(image|video)\//.test(entry.trueType)))(
      '$file is $trueType',
      async ({file, trueType}) => {
        expect(await decide(file, 'content', corpus)).toEqual({type: trueType});
        const byName = typesByName.get(file) ?? trueType;
        expect(await decide(file, 'extension', corpus)).toEqual({type: byName});
        expect(await decide(file, 'strict', corpus)).toEqual({type: byName});
      },
    );

    test.each(entries.filter(entry => !/^(image|video)\//.test(entry.trueType)))(
      '$file is refused: $trueType',
      async ({file}) => {
        for (const rule of ['content', 'extension', 'strict'] as const)
          expect(await decide(file, rule, corpus)).toEqual({type: 'not_media'});
      },
    );
  });
}
