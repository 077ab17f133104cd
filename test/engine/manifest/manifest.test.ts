import {existsSync} from 'node:fs';
import {
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {
  addUnknown,
  type Manifest,
  type ManifestEntry,
  parseManifest,
  renderManifest,
  sidesOf,
  type UnknownEntry,
} from '../../../src/engine/manifest/manifest-file.ts';
import {readManifest, writeManifest} from '../../../src/engine/manifest/manifest-store.ts';
import {mergeManifests} from '../../../src/engine/manifest/merge-manifests.ts';
import {lookUpInManifest, openManifest, readMemory} from '../../../src/engine/manifest/run-manifest.ts';
import {MediaError} from '../../../src/errors.ts';
import type {Host} from '../../../src/host.ts';
import {systemFiles} from '../../../src/lib/files/file-system.ts';
import {Stop} from '../../../src/lib/stop.ts';
import {
  afterSilence,
  begin,
  changedHandle,
  hostIn,
  inputOf,
  type JournalHandle,
  largeSourceOf,
  lookup,
  openJournal,
  readJournal,
  sha256,
  upload,
  wrappedJournals,
} from '../../support/journal.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {anyText, holdsFor} from '../../support/property.ts';
import {received} from '../../support/received.ts';
import {checkJsonLine} from '../../support/schemas.ts';
import {collect} from '../../support/trees.ts';

const service = 'https://api.example.com';

function entry(content: string, changes: Partial<ManifestEntry> = {}): ManifestEntry {
  const url = `https://cdn.example.com/${content}.png`;
  return {
    ...{url, sha256: sha256(content), size: content.length, contentType: 'image/png'},
    received: received(`{"id":"${content}"}`),
    ...changes,
  };
}

function unknownEntry(content: string): UnknownEntry {
  return {sha256: sha256(content), size: content.length, contentType: 'image/png'};
}

function manifestOf(
  files: Record<string, string | ManifestEntry>,
  unknown: Record<string, string> = {},
): Manifest {
  return {
    service,
    files: new Map(
      Object.entries(files).map(([key, one]) => [key, typeof one === 'string' ? entry(one) : one]),
    ),
    unknown: new Map(Object.entries(unknown).map(([key, content]) => [key, unknownEntry(content)])),
    text: '',
  };
}

/** A manifest as it is read after it was written. */
function reread(manifest: Manifest): Manifest {
  return parseManifest(renderManifest(manifest), 'media.json');
}

function failureOf(text: string): {message: string; hint: unknown; code: string} {
  try {
    parseManifest(text, 'media.json');
  } catch (error) {
    if (error instanceof MediaError) return {code: error.code, message: error.message, hint: error.hint};
    throw error;
  }
  throw new Error('it was read');
}

describe('the file', () => {
  it('has one line for each entry, sorted, and ends with a line break', () => {
    const manifest = manifestOf({'b/logo.png': 'logo', 'a.png': 'a'}, {'clip.mp4': 'clip'});
    manifest.serviceId = 'store-1';
    expect(renderManifest(manifest)).toBe(`{
  "version": 1,
  "service": "https://api.example.com",
  "serviceId": "store-1",
  "files": {
    "a.png": {"url": "https://cdn.example.com/a.png", "sha256": "${sha256('a')}", "size": 1, "contentType": "image/png", "record": {"id":"a"}},
    "b/logo.png": {"url": "https://cdn.example.com/logo.png", "sha256": "${sha256('logo')}", "size": 4, "contentType": "image/png", "record": {"id":"logo"}}
  },
  "unknown": {
    "clip.mp4": {"sha256": "${sha256('clip')}", "size": 4, "contentType": "image/png"}
  }
}
`);
    expect(renderManifest(manifestOf({}))).toBe(
      `{\n  "version": 1,\n  "service": "${service}",\n  "files": {}\n}\n`,
    );
  });

  it('is sorted by code point, and `__proto__` and `10` are keys like any other', () => {
    const keys = ['\ue000.png', '\u{1f600}.png', '__proto__', '10', '9', 'constructor'];
    const manifest = {...manifestOf({}), files: new Map(keys.map(key => [key, entry(key)]))};
    const names = [...reread(manifest).files.keys()];
    expect(names).toEqual(['10', '9', '__proto__', 'constructor', '\ue000.png', '\u{1f600}.png']);
    expect(reread(manifest).files.get('__proto__')).toEqual(entry('__proto__'));
  });

  it('keeps every digit and the order of a record, and the fields that this version does not know', () => {
    const record = '{"z":1,"10":2,"id":12345678901234567890,"duration":1.50,"__proto__":{"e":1E2}}';
    const line = `"a.png": {"alt": {"en": 1.0}, "sha256": "${sha256('a')}", "record": ${record}, "contentType": "image/png", "size": 1}`;
    const manifest = parseManifest(
      `{"$schema": "./x.json", "version": 1, "service": "${service}", "files": {${line}}}`,
      'media.json',
    );
    const text = renderManifest(manifest);
    expect(text).toContain(
      `    "a.png": {"sha256": "${sha256('a')}", "size": 1, "contentType": "image/png", "record": ${record}, "alt": {"en":1.0}}\n`,
    );
    expect(text).toContain('  "$schema": "./x.json",\n');
    expect(renderManifest(parseManifest(text, 'media.json'))).toBe(text);
  });

  it('is read in any layout: with a byte order mark, CRLF, on one line, indented', () => {
    const text = renderManifest(manifestOf({'a.png': 'a', 'b.png': 'b'}, {'c.mp4': 'c'}));
    const value: unknown = JSON.parse(text);
    for (const other of [
      `\ufeff${text.replaceAll('\n', '\r\n')}`,
      JSON.stringify(value),
      JSON.stringify(value, null, '\t'),
    ])
      expect(renderManifest(parseManifest(other, 'media.json'))).toBe(text);
  });

  const entries = fc.record(
    {
      url: anyText,
      sha256: anyText.map(sha256),
      size: fc.nat(),
      contentType: anyText,
      transform: anyText,
      received: fc
        .dictionary(anyText, fc.jsonValue())
        .map(fields => received(JSON.stringify({...fields, id: 'm_1'}))),
    },
    {requiredKeys: ['sha256', 'size', 'contentType', 'received']},
  );
  holdsFor(
    'is read as it was written, and equal content has equal bytes',
    [fc.array(fc.tuple(anyText, entries)), fc.array(fc.tuple(anyText, anyText))],
    (files, unknown) => {
      const manifest: Manifest = {
        ...{service, files: new Map(files), text: ''},
        unknown: new Map(unknown.map(([key, content]) => [key, unknownEntry(content)])),
      };
      const text = renderManifest(manifest);
      const again = parseManifest(text, 'media.json');
      const ofName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
      expect([...again.files].sort(ofName)).toEqual([...manifest.files].sort(ofName));
      expect([...again.unknown].sort(ofName)).toEqual([...manifest.unknown].sort(ofName));
      expect(renderManifest(again)).toBe(text);
      const reversed = {...manifest, files: new Map([...manifest.files].reverse())};
      expect(renderManifest(reversed)).toBe(text);
      checkJsonLine('manifest', text);
    },
  );
});

describe('a file that cannot be used is refused with its line', () => {
  const lines = renderManifest(manifestOf({'a.png': 'a', 'b.png': 'b'})).split('\n');
  /** The manifest with line 6, which is that of b.png, changed. */
  const withLine = (change: (line: string) => string) =>
    lines.map((line, index) => (index === 5 ? change(line) : line)).join('\n');
  const sentence = (line: number, what: string) =>
    `The manifest media.json could not be used: line ${line} ${what}.`;

  it.each([
    ['empty', '', sentence(1, 'is not valid JSON')],
    ['a list', '[]', sentence(1, 'does not have "version": 1')],
    ['a newer version', '{\n "version": 2}', sentence(2, 'does not have "version": 1')],
    ['cut', lines.slice(0, 6).join('\n'), sentence(6, 'is not valid JSON')],
    ['without a comma', `{"version": 1\n"service": ""}`, sentence(2, 'is not valid JSON')],
    ['with one too many', `{"version": 1,\n}`, sentence(2, 'is not valid JSON')],
    ['text after it', `${lines.join('\n')}x`, sentence(9, 'is not valid JSON')],
    [
      'a raw tab in a text',
      withLine(line => line.replace('b.png', 'b\t.png')),
      sentence(6, 'is not valid JSON'),
    ],
    [
      'nested 600 deep',
      withLine(line => line.replace('"b"', `${'['.repeat(600)}${']'.repeat(600)}`)),
      sentence(6, 'is not valid JSON'),
    ],
    ['without a service', '{"version": 1,\n"files": {}}', sentence(1, 'has no valid "service"')],
    [
      'files that are a list',
      `{"version": 1, "service": "",\n"files": []}`,
      sentence(2, 'has no valid "files"'),
    ],
    [
      'a short hash',
      withLine(line => line.replace(/[0-9a-f]{64}/, 'abc')),
      sentence(6, 'has no valid "sha256"'),
    ],
    ['no hash', withLine(line => line.replace('"sha256"', '"sha"')), sentence(6, 'has no valid "sha256"')],
    [
      'a size in text',
      withLine(line => line.replace('"size": 1', '"size": "1"')),
      sentence(6, 'has no valid "size"'),
    ],
    ['no record', withLine(line => line.replace('"record"', '"r"')), sentence(6, 'has no valid "record"')],
    [
      'a record without an id',
      withLine(line => line.replace('"id"', '"i"')),
      sentence(6, 'has no valid "record"'),
    ],
    [
      'a field on a line of its own',
      withLine(line => line.replace('"size": 1', '\n"size": -1')),
      sentence(7, 'has no valid "size"'),
    ],
    ['an entry that is text', withLine(() => '"b.png": "b"'), sentence(6, 'has no valid "record"')],
    [
      'a key twice',
      withLine(line => line.replace('b.png', 'a.png')),
      sentence(6, 'has "a.png" again, with another value'),
    ],
  ])('%s', (_what, text, message) => {
    const failure = failureOf(text);
    expect(failure).toMatchObject({code: 'journal_unusable', message});
    expect(failure.hint).toContain('Nothing was changed or sent.');
  });

  it('a record is nested as deep as one may be that a service returns, and no deeper', () => {
    const nested = (arrays: number) =>
      withLine(line => line.replace('"b"}', `"b","d":${'['.repeat(arrays)}${']'.repeat(arrays)}}`));
    expect(renderManifest(parseManifest(nested(499), 'media.json'))).toBe(nested(499));
    expect(failureOf(nested(500)).message).toBe(sentence(6, 'is not valid JSON'));
  });

  it('a key twice with one value is read, as after a merge that keeps the lines of both', () => {
    const text = withLine(line => `${line},\n${line}`);
    expect(renderManifest(parseManifest(text, 'media.json'))).toBe(lines.join('\n'));
  });

  it('conflict markers of git: the command that joins both sides', () => {
    const text = withLine(line => `<<<<<<< HEAD\n${line}\n=======\n>>>>>>> other`);
    const {message, hint} = failureOf(text);
    expect(message).toBe(sentence(6, 'is a conflict marker of git'));
    expect(hint).toBe('Nothing was changed or sent. To join both sides: media journal merge media.json');
    expect(() => parseManifest(text, 'my media.json')).toThrow(
      expect.objectContaining({hint: expect.stringMatching(/ merge 'my media\.json'$/)}),
    );
  });
});

it.each([
  ['without the ancestor', []],
  ['with the ancestor', ['||||||| 1234567', 'c', 'd']],
])('the sides of a conflict, %s', (_what, ancestor) => {
  const text = ['a', '<<<<<<< HEAD', 'b', ...ancestor, '=======', 'e', '>>>>>>> one', 'f'];
  const sides = sidesOf(text.join('\n')).map(side => side.split('\n'));
  expect(sides.map(lines => lines.filter(line => line !== ''))).toEqual([
    ['a', 'b', 'f'],
    ['a', 'e', 'f'],
  ]);
  // A message names the line in the file.
  expect(sides.map(lines => lines.length)).toEqual([text.length, text.length]);
});

describe('two changes of one manifest', () => {
  const merge = async (base: Manifest | undefined, theirs: Manifest, ours: Manifest, disk = {}) => {
    const files = new Map<string, string>(Object.entries(disk));
    const hashOf = async (key: string) => {
      const content = files.get(key);
      return content === undefined ? undefined : sha256(content);
    };
    const manifest = await mergeManifests(base, theirs, ours, hashOf);
    const contents = [...manifest.files].map(([key, {received}]) => [key, received.record.id]);
    return {files: Object.fromEntries(contents), unknown: [...manifest.unknown.keys()]};
  };

  it('a key that one side has changed is as there, also where it was deleted', async () => {
    const base = manifestOf({same: '1', mine: '1', yours: '1', iDelete: '1', youDelete: '1'}, {settled: 'x'});
    const theirs = manifestOf(
      {same: '1', mine: '1', yours: '2', iDelete: '1', theirs: '3'},
      {settled: 'x', t: 'y'},
    );
    const ours = manifestOf({same: '1', mine: '2', yours: '1', youDelete: '1', ours: '4'}, {o: 'z'});
    // What the files are does not matter here.
    for (const disk of [{}, {mine: '1', yours: '1', youDelete: '1', iDelete: '1'}])
      expect(await merge(base, theirs, ours, disk)).toEqual({
        files: {same: '1', mine: '2', yours: '2', theirs: '3', ours: '4'},
        unknown: ['t', 'o'],
      });
  });

  it('where both have changed one, the entry with the hash of the file is kept', async () => {
    const base = manifestOf({a: '1', b: '1', c: '1', d: '1', e: '1'});
    const theirs = manifestOf({a: '2', b: '2', c: '2', d: '2'});
    const ours = manifestOf({a: '3', b: '3', c: '3', e: '3'});
    const disk = {a: '2', b: '3', c: 'other', d: '2', e: '3'};
    expect(await merge(base, theirs, ours, disk)).toEqual({
      files: {a: '2', b: '3', c: '3', d: '2', e: '3'},
      unknown: [],
    });
  });

  it('without a base, the keys of both stay, and the order of the sides is of no matter', async () => {
    const one = manifestOf({a: entry('1', {received: received('{"id":"x"}')}), b: '1'});
    const other = manifestOf({a: entry('1', {received: received('{"id":"y"}')}), c: '1'});
    const result = await merge(undefined, one, other);
    expect(result.files).toEqual({a: 'x', b: '1', c: '1'});
    expect(await merge(undefined, other, one)).toEqual(result);
  });

  it('what else one side alone knows stays: the ID of the service, and fields at the top', async () => {
    const base = {
      ...manifestOf({}),
      others: new Map([
        ['kept', '1'],
        ['gone', '1'],
      ]),
    };
    const rich = {
      ...manifestOf({}),
      serviceId: 'store-1',
      others: new Map([
        ['kept', '1'],
        ['new', '2'],
      ]),
    };
    for (const [theirs, ours] of [
      [rich, base],
      [base, rich],
    ] as const) {
      const {serviceId, others} = await mergeManifests(base, theirs, ours, async () => undefined);
      expect([serviceId, Object.fromEntries(others ?? [])]).toEqual(['store-1', {kept: '1', new: '2'}]);
    }
  });

  it('two unknown contents of one file both stay', async () => {
    const short = sha256('2').slice(0, 8);
    const merged = await merge(undefined, manifestOf({}, {a: '2'}), manifestOf({}, {a: '1'}));
    expect(merged.unknown).toEqual(['a', `a (${short})`]);
    const {unknown} = manifestOf({}, {a: '1'});
    addUnknown(unknown, 'a', unknownEntry('1'));
    expect([...unknown.keys()]).toEqual(['a']);
  });
});

describe('on disk', () => {
  const noFile = async () => undefined;
  const none = manifestOf({});
  /** The manifest in a directory, after a change to its entries. */
  const changed = async (directory: string, change: (files: Manifest['files']) => void) => {
    const before = (await readManifest('media.json', hostIn(directory))) ?? none;
    const files = new Map(before.files);
    change(files);
    return [before, {...before, files}] as const;
  };

  it('a new one is created, with the rights of any new file; an equal one is not touched', async () => {
    const directory = await temporaryDirectory();
    const host = hostIn(directory);
    expect(await readManifest('media.json', host)).toBeUndefined();
    await writeManifest('media.json', none, manifestOf({'a.png': 'a'}), host, noFile);
    const path = join(directory, 'media.json');
    const before = await stat(path, {bigint: true});
    expect(before.mode & 0o777n).toBe(BigInt(0o666 & ~process.umask()));
    await writeManifest('media.json', ...(await changed(directory, () => {})), host, noFile);
    expect((await stat(path, {bigint: true})).ino).toBe(before.ino);
  });

  it('keeps its mode, and a link leads to the same file', async () => {
    const directory = await temporaryDirectory();
    const host = hostIn(directory);
    await mkdir(join(directory, 'real'));
    await symlink('real/media.json', join(directory, 'media.json'));
    await writeManifest('media.json', none, manifestOf({'a.png': 'a'}), host, noFile);
    await chmod(join(directory, 'real/media.json'), 0o664);
    const manifests = await changed(directory, entries => entries.set('b.png', entry('b')));
    await writeManifest('media.json', ...manifests, host, noFile);
    expect(await readlink(join(directory, 'media.json'))).toBe('real/media.json');
    expect((await stat(join(directory, 'real/media.json'))).mode & 0o777).toBe(0o664);
    expect([...((await readManifest('real/media.json', host))?.files.keys() ?? [])]).toEqual([
      'a.png',
      'b.png',
    ]);
  });

  it('a change by another program is merged, also one just before the rename', async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'media.json');
    const theirs = [manifestOf({'a.png': 'a', 't1.png': '1'}), manifestOf({'t2.png': '2'})].map(
      renderManifest,
    );
    let reads = 0;
    const files = {
      ...systemFiles,
      readFile: async (...parameters: Parameters<typeof systemFiles.readFile>) => {
        // The second change comes between the first read and the rename.
        if (reads === 1) await writeFile(path, theirs[1] ?? '');
        reads += 1;
        return systemFiles.readFile(...parameters);
      },
    } as typeof systemFiles;
    await writeFile(path, renderManifest(manifestOf({'a.png': 'a'})));
    const manifests = await changed(directory, entries => entries.set('o.png', entry('o')));
    await writeFile(path, theirs[0] ?? '');
    await writeManifest('media.json', ...manifests, hostIn(directory, {files}), noFile);
    expect([...((await readManifest('media.json', hostIn(directory)))?.files.keys() ?? [])]).toEqual([
      'o.png',
      't2.png',
    ]);
  });

  it('of another owner, whom the system does not let this user keep: written', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'media.json'), renderManifest(manifestOf({'a.png': 'a'})));
    const {uid} = await stat(join(directory, 'media.json'));
    const files = {
      ...systemFiles,
      stat: async (path: string) => Object.assign(await systemFiles.stat(path), {uid: uid + 1}),
      open: async (...parameters: Parameters<typeof systemFiles.open>) =>
        Object.assign(await systemFiles.open(...parameters), {
          chown: () => Promise.reject(new Error('EPERM')),
        }),
    };
    const manifests = await changed(directory, entries => entries.set('b.png', entry('b')));
    await writeManifest('media.json', ...manifests, hostIn(directory, {files: files as never}), noFile);
    expect((await readManifest('media.json', hostIn(directory)))?.files.size).toBe(2);
  });

  it('one that somebody has removed since it was read is written again', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'media.json'), renderManifest(manifestOf({'a.png': 'a'})));
    const manifests = await changed(directory, entries => entries.set('b.png', entry('b')));
    await rm(join(directory, 'media.json'));
    await writeManifest('media.json', ...manifests, hostIn(directory), noFile);
    const {files} = (await readManifest('media.json', hostIn(directory))) ?? {};
    expect([...(files?.keys() ?? [])]).toEqual(['a.png', 'b.png']);
  });

  it.each([
    ['a directory', (path: string) => mkdir(path), 'it is not a regular file'],
    ['not UTF-8', (path: string) => writeFile(path, Buffer.from([0x7b, 0xff])), 'it is not text in UTF-8'],
  ])('%s is refused', async (_what, make, why) => {
    const directory = await temporaryDirectory();
    await make(join(directory, 'media.json'));
    await expect(readManifest('media.json', hostIn(directory))).rejects.toMatchObject({
      code: 'journal_failed',
      message: `The manifest media.json could not be read: ${why}.`,
    });
  });

  /** The entries of a.png and b.png that are to be removed: a.png is there. */
  const gone = async (changes: Partial<typeof systemFiles>, prepare = async (_directory: string) => {}) => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'media.json'), renderManifest(manifestOf({'a.png': 'a', 'b.png': 'b'})));
    await writeFile(join(directory, 'a.png'), 'a');
    await prepare(directory);
    const host = hostIn(directory, {files: {...systemFiles, ...changes} as typeof systemFiles});
    const known = await lookUpInManifest('media.json', host, {prunes: {inputs: ['.'], recursive: true}});
    known?.manifest?.allowPruning();
    return known?.manifest && collect(known.manifest.stale());
  };

  it('in a directory whose names nobody may read: only what is missing is gone', async () => {
    const readdir = (() => Promise.reject(new Error('not permitted'))) as never;
    expect(await gone({readdir})).toEqual(['b.png']);
  });

  it.each([
    ['ENOENT', ['b.png']],
    ['ENOTDIR', ['b.png']],
    ['EACCES', []],
    ['EIO', []],
  ])('a file that cannot be looked at (%s): %j is gone', async (code, keys) => {
    const lstat = (path: string) =>
      path.endsWith('b.png')
        ? Promise.reject(Object.assign(new Error(code), {code}))
        : systemFiles.lstat(path);
    expect(await gone({lstat: lstat as never})).toEqual(keys);
  });

  it('a link that leads nowhere is not gone', async () => {
    expect(await gone({}, directory => symlink('nowhere', join(directory, 'b.png')))).toEqual([]);
  });

  it.each<[inputs: string[], recursive: boolean, keys: string[]]>([
    [['a', 'b/'], true, ['a/1.png', 'a/d/2.png', 'b/3.png']],
    [['a/*.png', 'b/3.png'], false, ['a/1.png', 'b/3.png']],
    [['a/**/*.png'], false, ['a/1.png', 'a/d/2.png']],
    [['./a/../ab', '*.png'], true, ['ab/4.png']],
    [['a/d/2.png/', 'c'], true, ['a/d/2.png']],
  ])('of the inputs %j, recursive %s: %j are gone', async (inputs, recursive, keys) => {
    const directory = await temporaryDirectory();
    const all = ['a/1.png', 'a/d/2.png', 'ab/4.png', 'b/3.png'];
    for (const name of ['a/d', 'ab', 'b']) await mkdir(join(directory, name), {recursive: true});
    const manifest = manifestOf(Object.fromEntries(all.map(key => [key, 'x'])));
    await writeFile(join(directory, 'media.json'), renderManifest(manifest));
    const options = {prunes: {inputs, recursive}};
    const known = await lookUpInManifest('media.json', hostIn(directory), options);
    expect(known?.manifest && (await collect(known.manifest.stale()))).toEqual([]);
    known?.manifest?.allowPruning();
    expect(known?.manifest && (await collect(known.manifest.stale()))).toEqual(keys);
  });

  it.each([
    ['sparsecheckout=true', '.git', true],
    ['  SparseCheckout = true', '.git', true],
    ['sparseCheckout = true', 'that of a submodule', true],
    ['sparseCheckoutCone = true', '.git', false],
    ['sparseCheckout = false', 'that of a submodule', false],
  ])('nothing is gone from a sparse checkout: %s in %s, %s', async (setting, where, isSparse) => {
    const keys = gone({}, async directory => {
      const git = where === '.git' ? where : 'modules/git';
      await mkdir(join(directory, git), {recursive: true});
      if (where !== '.git') await writeFile(join(directory, '.git'), `gitdir: ./${git}\n`);
      await writeFile(join(directory, git, 'config'), `[core]\n${setting}\n`);
    });
    if (isSparse) await expect(keys).rejects.toMatchObject({code: 'usage'});
    else expect(await keys).toEqual(['b.png']);
  });

  it('nothing is gone from a sparse checkout that a link leads into', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'checkout/.git'), {recursive: true});
    await mkdir(join(directory, 'checkout/site'));
    await writeFile(join(directory, 'checkout/.git/config'), '[core]\nsparseCheckout = true\n');
    await symlink('checkout/site', join(directory, 'link'));
    const looking = lookUpInManifest('link/media.json', hostIn(directory), {prunes: {inputs: ['link']}});
    await expect(looking).rejects.toMatchObject({code: 'usage'});
  });

  it('one that is of another service now: both are named, and it stays as it is', async () => {
    const directory = await temporaryDirectory();
    const before = manifestOf({'a.png': 'a'});
    const other = renderManifest({...before, service: 'https://other.example.com'});
    await writeFile(join(directory, 'media.json'), other);
    await expect(
      writeManifest('media.json', before, manifestOf({b: 'b'}), hostIn(directory), noFile),
    ).rejects.toMatchObject({
      code: 'journal_of_other_service',
      message: `media.json, as it was read, belongs to ${service}, and media.json now to https://other.example.com.`,
    });
    expect(await readFile(join(directory, 'media.json'), 'utf8')).toBe(other);
  });

  it('a directory that is missing, and a file with several names: one sentence', async () => {
    const directory = await temporaryDirectory();
    const host = hostIn(directory);
    await expect(writeManifest('no/media.json', none, none, host, noFile)).rejects.toThrow(
      'The directory of the manifest no/media.json could not be opened: ENOENT.',
    );
    await writeManifest('media.json', none, none, host, noFile);
    await link(join(directory, 'media.json'), join(directory, 'copy.json'));
    await expect(writeManifest('media.json', none, manifestOf({a: 'a'}), host, noFile)).rejects.toThrow(
      'hard links',
    );
  });
});

