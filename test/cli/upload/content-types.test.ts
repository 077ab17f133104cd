import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {existsSync, readFileSync} from 'node:fs';
import {copyFile, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {formatNames} from '../../../src/cli/output/results/formats.ts';
import {connectedSandbox} from '../../support/embedded.ts';
import {audiobook, latin1, smallFiles} from '../../support/formats.ts';
import {urlOf} from '../../support/loopback.ts';
import {fixture, Sandbox} from '../../support/media.ts';
import {optionOf} from '../../support/output-formats.ts';
import {slowTest} from '../../support/patience.ts';
import {readingRequests} from '../../support/read-requests.ts';

const rules = ['extension', 'content', 'strict'] as const;
type Rule = (typeof rules)[number];

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

function sum(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A sandbox for a whole group of tests, and a service that notes under which type which bytes came. */
async function groupSandbox() {
  const directory = await mkdtemp(join(tmpdir(), 'media-types-'));
  const stored = new Map<string, {contentType: string | undefined; sum: string}>();
  const server = createServer(
    readingRequests(async (request, response) => {
      const hash = createHash('sha256');
      for await (const bytes of request) hash.update(bytes as Buffer);
      const id = `m_${stored.size + 1}`;
      stored.set(id, {contentType: request.headers['content-type'], sum: hash.digest('hex')});
      response.end(JSON.stringify({id}));
    }),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const box = new Sandbox(directory, {MEDIA_BASE_URL: urlOf(server), MEDIA_API_KEY: 'mk_1'});
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await rm(directory, {recursive: true, force: true});
  };
  return {stored, box, close};
}

/** Uploads the inputs in one run: what became of each, and under which type which bytes were stored. */
async function uploadBatch(
  {stored, box}: Awaited<ReturnType<typeof groupSandbox>>,
  inputs: string[],
  rule: Rule,
) {
  const options = rule === 'extension' ? [] : ['--types', rule];
  const {stdout} = await box.run(['upload', '--ndjson', ...options, ...inputs], slowTest);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  const uploaded = lines.filter(({status}) => status === 'uploaded');
  expect(stored.size).toBe(uploaded.length);
  return {
    of: (input: string) => {
      const line = lines.find(({file}) => file === input);
      return {line, stored: stored.get(line?.record?.id)};
    },
  };
}

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

describe('files that are no media under the names of media', () => {
  const text = latin1('The photo is on the other disk.\n');
  const appleDouble = Buffer.concat([latin1('\0\x05\x16\x07\0\x02\0\0Mac OS X'), Buffer.alloc(4000)]);

  const tooFew = [
    ['bad.png', 'x\n', 'image/png'],
    ['begin.png', '\x89PNG\r\n\x1a\n', 'image/png'],
    ['begin.jpg', '\xff\xd8\xff', 'image/jpeg'],
    ['begin.gif', 'GIF89a\x01\0\x01\0', 'image/gif'],
    ['bad.mp4', 'no', 'video/mp4'],
    ['bad.svg', '<svg>', 'image/svg+xml'],
    ['bad.psd', '8BPS', 'image/vnd.adobe.photoshop'],
    ['bad.wbmp', 'oops', 'image/vnd.wap.wbmp'],
  ] as const;

  it.each<[name: string, bytes: Buffer, what: string]>([
    ...tooFew.map(([name, bytes, type]): [string, Buffer, string] => [
      name,
      latin1(bytes),
      `too few for a file of type ${type}`,
    ]),
    ['photo.jpg', text, 'plain text'],
    ['._photo.jpg', appleDouble, 'an AppleDouble file'],
    ['song.mp4', readFileSync(fixture('song-named.mp4')), 'MP3 audio'],
    [
      'concert.mpg',
      readFileSync(fixture('audio-only.mpg')),
      'an MPEG program stream that contains only audio',
    ],
    ['book.m4b', audiobook('M4B ', [2, 3]), 'an MP4 file that contains only audio'],
    ['podcast.m4a', audiobook('M4A ', [3], 1), 'an MP4 file that contains only audio'],
    ['podcast.mp4', audiobook('mp42', [2, 3]), 'an MP4 file that contains only audio'],
    [
      'Thumbs.db',
      Buffer.concat([latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'), text]),
      'a compound file such as an old Office document',
    ],
  ])('%s: refused before any request, exit 1', async (name, bytes, what) => {
    const {service, sandbox} = await connectedSandbox();
    await writeFile(join(sandbox.directory, name), bytes);
    for (const rule of rules) {
      const {stdout, stderr, exitCode} = await sandbox.run(['upload', name, '--types', rule]);
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
      const sentence = `^media: .* is not recognised as an image or a video: .*the bytes are ${what.replace('+', '\\+')}\\.\\n`;
      expect(stderr).toMatch(new RegExp(`${sentence} {2}.+\\n$`));
    }
    expect(await service.records()).toEqual([]);
  });
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

  it.each(['unrecognised.png', 'png-named.jpg', 'truncated.mp4'])(
    '%s: sent all the same, exit 0',
    async file => {
      const {service, sandbox} = await connectedSandbox();
      const {stderr, exitCode} = await sandbox.run(['upload', fixture(file)]);
      const [stored] = await service.records();
      expect(await readFile(stored?.path ?? '')).toEqual(await readFile(fixture(file)));
      if (file === 'png-named.jpg') expect(stderr).toMatch(/^warning: .*--types content/);
      else expect(stderr).toBe('');
      expect(exitCode).toBe(0);
    },
  );
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

interface MediaFile {
  file: string;
  sha256: string;
  bytes: number;
  trueType: string;
}

const corpus = fileURLToPath(new URL('../../../../shared/media/', import.meta.url));
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
