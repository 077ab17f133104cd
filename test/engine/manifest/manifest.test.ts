import {chmod, link, mkdir, readlink, stat, symlink, writeFile} from 'node:fs/promises';
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
import {lookUpInManifest, openManifest} from '../../../src/engine/manifest/run-manifest.ts';
import {MediaError} from '../../../src/errors.ts';
import {systemFiles} from '../../../src/lib/files/file-system.ts';
import {afterSilence, hostIn, inputOf, sha256, upload} from '../../support/journal.ts';
import {temporaryDirectory} from '../../support/media.ts';
import {anyText, holdsFor} from '../../support/property.ts';
import {received} from '../../support/received.ts';
import {checkJsonLine} from '../../support/schemas.ts';

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

  it('a key twice with one value is read, as after a merge that keeps the lines of both', () => {
    const text = withLine(line => `${line},\n${line}`);
    expect(renderManifest(parseManifest(text, 'media.json'))).toBe(lines.join('\n'));
  });

  it('conflict markers of git: the command that joins both sides', () => {
    const text = withLine(line => `<<<<<<< HEAD\n${line}\n=======\n>>>>>>> other`);
    const {message, hint} = failureOf(text);
    expect(message).toBe(sentence(6, 'is a conflict marker of git'));
    expect(hint).toBe('Nothing was changed or sent. To join both sides: media journal merge media.json');
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
    expect(await merge(base, theirs, ours)).toEqual({
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

  it('in a directory whose names nobody may read: only what is missing is gone', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'media.json'), renderManifest(manifestOf({'a.png': 'a', 'b.png': 'b'})));
    await writeFile(join(directory, 'a.png'), 'a');
    const readdir = () => Promise.reject(new Error('not permitted'));
    const host = hostIn(directory, {files: {...systemFiles, readdir}});
    const prunes = {inputs: ['.'], recursive: true};
    const known = await lookUpInManifest('media.json', host, {prunes});
    const gone: string[] = [];
    for await (const key of known?.manifest?.stale() ?? []) gone.push(key);
    expect(gone).toEqual(['b.png']);
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

describe('openManifest', () => {
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
});