describe('the key of a file', () => {
  const [composed, decomposed] = ['\u00e9.png', 'e\u0301.png'];
  /** The names on a disk with their devices and inodes; one that is not listed is missing. */
  type Names = Record<string, readonly [device: number, inode: number]>;

  it.each<[what: string, disk: Names, known: string[], files: string[], keys: string[], isNoted: boolean]>([
    ['is known in another case', {'A.png': [1, 7], 'a.png': [1, 7]}, ['A.png'], ['a.png'], ['A.png'], false],
    [
      'is known by both of its names',
      {'A.png': [1, 7], 'a.png': [1, 7]},
      ['A.png', 'a.png'],
      ['a.png', 'A.png'],
      ['a.png', 'A.png'],
      false,
    ],
    [
      'has the inode of another one on another disk',
      {'A.png': [2, 7], 'a.png': [1, 7]},
      ['A.png'],
      ['a.png'],
      ['a.png'],
      true,
    ],
    [
      'is new as another one is, in another case',
      {'A.png': [1, 8], 'a.png': [1, 7]},
      [],
      ['a.png', 'A.png'],
      ['a.png', 'A.png'],
      true,
    ],
    ['is in NFD', {[decomposed]: [1, 7]}, [], [decomposed], [composed], false],
    [
      'is in NFD beside another one in NFC',
      {[decomposed]: [1, 7], [composed]: [1, 8]},
      [],
      [decomposed, composed],
      [decomposed, composed],
      true,
    ],
  ])('that %s', async (_what, disk, known, names, keys, isNoted) => {
    const directory = await temporaryDirectory();
    const statOf = ([dev, ino]: Names[string] = [0, 0]) => ({dev: BigInt(dev), ino: BigInt(ino)});
    const stat = (path: string, ...options: []) => {
      if (!path.endsWith('.png')) return systemFiles.stat(path, ...options);
      const inode = disk[path.slice(directory.length + 1)];
      return inode === undefined ? Promise.reject(new Error('ENOENT')) : Promise.resolve(statOf(inode));
    };
    await writeFile(
      join(directory, 'media.json'),
      renderManifest(manifestOf(Object.fromEntries(known.map(key => [key, key])))),
    );
    const notes: string[] = [];
    const host = hostIn(directory, {files: {...systemFiles, stat} as never});
    const lookup = await lookUpInManifest('media.json', host, {note: text => notes.push(text)});
    const found: unknown[] = [];
    for (const name of names) {
      const opened = {path: join(directory, name), stat: statOf(disk[name])};
      found.push(await lookup?.manifest?.keyOf({name} as never, opened as never));
    }
    expect(found).toEqual(keys);
    const both = [...known, ...keys].slice(0, 2).join(' and ');
    expect(notes).toEqual(isNoted ? [`media.json has ${both}: only the spelling differs.`] : []);
  });

  it('that is a pipe, or has no path, is its name; - has none', async () => {
    const directory = await temporaryDirectory();
    const {manifest} = (await lookUpInManifest('media.json', hostIn(directory), {})) ?? {};
    const keyOf = async (name: string, path?: string) => manifest?.keyOf({name} as never, {path} as never);
    expect(await keyOf('in/pipe.png', join(directory, 'pipe.png'))).toBe('in/pipe.png');
    expect(await keyOf('picture.png')).toBe('picture.png');
    await expect(keyOf('-')).rejects.toMatchObject({code: 'usage'});
  });
});

