import {type FileHandle, mkdir, open, readdir, readFile, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {execa} from 'execa';
import {sandboxFor, testKey} from '../../../engine/service/program.ts';
import {afterTest, expect, waitingTest as test} from '../../../support/after-test.ts';
import {eventually} from '../../../support/eventually.ts';
import {notRun} from '../../../support/installed.ts';
import {fixture, mediaCommand, type Sandbox, sandbox} from '../../../support/media.ts';
import {patienceMs} from '../../../support/patience.ts';
import {RecordStore, type StoreAnswer} from '../../../support/record-store.ts';
import {Watching} from '../../../support/watching.ts';

const picture = await readFile(fixture('photo.png'));

/** A picture of a size of its own, so that the store can tell the files apart. */
function pictureOf(size: number): Buffer {
  return Buffer.concat([picture, Buffer.alloc(size - picture.length, `${size} `)]);
}

interface Machine {
  box: Sandbox;
  store: RecordStore;
  path: (name: string) => string;
  /** The files that are left in the watched directory, in order. */
  left: () => Promise<string[]>;
}

/** A machine whose directory `in` has a file for each of these, and a store that says this of each. */
async function machine(files: Record<string, StoreAnswer>): Promise<Machine> {
  const store = await RecordStore.start();
  const box = await sandboxFor(store.url);
  const path = (name: string) => join(box.directory, name);
  await mkdir(path('in'));
  for (const [at, [name, answer]] of Object.entries(files).entries()) {
    const size = picture.length + 100 + at;
    store.answers.set(size, answer);
    await writeFile(path(`in/${name}.png`), pictureOf(size));
  }
  return {box, store, path, left: async () => (await readdir(path('in'))).sort()};
}

/** The reasons why files were kept, by their names; fails where one was given twice. */
function reasonsIn(watching: Watching): Record<string, string> {
  const kept = watching.lines().filter(({event}) => event === 'kept');
  const reasons = Object.fromEntries(kept.map(({file = '', reason = ''}) => [file, reason]));
  expect(kept).toHaveLength(Object.keys(reasons).length);
  return reasons;
}

async function end(watching: Watching): Promise<void> {
  watching.child.kill('SIGTERM');
  expect((await watching.child).signal).toBe('SIGTERM');
}

const disposals = [['--delete'], ['--move-to', 'done']];

test('records that fit their files, and records that do not: only the former files are moved or deleted', async () => {
  const files = {
    fits: {record: {width: 640, height: 400}},
    few: {record: {size: undefined, type: undefined}},
    shorter: {record: {size: 1}},
    zero: {record: {size: 0}},
    pixel: {record: {width: 1, height: 1}},
    video: {record: {type: 'VIDEO'}},
  };
  const differing = ['in/pixel.png', 'in/shorter.png', 'in/video.png', 'in/zero.png'];
  await Promise.all(
    disposals.map(async disposal => {
      const {box, path, left} = await machine(files);
      const watching = new Watching(box, ['in', '--ndjson', ...disposal]);
      await watching.line({file: 'in/fits.png', status: 'uploaded'});
      await watching.line({file: 'in/few.png', status: 'uploaded'});
      await eventually(() => watching.lines().filter(({event}) => event === 'kept').length >= 4);
      expect((await left()).map(name => `in/${name}`)).toEqual(differing);
      const reasons = reasonsIn(watching);
      expect(Object.keys(reasons).sort()).toEqual(differing);
      expect(reasons['in/zero.png']).toMatch(/size 0 instead of \d+/);
      expect(reasons['in/pixel.png']).toMatch(/width 1 instead of \d+/);
      expect(reasons['in/video.png']).toContain('type VIDEO instead of IMAGE');
      if (disposal.length > 1) expect((await readdir(path('done'))).sort()).toEqual(['few.png', 'fits.png']);
      await end(watching);
    }),
  );
});

test('a kept file that another picture replaces: the record of that one is printed, too', async () => {
  const answer = {record: {width: 1, height: 1}};
  const {box, store, path} = await machine({pixel: answer});
  const watching = new Watching(box, ['in', '--ndjson', '--delete']);
  await watching.line({event: 'kept', file: 'in/pixel.png'});
  store.answers.set(picture.length + 200, answer);
  await writeFile(path('in/pixel.png'), pictureOf(picture.length + 200));
  await eventually(() => watching.lines().some(({record}) => record?.id === 'm_1'));
  await end(watching);
});

test('records from memory: only the files that the service still has whole are deleted; asked without the key', async () => {
  const other = await RecordStore.start();
  const {box, store, left} = await machine({
    there: {},
    public: {record: {fileUrl: undefined, urls: [{variant: 'PUBLIC', url: 'URL'}]}},
    gone: {head: {status: 404}},
    partial: {head: {status: 206}},
    shorter: {head: {headers: {'content-length': '1'}}},
    'no-length': {head: {headers: {'transfer-encoding': 'chunked'}}},
    redirected: {head: {status: 302, headers: {location: '/files/0?v=1'}}},
    'no-url': {record: {fileUrl: undefined}},
    'other-http': {record: {fileUrl: `${other.url}/files/0?v=1`}},
    'other-loopback': {record: {fileUrl: `https://127.0.0.1:${new URL(other.url).port}/files/0?v=1`}},
    'other-name': {record: {fileUrl: `https://localhost:${new URL(other.url).port}/files/0?v=1`}},
    // Nobody has this address (RFC 5737): a request would be waited for.
    'public-http': {record: {fileUrl: 'http://192.0.2.1/files/0?v=1'}},
    mapped: {record: {fileUrl: `https://[::ffff:7f00:1]:${new URL(other.url).port}/files/0?v=1`}},
    user: {record: {fileUrl: 'http://user:word@HOST/files/NUMBER?v=1'}},
    'not-a-url': {record: {fileUrl: 'files/0'}},
  });
  const uploaded = await box.run(['upload', '--once', '-r', 'in', '-c', '1', '--template', '{id}\\n']);
  expect(uploaded.exitCode).toBe(0);
  expect(store.heads).toEqual([]);
  // What comes twice in one run is from memory, too: the store answers for the first.
  await writeFile(join(box.directory, 'in/twice.png'), pictureOf(picture.length + 102));
  const watching = new Watching(box, ['in', '--delete', '--ndjson']);
  await eventually(async () => (await left()).length === 14);
  await eventually(() => watching.lines().filter(({event}) => event === 'kept').length === 14);
  expect((await left()).filter(name => /there|public\.png/.test(name))).toEqual([]);
  expect(new Set(Object.values(reasonsIn(watching))).size).toBe(1);
  expect(other.connections).toBe(0);
  for (const {headers} of store.heads) {
    expect(headers).not.toHaveProperty('authorization');
    expect(headers).not.toHaveProperty('cookie');
    expect(JSON.stringify(headers)).not.toContain(testKey);
  }
  await end(watching);
});

test('records from memory, and no word on whether they are still stored: the files wait, are asked about again and deleted', async () => {
  const answers: Record<string, StoreAnswer> = {
    broken: {head: 'cut off'},
    away: {head: {status: 503}},
    busy: {head: {status: 429}},
  };
  const {box, store, left} = await machine(answers);
  expect((await box.run(['upload', '--once', '-r', 'in'])).exitCode).toBe(0);
  const watching = new Watching(box, ['in', '--delete', '--ndjson']);
  const {error, waiting} = await watching.line({event: 'delayed'});
  expect(error).toMatchObject({code: 'service_unavailable'});
  expect(waiting).toBeGreaterThan(0);
  await eventually(() => new Set(store.heads.map(({id}) => id)).size === 3);
  expect(await left()).toHaveLength(3);
  store.answers.clear();
  for (const name of Object.keys(answers))
    await watching.line({file: `in/${name}.png`, status: 'skipped', deleted: true});
  expect(reasonsIn(watching)).toEqual({});
  await end(watching);
});

test('a service in this process is asked about its own records', async () => {
  const box = await sandbox();
  await mkdir(join(box.directory, 'in'));
  await writeFile(join(box.directory, 'in/a.png'), picture);
  const embedded = ['--base-url', 'embedded'];
  expect((await box.run(['upload', '--once', 'in/a.png', ...embedded])).exitCode).toBe(0);
  const watching = new Watching(box, ['in', '--delete', '--ndjson', ...embedded]);
  await watching.line({file: 'in/a.png', status: 'skipped', deleted: true});
  expect(reasonsIn(watching)).toEqual({});
  await end(watching);
});

test('a file that a program has open, one that goes on after a pause, one that is set back in time: none is lost', async context => {
  if (process.platform !== 'linux') return notRun(context, 'only Linux shows who writes to a file');
  const pages = Array.from({length: 2}, (_, at) => Buffer.alloc(50_000, `page ${at} `));
  const half = Buffer.concat([picture, pages[0] as Buffer]);
  await Promise.all(
    disposals.map(async disposal => {
      const {box, store, path, left} = await machine({});
      const whole = Buffer.concat([half, pages[1] as Buffer]);
      let held: FileHandle | undefined = await open(path('in/held.png'), 'a');
      afterTest(() => held?.close());
      await held.write(half);
      const paused = Buffer.concat([half, Buffer.from('paused')]);
      const finished = Buffer.concat([paused, Buffer.from('!')]);
      const restored = Buffer.concat([half, Buffer.from('restored')]);
      const rewritten = Buffer.concat([half, Buffer.from('RESTORED')]);
      const time = new Date('2001-02-03T04:05:06Z');
      await writeFile(path('in/paused.png'), paused);
      await writeFile(path('in/restored.png'), restored);
      await utimes(path('in/restored.png'), time, time);
      store.answers.set(paused.length, {
        // The upload is complete, its record is not yet there.
        beforeRecord: () => writeFile(path('in/paused.png'), finished),
      });
      store.answers.set(restored.length, {
        async beforeRecord() {
          await writeFile(path('in/restored.png'), rewritten);
          await utimes(path('in/restored.png'), time, time);
          store.answers.delete(restored.length);
        },
      });
      const watching = new Watching(box, ['in', '--ndjson', ...disposal]);
      const kept = await watching.line({event: 'kept', file: 'in/held.png'});
      expect(kept.reason).toBe('A program has it open for writing.');
      expect(await left()).toContain('held.png');
      await held.write(pages[1] as Buffer);
      await held.close();
      held = undefined;
      await eventually(async () => (await left()).length === 0);
      for (const bytes of [whole, finished, rewritten])
        expect(store.bodies.filter(body => body.equals(bytes))).toHaveLength(1);
      if (disposal.length > 1) expect(await readFile(path('done/held.png'))).toEqual(whole);
      await end(watching);
      // Once for each content, however often its disposal was tried.
      const told = watching
        .lines()
        .filter(({file, status}) => file === 'in/held.png' && status === 'uploaded');
      expect(told).toHaveLength(2);
    }),
  );
});

test('--verify: what differs is a warning, or its status is mismatched; without a disposal nothing is kept', async () => {
  await Promise.all(
    ['warn', 'strict'].map(async verify => {
      const {box} = await machine({differs: {record: {size: 0}}});
      const watching = new Watching(box, ['in', '--ndjson', '--verify', verify]);
      const line = await watching.line({file: 'in/differs.png'});
      expect(line.status).toBe(verify === 'warn' ? 'uploaded' : 'mismatched');
      expect(JSON.stringify(line)).toContain('its record differs from the file: size 0 instead of');
      await end(watching);
      expect(reasonsIn(watching)).toEqual({});
    }),
  );
  const {box, left} = await machine({differs: {record: {size: 0}}});
  const watching = new Watching(box, ['in', '--ndjson', '--verify', 'strict', '--delete']);
  await watching.line({event: 'kept', file: 'in/differs.png'});
  expect(await left()).toEqual(['differs.png']);
  await end(watching);
});

test('a file whose response is lost, and whose name looks like an option: the command that sends it again names the file', async () => {
  const {box, store, path} = await machine({});
  store.answers.set(picture.length, {record: 'cut off'});
  await writeFile(path('-a.png'), picture);
  const watching = new Watching(box, ['.', '--ndjson']);
  await watching.line({file: '-a.png', status: 'unknown'});
  expect(watching.stderr).toMatch(/ --once --on-unknown retry \.\/-a\.png$/m);
  await end(watching);
});

test('stopped while responses are awaited, and before files are due: the records are printed, the files stay', async () => {
  let answer = () => {};
  const held = new Promise<void>(resolve => {
    answer = resolve;
  });
  const {box, store, left} = await machine({first: {}, late: {beforeRecord: () => held}});
  const watching = new Watching(box, ['in', '--ndjson', '--delete']);
  await eventually(() => store.bodies.length === 2);
  watching.child.kill('SIGTERM');
  // At once, since the program waits for 5 s only, and a machine may be so busy that everything takes as long.
  answer();
  expect((await watching.child).signal).toBe('SIGTERM');
  expect(watching.lines().filter(({file}) => file !== undefined)).toMatchObject([
    {file: 'in/first.png', status: 'uploaded'},
    {file: 'in/late.png', status: 'uploaded'},
  ]);
  expect(await left()).toEqual(['first.png', 'late.png']);
  const again = await box.run(['upload', '--once', 'in/late.png', '--ndjson']);
  expect(JSON.parse(again.stdout)).toMatchObject({status: 'skipped'});
});

test('output that cannot be written, or that nothing reads any more: a watch that deletes files ends', async context => {
  if (process.platform !== 'linux') return notRun(context, '/dev/full');
  const {box, left} = await machine({a: {}});
  const words = [...mediaCommand, 'watch', 'in', '--delete', '--ndjson', '--settle', '20ms'];
  const {exitCode, stderr} = await execa('sh', ['-c', '"$@" >/dev/full', 'sh', ...words], {
    ...{cwd: box.directory, env: box.env, extendEnv: false, reject: false, timeout: patienceMs},
  });
  expect(exitCode).toBe(1);
  expect(JSON.parse(stderr).error).toMatchObject({
    code: 'output_failed',
    message: 'The output could not be written: the disk is full.',
  });
  expect(await left()).toEqual(['a.png']);
  const watching = new Watching(box, ['in', '--delete', '--ndjson']);
  await watching.line({event: 'watching'});
  watching.child.stdout?.destroy();
  expect((await watching.child).exitCode).toBe(1);
  expect(watching.stderr).toContain('The output could not be written: nothing reads it any more.');
});

test('output that cannot be written, a watch that keeps files: says so once, and uploads what comes', async context => {
  if (process.platform !== 'linux') return notRun(context, '/dev/full');
  const {box, store, path} = await machine({a: {}});
  const words = [...mediaCommand, 'watch', 'in', '--ndjson', '--settle', '20ms'];
  const watching = execa('sh', ['-c', 'exec "$@" >/dev/full', 'sh', ...words], {
    ...{cwd: box.directory, env: box.env, extendEnv: false, reject: false, timeout: patienceMs},
  });
  let told = '';
  watching.stderr.on('data', chunk => {
    told += chunk;
  });
  await eventually(() => store.bodies.length === 1 && told.includes('output_failed'));
  await writeFile(path('in/b.png'), pictureOf(picture.length + 200));
  await eventually(() => store.bodies.length === 2);
  watching.kill('SIGTERM');
  expect((await watching).signal).toBe('SIGTERM');
  expect(told.match(/output_failed/g)).toHaveLength(1);
});
