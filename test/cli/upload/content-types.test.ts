import {copyFile, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {formatNames} from '../../../src/cli/output/results/formats.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {fixture} from '../../support/media.ts';
import {optionOf} from '../../support/output-formats.ts';
import {slowTest} from '../../support/patience.ts';
import {groupSandbox, type Rule, rules, sum, uploadBatch} from './type-batch.ts';

/** What becomes of a file: sent under a type, perhaps with a warning, or refused. */
type Fate = string | {sent: string; warning: RegExp} | {refused: 'not_media' | 'type_mismatch'; says: RegExp};

const notMedia = (says: RegExp): Fate => ({refused: 'not_media', says});
const mismatch = (says: RegExp): Fate => ({refused: 'type_mismatch', says});

const cases: {file: string; name?: string; fates: Record<Rule, Fate>}[] = [
  {file: 'photo.png', fates: {extension: 'image/png', content: 'image/png', strict: 'image/png'}},
  {
    file: 'photo.jpg',
    name: 'PHOTO.JPEG',
    fates: {extension: 'image/jpeg', content: 'image/jpeg', strict: 'image/jpeg'},
  },
  {file: 'photo.svg', fates: {extension: 'image/svg+xml', content: 'image/svg+xml', strict: 'image/svg+xml'}},
  {file: 'photo.heic', fates: {extension: 'image/heic', content: 'image/heic', strict: 'image/heic'}},
  {file: 'clip.mp4', fates: {extension: 'video/mp4', content: 'video/mp4', strict: 'video/mp4'}},
  {
    file: 'clip.mkv',
    fates: {extension: 'video/x-matroska', content: 'video/x-matroska', strict: 'video/x-matroska'},
  },
  {
    file: 'clip.avi',
    fates: {extension: 'video/x-msvideo', content: 'video/x-msvideo', strict: 'video/x-msvideo'},
  },
  {file: '.ts/clip.ts', fates: {extension: 'video/mp2t', content: 'video/mp2t', strict: 'video/mp2t'}},
  {
    file: 'photo.png',
    name: 'photo',
    fates: {extension: 'image/png', content: 'image/png', strict: mismatch(/the name has no extension/)},
  },
  {
    file: 'photo.png',
    name: 'photo.backup',
    fates: {
      extension: 'image/png',
      content: 'image/png',
      strict: mismatch(/the extension \.backup is unknown/),
    },
  },
  {
    file: 'photo.png',
    name: 'photo.txt',
    fates: {
      extension: 'image/png',
      content: 'image/png',
      strict: mismatch(/\.txt is for other files, and the bytes say image\/png/),
    },
  },
  {
    file: 'png-named.jpg',
    fates: {
      extension: {
        sent: 'image/jpeg',
        warning: /\.jpg says image\/jpeg, but the bytes say image\/png: .*--types content/,
      },
      content: 'image/png',
      strict: mismatch(/\.jpg says image\/jpeg, and the bytes say image\/png/),
    },
  },
  {
    file: 'unrecognised.png',
    fates: {extension: 'image/png', content: 'image/png', strict: 'image/png'},
  },
  {file: 'truncated.png', fates: {extension: 'image/png', content: 'image/png', strict: 'image/png'}},
  {file: 'truncated.mp4', fates: {extension: 'video/mp4', content: 'video/mp4', strict: 'video/mp4'}},
  {
    file: '.ts/source.ts',
    fates: {
      extension: notMedia(/\.ts says video\/mp2t/),
      content: notMedia(/\.ts says video\/mp2t/),
      strict: notMedia(/\.ts says video\/mp2t/),
    },
  },
  {
    file: '.ts/qt-translation.ts',
    fates: {
      extension: notMedia(/\.ts says video\/mp2t/),
      content: notMedia(/\.ts/),
      strict: notMedia(/\.ts/),
    },
  },
  {
    file: 'lfs-pointer.png',
    fates: {extension: notMedia(/Git LFS/), content: notMedia(/Git LFS/), strict: notMedia(/Git LFS/)},
  },
  {
    file: 'page-named.png',
    fates: {
      extension: notMedia(/an HTML page/),
      content: notMedia(/an HTML page/),
      strict: notMedia(/an HTML page/),
    },
  },
  {
    file: 'document-named.jpg',
    fates: {
      extension: notMedia(/a PDF document/),
      content: notMedia(/a PDF document/),
      strict: notMedia(/a PDF document/),
    },
  },
  {
    file: 'audio-only.mp4',
    fates: {extension: notMedia(/audio/), content: notMedia(/audio/), strict: notMedia(/audio/)},
  },
  {
    file: 'audio-only.mkv',
    fates: {extension: notMedia(/audio/), content: notMedia(/audio/), strict: notMedia(/audio/)},
  },
];

describe.each(rules)('--types %s', rule => {
  let group: Awaited<ReturnType<typeof groupSandbox>>;
  let batch: Awaited<ReturnType<typeof uploadBatch>>;
  let warnings = '';
  const inputOf = ({file, name}: (typeof cases)[number]) => name ?? fixture(file);

  beforeAll(async () => {
    group = await groupSandbox();
    for (const {file, name} of cases)
      if (name !== undefined) await copyFile(fixture(file), join(group.box.directory, name));
    const inputs = cases.map(inputOf);
    batch = await uploadBatch(group, inputs, rule);
    warnings = (await group.box.run(['upload', '--dry-run', '--verbose', '--types', rule, ...inputs])).stderr;
  }, slowTest.timeout);
  afterAll(() => group.close());

  it.each(cases.map(each => ({...each, shown: each.name ?? each.file})))(
    '$shown ($file)',
    async each => {
      const {line, stored} = batch.of(inputOf(each));
      const fate = each.fates[rule];
      const told = warnings.split('\n').filter(text => text.startsWith(`warning: ${inputOf(each)}: `));
      if (typeof fate === 'object' && 'refused' in fate) {
        expect(line).toMatchObject({
          status: 'failed',
          attempts: 0,
          error: {code: fate.refused, message: expect.stringMatching(fate.says)},
        });
        expect(warnings).toContain(`media: ${line.error.message}\n`);
        return;
      }
      expect(stored).toEqual({
        contentType: typeof fate === 'string' ? fate : fate.sent,
        sum: sum(await readFile(fixture(each.file))),
      });
      expect(line.contentType).toBe(stored?.contentType);
      expect(told).toEqual(typeof fate === 'string' ? [] : [expect.stringMatching(fate.warning)]);
    },
    slowTest.timeout,
  );
});

describe('one file alone', () => {
  it.each([
    ['.ts/source.ts', []],
    ['lfs-pointer.png', []],
    ['page-named.png', []],
    ['audio-only.mp4', []],
    ['png-named.jpg', ['--types', 'strict']],
  ])('%s %j: refused with exit 1 before any request', async (file, options) => {
    const {service, sandbox} = await connectedSandbox();
    const {stdout, stderr, exitCode} = await sandbox.run(['upload', fixture(file), ...options]);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toMatch(/^media: .*\n {2}.+\n$/);
    expect(await service.records()).toEqual([]);
  });
});

describe('the warning that a file is sent as another type than its bytes have', () => {
  const message = expect.stringMatching(
    /^The extension \.jpg says image\/jpeg, but the bytes say image\/png: .*--types content/,
  );

  async function upload(options: string[]) {
    const {sandbox} = await connectedSandbox();
    await copyFile(fixture('png-named.jpg'), join(sandbox.directory, 'b.jpg'));
    const result = await sandbox.run(['upload', 'b.jpg', ...options]);
    expect(result.exitCode).toBe(0);
    return result;
  }

  it.each(formatNames)('%s: a line on standard error', async format => {
    const {stdout, stderr} = await upload(optionOf(format));
    expect(stderr).toMatch(/^warning: b\.jpg: The extension \.jpg says image\/jpeg, .*\n$/);
    expect(stdout.includes('The extension')).toBe(format === 'ndjson');
  });

  it.each([[[]], [['--dry-run']], [['--quiet']]])('--ndjson %j: in the line of the file', async options => {
    const {stdout} = await upload(['--ndjson', ...options]);
    expect(JSON.parse(stdout)).toMatchObject({file: 'b.jpg', contentType: 'image/jpeg', warning: message});
  });

  it.each([[[]], [['--json']], [['--ndjson']]])('--quiet %j: none on standard error', async options => {
    expect((await upload(['--quiet', ...options])).stderr).toBe('');
  });

  it('of 9 files for one reason and 1 for another: two groups, once, after the records', async () => {
    const {sandbox} = await connectedSandbox();
    for (let index = 0; index < 9; index += 1)
      await copyFile(fixture('png-named.jpg'), join(sandbox.directory, `b${index}.jpg`));
    await copyFile(fixture('photo.jpg'), join(sandbox.directory, 'c.png'));
    const {stderr, exitCode} = await sandbox.run(['upload', '-r', '.', '-c', '1', '--template', '{id}\\n']);
    expect(exitCode).toBe(0);
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^warning: 9 files: The extension \.jpg says image\/jpeg, .*--types content/),
      '  b0.jpg, b1.jpg, b2.jpg and 6 more',
      expect.stringMatching(/^warning: c\.png: The extension \.png says image\/png, /),
      '10 uploaded, 0 skipped, 0 failed, 0 unknown',
      '',
    ]);
  });

  it('none for a file that is what its name says: no field either', async () => {
    const {sandbox} = await connectedSandbox();
    const {stdout, stderr} = await sandbox.run(['upload', '--ndjson', fixture('photo.png')]);
    expect(JSON.parse(stdout)).not.toHaveProperty('warning');
    expect(stderr).toBe('');
  });
});