describe('openManifest', () => {
  /** The text of the manifest, and what is beside it. */
  const left = async (directory: string) => {
    const {files, unknown} = (await readManifest('media.json', hostIn(directory))) ?? manifestOf({});
    const contents = [...files].map(([key, {sha256}]) => [key, sha256]);
    return {
      files: Object.fromEntries(contents),
      unknown: [...unknown.keys()],
      names: await readdir(directory),
    };
  };
  /** A directory with a manifest, and the journal of a run that was cut off after these uploads. */
  const prepared = async (
    manifest: Manifest,
    uploads: [path: string, content: string, end: 'commit' | 'done'][] = [],
  ) => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'media.json'), renderManifest(manifest));
    if (uploads.length === 0) return directory;
    const journal = await openJournal('media.json.journal', hostIn(directory), {scope: {service}});
    for (const [path, content, end] of uploads) await upload(journal, inputOf(path, content), end);
    await journal.close();
    return directory;
  };

  it('a file that has got the content of another one since the run that was cut off', async () => {
    const directory = await prepared(manifestOf({'b.png': 'known'}), [['a.png', 'older', 'done']]);
    const run = await openManifest('media.json', hostIn(directory), {service});
    expect(await lookup(run, inputOf('a.png', 'known'))).toMatchObject({status: 'done'});
    await run.close();
    expect(await left(directory)).toEqual({
      ...{files: {'a.png': sha256('known'), 'b.png': sha256('known')}, unknown: [], names: ['media.json']},
    });
  });

  it('a run that was killed before it removed its journal: the next one changes nothing else', async () => {
    const a = entry('a', {others: new Map([['alt', '"A"']])});
    const manifest = manifestOf({'a.png': a}, {'u.png': '1'});
    addUnknown(manifest.unknown, 'u.png', unknownEntry('2'));
    const directory = await prepared(manifest, [
      ['a.png', 'a', 'done'],
      ['u.png', '1', 'commit'],
      ['u.png', '2', 'commit'],
    ]);
    const run = await openManifest('media.json', hostIn(directory), {service});
    await run.close();
    expect(await readFile(join(directory, 'media.json'), 'utf8')).toBe(renderManifest(manifest));
    expect(await readdir(directory)).toEqual(['media.json']);
  });

  it('a large file, whose hash is known once it is sent, and a copy of it in the same run', async () => {
    const directory = await prepared(manifestOf({}));
    const run = await openManifest('media.json', hostIn(directory), {service});
    const input = inputOf('clip.mp4', 'large');
    const log = await begin(run, input, largeSourceOf(input));
    expect(log.sha256).toBeUndefined();
    await log.commit(sha256('large'));
    await log.recordStored('{"id":"med_1"}');
    log.end();
    expect(await lookup(run, inputOf('copy.mp4', 'large'))).toMatchObject({status: 'done'});
    await run.close();
    expect(await left(directory)).toEqual({
      ...{
        files: {'clip.mp4': sha256('large'), 'copy.mp4': sha256('large')},
        unknown: [],
        names: ['media.json'],
      },
    });
  });

  it('the service says its ID: added; it says another one: that file is not listed', async () => {
    const directory = await prepared(manifestOf({'known.png': 'x'}));
    const run = await openManifest('media.json', hostIn(directory), {service});
    for (const [name, id] of [
      ['a.png', 'store-1'],
      ['b.png', 'store-2'],
    ] as const) {
      const log = await begin(run, inputOf(name));
      await log.commit(sha256(inputOf(name).content));
      await log
        .recordStored('{"id":"med_1"}', id)
        .catch(({code}) => expect([name, code]).toEqual(['b.png', 'journal_of_other_service']));
      log.end();
    }
    await run.close();
    const {serviceId, files} = (await readManifest('media.json', hostIn(directory))) ?? {};
    expect([serviceId, [...(files?.keys() ?? [])]]).toEqual(['store-1', ['a.png', 'known.png']]);
  });

  it('a file that has got the content of another one since it was uploaded', async () => {
    const y = entry('y', {received: received('{"id":"y","fileUrl":"https://cdn.example.com/y.png"}')});
    const directory = await prepared(
      manifestOf({'a.png': entry('x', {others: new Map([['alt', '"A"']])}), 'b.png': y}),
    );
    const run = await openManifest('media.json', hostIn(directory), {service});
    await lookup(run, inputOf('a.png', 'y'));
    await run.close();
    expect(run.manifest?.change).toBe('0 added, 1 changed, 1 unchanged');
    const {files} = (await readManifest('media.json', hostIn(directory))) ?? {};
    expect(files?.get('a.png')).toEqual({...y, others: new Map([['alt', '"A"']])});
  });

  it('a file that was renamed since the run that was cut off, and is sent under the same idempotency key', async () => {
    const directory = await prepared(manifestOf({}), [['a.png', 'same', 'commit']]);
    const run = await openManifest('media.json', hostIn(directory), {service});
    await upload(run, inputOf('b.png', 'same'), 'done');
    await run.close();
    expect(await left(directory)).toMatchObject({files: {'b.png': sha256('same')}, unknown: []});
    expect((await left(directory)).files).not.toHaveProperty(['a.png']);
  });

  const keys = ['copy.png', 'old.png'];
  it.each([
    ['is not said', undefined, []],
    ['is the same', 'image/png', []],
    ['is another', 'image/webp', keys],
  ])('unknown content whose type %s is settled by an upload of it', async (_what, contentType, unknown) => {
    const {sha256: hash, size} = unknownEntry('x');
    const old = {sha256: hash, size, ...(contentType !== undefined && {contentType})};
    const manifest = {...manifestOf({}), unknown: new Map([...keys].map(key => [key, old]))};
    const directory = await prepared(manifest);
    const run = await openManifest('media.json', hostIn(directory), {service});
    await upload(run, inputOf('new.png', 'x'), 'done');
    await run.close();
    expect(await left(directory)).toMatchObject({files: {'new.png': sha256('x')}, unknown});
  });

  it('content that is stored, and unknown as well: what is skipped settles nothing', async () => {
    const directory = await prepared(manifestOf({'a.png': 'x'}, {'u.png': 'x'}));
    const run = await openManifest('media.json', hostIn(directory), {service});
    expect(await lookup(run, inputOf('b.png', 'x'), true)).toMatchObject({status: 'done'});
    await run.close();
    expect(await left(directory)).toMatchObject({files: {'b.png': sha256('x')}, unknown: ['u.png']});
  });

  it('a disk that is full: what is known is written, and the journal, which lacks a line, stays', async () => {
    const directory = await prepared(manifestOf({}));
    let isFull = false;
    const write: JournalHandle['write'] = () =>
      Promise.reject(Object.assign(new Error('full'), {code: 'ENOSPC'}));
    const files = wrappedJournals(handle =>
      changedHandle(handle, {
        write: (...parameters) => (isFull ? write : handle.write.bind(handle))(...parameters),
      }),
    );
    const run = await openManifest('media.json', hostIn(directory, {files}), {service});
    await upload(run, inputOf('a.png', 'a'), 'done');
    isFull = true;
    await expect(upload(run, inputOf('b.png', 'b'), 'done')).rejects.toMatchObject({cause: {code: 'ENOSPC'}});
    await run.close();
    expect(await left(directory)).toEqual({
      ...{files: {'a.png': sha256('a')}, unknown: [], names: ['media.json', 'media.json.journal']},
    });
  });

  it('a manifest that cannot be written: the journal stays, and the next run continues it', async () => {
    const directory = await prepared(manifestOf({}));
    await link(join(directory, 'media.json'), join(directory, 'copy.json'));
    const run = await openManifest('media.json', hostIn(directory), {service});
    await upload(run, inputOf('a.png', 'a'), 'done');
    await expect(run.close()).rejects.toMatchObject({code: 'journal_failed'});
    expect((await left(directory)).names).toEqual(['copy.json', 'media.json', 'media.json.journal']);
    await rm(join(directory, 'copy.json'));
    await (await openManifest('media.json', hostIn(directory), {service})).close();
    expect(await left(directory)).toEqual({
      ...{files: {'a.png': sha256('a')}, unknown: [], names: ['media.json']},
    });
  });

  it('the lock is held from before the manifest is read until it is written, and the journal is removed durably', async () => {
    const directory = await prepared(manifestOf({}));
    const events: string[] = [];
    const note = (path: unknown, what: string) => {
      const isLocked = existsSync(join(directory, 'media.json.journal.lock'));
      if (path === join(directory, 'media.json')) events.push(`${what}, ${isLocked ? 'locked' : 'free'}`);
      if (path === join(directory, 'media.json.journal') && what === 'rm') events.push('removed');
      if (path === directory && isLocked) events.push('directory');
    };
    const files = {
      ...systemFiles,
      readFile: (...all: Parameters<typeof systemFiles.readFile>) =>
        [note(all[0], 'read'), systemFiles.readFile(...all)][1],
      rename: (from: string, to: string) => [note(to, 'written'), systemFiles.rename(from, to)][1],
      rm: (path: string, options: object) => [note(path, 'rm'), systemFiles.rm(path, options)][1],
      open: (...all: Parameters<typeof systemFiles.open>) =>
        [note(all[0], 'open'), systemFiles.open(...all)][1],
    };
    const run = await openManifest('media.json', hostIn(directory, {files: files as never}), {service});
    await upload(run, inputOf('a.png', 'a'), 'done');
    await run.close();
    expect(events.filter(event => event.endsWith('free'))).toEqual([]);
    expect(events.at(0)).toBe('read, locked');
    expect(events.slice(-4)).toEqual(['written, locked', 'directory', 'removed', 'directory']);
    expect(events.filter(event => event === 'removed')).toHaveLength(1);
  });

  it('the journal is beside the file itself: a run by a link and one by its path exclude each other', async () => {
    const directory = await temporaryDirectory();
    for (const name of ['data', 'site']) await mkdir(join(directory, name));
    await symlink('../data/media.json', join(directory, 'site/media.json'));
    const run = await openManifest('site/media.json', hostIn(directory), {service});
    await upload(run, inputOf('a.png'), 'done');
    expect(await readdir(join(directory, 'data'))).toContain('media.json.journal');
    for (const path of ['site/media.json', 'data/media.json'])
      await expect(openManifest(path, hostIn(directory), {service})).rejects.toMatchObject({
        code: 'journal_in_use',
      });
    await run.close();
    expect(await readdir(join(directory, 'data'))).toEqual(['media.json']);
  });

  it('the journal names its service, so that it can be used without the manifest of another commit', async () => {
    const directory = await prepared(manifestOf({'a.png': 'a'}));
    const run = await openManifest('media.json', hostIn(directory), {service});
    await upload(run, inputOf('b.png'), 'done');
    expect((await readJournal('media.json.journal', hostIn(directory))).scope).toEqual({service});
    await run.close();
  });

  it('who may write the journal beside it does not matter, as for the manifest', async () => {
    const directory = await prepared(manifestOf({}), [['a.png', 'a', 'done']]);
    await chmod(join(directory, 'media.json.journal'), 0o666);
    expect((await readMemory('media.json', hostIn(directory))).index.size).toBe(1);
    expect((await lookUpInManifest('media.json', hostIn(directory), {}))?.reader.index.size).toBe(1);
    await (await openManifest('media.json', hostIn(directory), {service})).close();
    expect(await left(directory)).toMatchObject({files: {'a.png': sha256('a')}, names: ['media.json']});
  });

  it('a journal beside it that is damaged: the message names the line of that file', async () => {
    const directory = await prepared(manifestOf({'x.png': 'x', 'y.png': 'y'}), [['a.png', 'a', 'done']]);
    const path = join(directory, 'media.json.journal');
    await writeFile(
      path,
      (await readFile(path, 'utf8')).replace('\n', '\nno line\n{"event":"close","by":"x"}\n'),
    );
    await expect(openManifest('media.json', hostIn(directory), {service})).rejects.toThrow(
      'The journal media.json.journal is damaged: line 2 is not a journal line.',
    );
  });

  it('a run that waits for another machine says so, and ends when it is stopped', async () => {
    const directory = await temporaryDirectory();
    const first = await openManifest('media.json', hostIn(directory), {service});
    const host = afterSilence(hostIn(directory, {pidNamespace: () => 'pid:[another]'}));
    const sleep: Host['clock']['sleep'] = async (ms, signal) => {
      if (signal?.aborted) throw signal.reason;
      await host.clock.sleep(ms, signal);
    };
    const elsewhere = {...host, clock: {...host.clock, sleep}};
    const stop = new Stop<Error>();
    const note = (text: string) => stop.abort(new Error(text));
    await expect(openManifest('media.json', elsewhere, {service, stop, note})).rejects.toThrow(
      'Waiting: the journal media.json.journal is held by',
    );
    await first.close();
  });

  it('a run whose journal another one has taken over writes nothing, and the other one writes what both stored', async () => {
    const directory = await temporaryDirectory();
    const first = await openManifest('media.json', hostIn(directory), {service});
    await upload(first, inputOf('a.png'), 'done');
    const elsewhere = hostIn(directory, {pidNamespace: () => 'pid:[another]'});
    const second = await openManifest('media.json', afterSilence(elsewhere), {service});
    await expect(upload(first, inputOf('b.png'), 'done')).rejects.toMatchObject({code: 'journal_in_use'});
    await first.close();
    expect(await readManifest('media.json', hostIn(directory))).toBeUndefined();
    await upload(second, inputOf('c.png'), 'done');
    await second.close();
    const {files} = (await readManifest('media.json', hostIn(directory))) ?? {};
    expect([...(files?.keys() ?? [])]).toEqual(['a.png', 'c.png']);
  });

  it('a run that is killed after another service has stored a file: the next one sends that file', async () => {
    const directory = await temporaryDirectory();
    const known = renderManifest({...manifestOf({'a.png': 'a'}), serviceId: 'one'});
    await writeFile(join(directory, 'media.json'), known);
    const options = {service, identify: async () => 'one'};
    const killed = await openManifest('media.json', hostIn(directory), options);
    const entry = await begin(killed, inputOf('b.png'));
    await entry.commit(sha256(inputOf('b.png').content));
    await expect(entry.recordStored('{"id":"b"}', 'two')).rejects.toMatchObject({
      code: 'journal_of_other_service',
    });
    const elsewhere = hostIn(directory, {pidNamespace: () => 'pid:[another]'});
    const next = await openManifest('media.json', afterSilence(elsewhere), options);
    expect(await lookup(next, inputOf('b.png'))).toEqual({status: 'new'});
    await next.close();
    expect((await readManifest('media.json', hostIn(directory)))?.serviceId).toBe('one');
  });

  it('a run whose disk is full keeps its journal, which lacks lines, and writes what it knows', async () => {
    const directory = await temporaryDirectory();
    let isFull = false;
    const files = wrappedJournals(handle =>
      changedHandle(handle, {
        write: (...parameters) =>
          isFull ? Promise.reject(new Error('ENOSPC')) : handle.write(...parameters),
      }),
    );
    const run = await openManifest('media.json', hostIn(directory, {files}), {service});
    await upload(run, inputOf('a.png'), 'done');
    isFull = true;
    await expect(upload(run, inputOf('b.png'), 'done')).rejects.toMatchObject({code: 'journal_failed'});
    await run.close();
    expect(await readdir(directory)).toEqual(['media.json', 'media.json.journal']);
    expect((await readManifest('media.json', hostIn(directory)))?.files.size).toBe(1);
  });
});
