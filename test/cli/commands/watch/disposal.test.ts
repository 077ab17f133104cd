import {
  appendFile,
  chmod,
  type FileHandle,
  link,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {execa} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {
  type Disposal,
  type DisposalResult,
  Disposals,
} from '../../../../src/cli/commands/watch/disposal/disposal.ts';
import {MediaError, type PlainError} from '../../../../src/errors.ts';
import {type FileSystem, systemFiles} from '../../../../src/lib/files/file-system.ts';
import {Stop} from '../../../../src/lib/stop.ts';
import {eventually} from '../../../support/eventually.ts';
import {notRun} from '../../../support/installed.ts';
import {ManualClock} from '../../../support/manual-clock.ts';
import {temporaryDirectory} from '../../../support/media.ts';
import {outcomeOf} from '../../../support/outcomes.ts';

const old = new Date('2001-02-03T04:05:06.789Z');

/** A file that was uploaded, and a directory to move it to. */
async function uploadedFile(target?: string, settleMs = 0, files = systemFiles) {
  const root = await temporaryDirectory();
  const path = join(root, 'in', 'a.png');
  await mkdir(join(root, 'in'));
  await writeFile(path, 'content');
  await chmod(path, 0o640);
  await utimes(path, old, old);
  const moveTo = target ?? join(root, 'done');
  const [clock, stop, stdout] = [new ManualClock(), new Stop<Error>(), {hasEnded: false}];
  /** The file, once for each time that it stays because a program has it open for writing. */
  const stays: string[] = [];
  /** Begins to dispose of the file as it is now, which `dispose` does once more. */
  const begin = async (disposal: Disposal = {moveTo}, unrecorded?: PlainError, name = 'a.png') => {
    const received = {record: {id: 'm'}, json: '{"id":"m"}'};
    const facts = {file: 'in/a.png', size: 7, ...(unrecorded && {unrecorded})};
    const outcome = outcomeOf({...facts, status: 'uploaded', ...received});
    const file = {path, relative: join('sub', name), stat: await stat(path, {bigint: true}), outcome};
    const disposals = new Disposals(disposal, {host: {clock, files}, stdout, settleMs, stop});
    const dispose = () => disposals.dispose(file, () => void stays.push(path));
    return {ended: dispose(), dispose};
  };
  /** Disposes of the file as it is now; `meanwhile` runs before it is due. */
  const disposed = async (disposal?: Disposal, meanwhile = async () => {}): Promise<DisposalResult> => {
    const {ended} = await begin(disposal);
    await clock.advance(9_900);
    await meanwhile();
    await clock.advance(100);
    return ended;
  };
  return {path, moveTo, begin, disposed, clock, stop, stdout, stays, target: join(moveTo, 'sub', 'a.png')};
}

test('the output ends before a file is due: it stays', async () => {
  const {path, disposed, stdout} = await uploadedFile();
  const kept = await disposed('delete', async () => {
    stdout.hasEnded = true;
  });
  expect(kept).toEqual({kept: 'Its outcome could not be printed.'});
  expect(await readFile(path, 'utf8')).toBe('content');
});

test.each(['delete', 'move'])(
  '%s of a file that has been touched in any way, or is gone: nothing',
  async what => {
    const {path, moveTo, disposed} = await uploadedFile();
    const disposal: Disposal = what === 'delete' ? 'delete' : {moveTo};
    const rewrite = async () => {
      await writeFile(path, 'CONTENT');
      await utimes(path, old, old);
    };
    const replace = async () => {
      await writeFile(`${path}.new`, 'CONTENT');
      await utimes(`${path}.new`, old, old);
      await rename(`${path}.new`, path);
    };
    for (const touch of [rewrite, replace, () => appendFile(path, 'more')])
      expect(await disposed(disposal, touch)).toBe('changed');
    expect(await readFile(path, 'utf8')).toBe('CONTENTmore');
    const others = [() => symlink(`${path}.old`, path), () => execa('mkfifo', [path])];
    for (const other of others) {
      await writeFile(path, 'content');
      const replaced = async () => {
        await rename(path, `${path}.old`);
        await other();
      };
      expect(await disposed(disposal, replaced)).toBe('changed');
      expect((await lstat(path)).isFile()).toBe(false);
      await rm(path);
    }
    await writeFile(path, 'content');
    expect(await disposed(disposal, () => rm(path))).toBe('gone');
    expect(await stat(moveTo).catch(() => 'nothing')).toBe('nothing');
  },
);

test('unchanged: stays, deleted, or moved with its directories', async () => {
  const {path, disposed, target} = await uploadedFile();
  expect(await disposed('keep')).toBe('stays');
  expect(await disposed()).toEqual({movedTo: target});
  expect(await readFile(target, 'utf8')).toBe('content');
  expect(await stat(path).catch(() => 'gone')).toBe('gone');
  const other = await uploadedFile();
  expect(await other.disposed('delete')).toBe('deleted');
  expect(await stat(other.path).catch(() => 'gone')).toBe('gone');
});

test('before it is due, 10 s or the settling time after its record: still there; stopped then: it stays', async () => {
  for (const [settleMs, due] of [
    [2_000, 10_000],
    [30_000, 30_000],
  ] as const) {
    const {path, begin, clock} = await uploadedFile(undefined, settleMs);
    const {ended} = await begin('delete');
    await clock.advance(due - 1);
    expect(await readFile(path, 'utf8')).toBe('content');
    await clock.advance(1);
    expect(await ended).toBe('deleted');
  }
  const {path, begin, stop} = await uploadedFile();
  const {ended} = await begin('delete');
  stop.abort(new Error('stopped'));
  await expect(ended).rejects.toThrow('stopped');
  expect(await readFile(path, 'utf8')).toBe('content');
});

test('stored, and the journal could not record it: it stays, since the next run would not know it', async () => {
  const {path, begin, clock} = await uploadedFile();
  const why = new MediaError<string>('journal_failed', 'The journal could not be written.');
  const {ended} = await begin('delete', why);
  const rejected = expect(ended).rejects.toBe(why);
  await clock.advance(10_000);
  await rejected;
  expect(await readFile(path, 'utf8')).toBe('content');
});

test('names that are taken: numbers; nothing is overwritten', async () => {
  const {moveTo, disposed, target} = await uploadedFile();
  await mkdir(join(moveTo, 'sub'), {recursive: true});
  for (const name of ['a.png', 'a-1.png']) await writeFile(join(moveTo, 'sub', name), 'other');
  const movedTo = target.replace('a.png', 'a-2.png');
  expect(await disposed()).toEqual({movedTo});
  expect(await readFile(movedTo, 'utf8')).toBe('content');
  expect(await readFile(target, 'utf8')).toBe('other');
});

test('a name of 255 bytes that is taken: cut, with a number', async () => {
  const {moveTo, path, begin, clock} = await uploadedFile();
  const name = `${'ä'.repeat(125)}x.png`;
  await mkdir(join(moveTo, 'sub'), {recursive: true});
  await writeFile(join(moveTo, 'sub', name), 'other');
  const {ended} = await begin(undefined, undefined, name);
  await clock.advance(10_000);
  expect(await ended).toEqual({movedTo: join(moveTo, 'sub', `${'ä'.repeat(124)}-1.png`)});
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

test('a target from which a link leads back to the file: it stays, and says so', async () => {
  for (const link of ['done/sub', 'done']) {
    const {path, moveTo, disposed} = await uploadedFile();
    const root = dirname(moveTo);
    if (link !== 'done') await mkdir(moveTo);
    await symlink(join(root, 'in'), join(root, link));
    expect(await disposed()).toEqual({kept: `It is below ${moveTo} already.`});
    expect(await readFile(path, 'utf8')).toBe('content');
  }
});

test('another file system with the names of unfinished copies: nothing is overwritten, and no link is followed', async () => {
  const {moveTo, disposed, target} = await uploadedFile(undefined, 0, withoutLinks('EXDEV', []));
  await mkdir(join(moveTo, 'sub'), {recursive: true});
  const victim = join(dirname(moveTo), 'victim');
  await writeFile(victim, 'precious');
  await symlink(victim, join(moveTo, 'sub', '.a.png.part'));
  expect(await disposed()).toEqual({movedTo: target});
  expect((await lstat(target)).isFile()).toBe(true);
  expect(await readFile(victim, 'utf8')).toBe('precious');
  expect((await readdir(join(moveTo, 'sub'))).sort()).toEqual(['.a.png.part', 'a.png']);
});

test.each(['EPERM', 'EXDEV'])(
  'copied to a directory where its name is taken (%s): a number, and no name before the copy is whole',
  async code => {
    const files = withoutLinks(code, []);
    const {disposed, target, moveTo} = await uploadedFile(undefined, 0, files);
    await mkdir(join(moveTo, 'sub'), {recursive: true});
    await writeFile(target, 'taken');
    let names: string[] = [];
    const {copyFile} = files;
    files.copyFile = async (...parameters) => {
      await copyFile(...parameters);
      names = await readdir(join(moveTo, 'sub'));
    };
    expect(await disposed()).toEqual({movedTo: target.replace('a.png', 'a-1.png')});
    expect(names.sort()).toEqual([expect.stringMatching(/^\.media-.{36}\.part$/), 'a.png']);
    expect((await readdir(join(moveTo, 'sub'))).sort()).toEqual(['a-1.png', 'a.png']);
    expect(await readFile(target, 'utf8')).toBe('taken');
  },
);

test('killed between the two steps of a move: the next run finishes it', async () => {
  const {path, moveTo, disposed, target} = await uploadedFile();
  await mkdir(join(moveTo, 'sub'), {recursive: true});
  await link(path, target);
  expect(await disposed()).toEqual({movedTo: target});
  expect(await readdir(join(moveTo, 'sub'))).toEqual(['a.png']);
  expect(await stat(path).catch(() => 'gone')).toBe('gone');
});

test('another file system: copied with its time and mode, or with a number', async context => {
  const here = await temporaryDirectory();
  const places = ['/dev/shm', '/var/tmp'];
  const devices = await Promise.all(
    places.map(place =>
      stat(place).then(
        ({dev}) => dev,
        () => undefined,
      ),
    ),
  );
  const {dev} = await stat(here);
  const place = places.find((_, at) => devices[at] !== undefined && devices[at] !== dev);
  if (place === undefined) return notRun(context, 'there is one file system only');
  const moveTo = await mkdtemp(join(place, 'media-test-'));
  onTestFinished(() => rm(moveTo, {recursive: true}));
  const first = await uploadedFile(moveTo);
  expect(await first.disposed()).toEqual({movedTo: first.target});
  expect(await readFile(first.target, 'utf8')).toBe('content');
  const {mtimeMs, mode} = await stat(first.target);
  expect(Math.abs(mtimeMs - old.getTime())).toBeLessThan(1);
  expect(mode & 0o777).toBe(0o640);
  const second = await uploadedFile(moveTo);
  expect(await second.disposed()).toEqual({movedTo: first.target.replace('a.png', 'a-1.png')});
  expect((await readdir(join(moveTo, 'sub'))).sort()).toEqual(['a-1.png', 'a.png']);
});

/** A file system without hard links, which tells its calls; `onCopied` runs when a file has been copied. */
function withoutLinks(
  code: string,
  calls: string[],
  onCopied: (path: string) => Promise<void> = async () => {},
): FileSystem {
  const open = async (...parameters: Parameters<FileSystem['open']>) => {
    const handle = await systemFiles.open(...parameters);
    const sync = handle.sync.bind(handle);
    handle.sync = async () => {
      await sync();
      calls.push(`sync ${basename(String(parameters[0]))}`);
    };
    return handle;
  };
  return {
    ...systemFiles,
    open,
    async link(from, to) {
      // Within a file system, only some have no links.
      if (code !== 'EXDEV' || dirname(String(from)) !== dirname(String(to)))
        throw Object.assign(new Error(code), {code});
      await systemFiles.link(from, to);
      calls.push(`link ${basename(String(to))}`);
    },
    async copyFile(from, to, mode) {
      await systemFiles.copyFile(from, to, mode);
      await onCopied(String(from));
    },
    async rename(from, to) {
      await systemFiles.rename(from, to);
      calls.push(`rename ${basename(String(to))}`);
    },
    async unlink(path) {
      await systemFiles.unlink(path);
      calls.push(`unlink ${basename(String(path))}`);
    },
  };
}

test.each(['EPERM', 'EXDEV', 'EOPNOTSUPP'])(
  'a file system that refuses links with %s: copied, synced with its directory, and only then removed',
  async code => {
    const calls: string[] = [];
    const {disposed, target, moveTo, path} = await uploadedFile(undefined, 0, withoutLinks(code, calls));
    expect(await disposed()).toEqual({movedTo: target});
    const names = [dirname(target), moveTo, dirname(moveTo)].map(name => `sync ${basename(name)}`);
    expect(calls.slice(2)).toEqual([
      expect.stringMatching(/^sync \.media-.{36}\.part$/),
      ...(code === 'EXDEV'
        ? ['link a.png', expect.stringMatching(/^unlink \.media-.{36}\.part$/)]
        : ['rename a.png', 'sync sub']),
      ...names,
      'unlink a.png',
    ]);
    expect(Math.abs((await stat(target)).mtimeMs - old.getTime())).toBeLessThan(1);
    expect(await readFile(target, 'utf8')).toBe('content');
    expect(await stat(path).catch(() => 'gone')).toBe('gone');
  },
);

test.each(['missing', 'just made by another process'])(
  'moved by another name into directories that are %s: they and the name are on disk before the old name goes',
  async how => {
    const calls: string[] = [];
    const files = {...withoutLinks('EPERM', calls), link: systemFiles.link};
    const {disposed, target, moveTo} = await uploadedFile(undefined, 0, files);
    if (how !== 'missing') await mkdir(dirname(target), {recursive: true});
    expect(await disposed()).toEqual({movedTo: target});
    const names = [dirname(target), moveTo, dirname(moveTo)].map(name => `sync ${basename(name)}`);
    expect(calls.slice(-4)).toEqual([...names, 'unlink a.png']);
  },
);

test('another process moves it by the same name at the same moment: it keeps that name', async () => {
  const files = {...systemFiles};
  files.lstat = (async (path: string, options: {bigint: true}) => {
    if (path.endsWith('in/a.png')) await rm(path);
    return systemFiles.lstat(path, options);
  }) as FileSystem['lstat'];
  const {disposed, target} = await uploadedFile(undefined, 0, files);
  expect(await disposed()).toEqual({movedTo: target});
  expect(await readFile(target, 'utf8')).toBe('content');
});

test.each([
  ['fails', async () => Promise.reject(new Error('EIO')), 'EIO'],
  ['finds another file there', (path: string) => writeFile(path, 'another'), 'changed'],
])(
  'another process moves it by the same name, and then ours %s: the file is not lost',
  async (_, then, result) => {
    const files = {...systemFiles};
    files.lstat = (async (path: string, options: {bigint: true}) => {
      if (path.endsWith('in/a.png')) await rm(path).then(() => then(path));
      return systemFiles.lstat(path, options);
    }) as FileSystem['lstat'];
    const {disposed, target} = await uploadedFile(undefined, 0, files);
    expect(await disposed().catch((error: Error) => error.message)).toBe(result);
    expect(await readFile(target, 'utf8')).toBe('content');
  },
);

test('a file that changes while it is copied, in its content or only in its time of change: stays, without a copy', async () => {
  const changes: ((path: string) => Promise<void>)[] = [
    path => appendFile(path, 'more'),
    async path => {
      await writeFile(path, 'CONTENT');
      await utimes(path, old, old);
    },
    path => chmod(path, 0o600),
  ];
  for (const change of changes) {
    const {disposed, path, target} = await uploadedFile(undefined, 0, withoutLinks('EXDEV', [], change));
    const result = await disposed().catch((error: Error) => error.message);
    expect(['changed', 'its copy differs from it']).toContain(result);
    expect((await stat(path)).isFile()).toBe(true);
    expect(await readdir(dirname(target))).toEqual([]);
  }
});

test('a file that a program opens for writing while it is copied: stays as long as it is open', async context => {
  if (process.platform !== 'linux') return notRun(context, 'only Linux shows who writes to a file');
  let writer: FileHandle | undefined;
  const calls: string[] = [];
  const files = withoutLinks('EXDEV', calls, async from => {
    writer ??= await open(from, 'r+');
  });
  const {begin, clock, path, target} = await uploadedFile(undefined, 0, files);
  const {ended} = await begin();
  await clock.advance(10_000);
  // The copy goes, and not the file.
  await eventually(() => calls.includes('unlink a.png'));
  expect((await stat(path)).isFile()).toBe(true);
  await writer?.close();
  let result: DisposalResult | undefined;
  void ended.then(disposed => {
    result = disposed;
  });
  await eventually(() => clock.advance(1_000).then(() => result !== undefined));
  expect(result).toEqual({movedTo: target});
});

test('a file that a program has open for writing under a name that is gone: stays', async context => {
  if (process.platform !== 'linux') return notRun(context, 'only Linux shows who writes to a file');
  const {begin, clock, path, stays} = await uploadedFile();
  await rename(path, `${path}.new`);
  const writer = await open(`${path}.new`, 'r+');
  await link(`${path}.new`, path);
  await rm(`${path}.new`);
  const {ended} = await begin('delete');
  await clock.advance(10_000);
  expect(await Promise.race([ended, eventually(() => stays.length > 0)])).toBe(true);
  await writer.close();
  await clock.advance(10_000);
  expect(await ended).toBe('deleted');
});

test('a copy that differs from its file: the file stays, and the copy goes', async () => {
  const files = withoutLinks('EXDEV', []);
  files.copyFile = (_from, to) => systemFiles.writeFile(to, 'CONTENT');
  const {disposed, path, target} = await uploadedFile(undefined, 0, files);
  await expect(disposed()).rejects.toThrow('its copy differs from it');
  expect(await readFile(path, 'utf8')).toBe('content');
  expect(await readdir(dirname(target))).toEqual([]);
});

test('a file on a card that is write-protected, moved to another disk: it is not copied', async () => {
  let copies = 0;
  const files = withoutLinks('EXDEV', [], async () => {
    copies += 1;
  });
  const refuse = () => Promise.reject(Object.assign(new Error('EROFS'), {code: 'EROFS'}));
  Object.assign(files, {access: refuse, unlink: refuse});
  const {disposed, path} = await uploadedFile(undefined, 0, files);
  await expect(disposed()).rejects.toThrow('EROFS');
  expect(await readFile(path, 'utf8')).toBe('content');
  expect(copies).toBe(0);
});

test('a disk that fails many files: the next ones are disposed of all the same', async () => {
  const files = {...systemFiles};
  files.open = () => Promise.reject(Object.assign(new Error('EIO'), {code: 'EIO'}));
  const {path, begin, clock} = await uploadedFile(undefined, 0, files);
  const {ended, dispose} = await begin('delete');
  const failing = Promise.allSettled([ended, ...Array.from({length: 39}, dispose)]);
  await clock.advance(10_000);
  expect((await failing).every(({status}) => status === 'rejected')).toBe(true);
  Object.assign(files, systemFiles);
  const last = dispose();
  await clock.advance(11_000);
  expect(await last).toBe('deleted');
  await expect(stat(path)).rejects.toThrow('ENOENT');
});
