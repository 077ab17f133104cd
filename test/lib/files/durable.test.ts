import {readdirSync, readlinkSync} from 'node:fs';
import {type FileHandle, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {claimName, renameDurably, replaceDurably, writeDurably} from '../../../src/lib/files/durable.ts';
import {type FileSystem, systemFiles} from '../../../src/lib/files/file-system.ts';
import {temporaryDirectory} from '../../support/media.ts';

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), {code}));

/** A disk that loses power: what was synced of files, and the names that directories had when they were synced. */
function fragileDisk(changes: Partial<FileSystem> = {}) {
  const names = new Map<string, string[]>();
  const contents = new Set<string>();
  const open = async (...parameters: Parameters<FileSystem['open']>) => {
    const handle = await systemFiles.open(...parameters);
    const sync = handle.sync.bind(handle);
    handle.sync = async () => {
      const path = readlinkSync(`/proc/self/fd/${handle.fd}`);
      if ((await handle.stat()).isDirectory()) names.set(path, readdirSync(path));
      else contents.add(path);
      await sync();
    };
    return handle;
  };
  const files: FileSystem = {...systemFiles, ...changes, open: open as FileSystem['open']};
  return {files, contents, namesIn: (directory: string) => names.get(directory) ?? []};
}

type Disk = ReturnType<typeof fragileDisk>;

const ways: [
  string,
  Partial<FileSystem>,
  (path: (name: string) => string, disk: Disk) => Promise<unknown>,
][] = [
  ['a file that is renamed', {}, (path, {files}) => renameDurably(path('old'), path('new'), files)],
  [
    'a text that is replaced',
    {},
    (path, {files}) => replaceDurably(path('new'), 'new', path('draft'), files),
  ],
  ['a name that is claimed', {}, (path, {files}) => claimName(path('old'), path('new'), files)],
  ...['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].map((code): (typeof ways)[number] => [
    `a name that is claimed without hard links (${code})`,
    {link: failing(code)},
    (path, {files}) => claimName(path('old'), path('new'), files),
  ]),
];

test.runIf(process.platform === 'linux').for(ways)(
  '%s: is there after a power cut',
  async ([, changes, act]) => {
    const directory = await temporaryDirectory();
    const disk = fragileDisk(changes);
    const path = (name: string) => join(directory, name);
    await writeDurably(path('old'), 'new', disk.files);
    expect(disk.contents).toContain(path('old'));
    await act(path, disk);
    expect(await readFile(path('new'), 'utf8')).toBe('new');
    expect(disk.namesIn(directory)).toContain('new');
  },
);

test('a disk that fails while a file is written: no part of it stays, and nothing is open', async () => {
  const directory = await temporaryDirectory();
  const handles: FileHandle[] = [];
  const open = async (...parameters: Parameters<FileSystem['open']>) => {
    const handle = Object.assign(await systemFiles.open(...parameters), {sync: failing('EIO')});
    handles.push(handle);
    return handle;
  };
  await expect(writeDurably(join(directory, 'a'), 'text', {...systemFiles, open})).rejects.toThrow('EIO');
  expect(readdirSync(directory)).toEqual([]);
  // A closed file has no descriptor.
  expect(handles.map(({fd}) => fd)).toEqual([-1]);
});

test('a name that is taken: is not claimed, with hard links', async () => {
  const directory = await temporaryDirectory();
  const path = (name: string) => join(directory, name);
  await writeFile(path('new'), 'first');
  await writeDurably(path('old'), 'second', systemFiles);
  expect(await claimName(path('old'), path('new'), systemFiles)).toBe(false);
  expect(await readFile(path('new'), 'utf8')).toBe('first');
});
