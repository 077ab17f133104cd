import {existsSync} from 'node:fs';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {smallFiles} from '../../../support/formats.ts';
import {slowTest} from '../../../support/patience.ts';
import {groupSandbox, rules, sum, uploadBatch} from '../type-batch.ts';

describe('files of rare formats in one batch', () => {
  let group: Awaited<ReturnType<typeof groupSandbox>>;
  let batch: Awaited<ReturnType<typeof uploadBatch>>;

  beforeAll(async () => {
    group = await groupSandbox();
    for (const {name, bytes} of smallFiles) await writeFile(join(group.box.directory, name), bytes);
    batch = await uploadBatch(
      group,
      smallFiles.map(({name}) => name),
      'strict',
    );
  }, slowTest.timeout);
  afterAll(() => group.close());

  it.each(smallFiles)('$name: stored as $type', ({name, bytes, type}) => {
    const {line, stored} = batch.of(name);
    expect(line.status).toBe('uploaded');
    expect(stored).toEqual({contentType: type, sum: sum(bytes)});
  });
});

interface MediaFile {
  file: string;
  sha256: string;
  bytes: number;
  trueType: string;
}

const corpus = fileURLToPath(new URL('../../../../../shared/media/', import.meta.url));
const mediaFiles: MediaFile[] = existsSync(join(corpus, 'index.jsonl'))
  ? (await readFile(join(corpus, 'index.jsonl'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
  : [];

const isMedia = (type: string) => /^(image|video)\//.test(type);

describe.runIf(mediaFiles.length > 0).each(rules)(
  'real files from many sources in one batch, --types %s',
  rule => {
    let group: Awaited<ReturnType<typeof groupSandbox>>;
    let batch: Awaited<ReturnType<typeof uploadBatch>>;
    const inputOf = ({file}: MediaFile) => join(corpus, file);

    beforeAll(async () => {
      group = await groupSandbox();
      batch = await uploadBatch(group, mediaFiles.map(inputOf), rule);
    }, slowTest.timeout);
    afterAll(() => group.close());

    it('what is stored is what the files hold', () => {
      for (const each of mediaFiles) {
        const {line, stored} = batch.of(inputOf(each));
        if (line.status !== 'uploaded') continue;
        expect([each.file, stored?.sum, stored?.contentType]).toEqual([
          each.file,
          each.sha256,
          line.contentType,
        ]);
      }
    });

    it('each goes where the rule sends it', () => {
      const found = mediaFiles.map(each => {
        const {status, contentType, error} = batch.of(inputOf(each)).line;
        return {file: each.file, type: status === 'uploaded' ? contentType : error.code};
      });
      const expected = mediaFiles.map(({file, trueType}) => {
        if (!isMedia(trueType)) return {file, type: 'not_media'};
        if (rule === 'content') return {file, type: trueType};
        const sent = expect.stringMatching(/^(image|video)\//);
        return {
          file,
          type: rule === 'extension' ? sent : expect.stringMatching(/^(image\/|video\/|type_mismatch$)/),
        };
      });
      expect(found).toEqual(expected);
    });
  },
);
