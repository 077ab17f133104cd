import {execFileSync} from 'node:child_process';
import {
  chmod,
  link,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import {join} from 'node:path';
import {inject} from 'vitest';
import {Disk} from '../../../../src/engine/sources/open/disk.ts';
import {filesIn} from '../../../../src/engine/sources/open/file-source.ts';
import type {OpenSource, Source} from '../../../../src/engine/sources/open/source.ts';
import {systemFiles} from '../../../../src/lib/files/file-system.ts';
import {clientOf, uploadEach} from '../../../engine/service/support.ts';
import {experiment} from '../../../support/experiment/experiment.ts';
import {KeepingServer} from '../../../support/experiment/keeping-server.ts';
import {concurrently} from '../../../support/experiment/tally.ts';
import {sha256Of, uniqueBytes} from '../../../support/experiment/verdicts.ts';
import {temporaryDirectory} from '../../../support/media.ts';

type Change = (path: string, size: number) => Promise<void>;

/** Writes other bytes of the same length over the second half. */
async function rewrite(path: string, size: number): Promise<void> {
  const file = await open(path, 'r+');
  await file.write(Buffer.alloc(Math.ceil(size / 2), 9), 0, Math.ceil(size / 2), Math.floor(size / 2));
  await file.close();
}

/** What changes the content, or puts something else in its place. */
const changes: Record<string, Change> = {
  truncated: (path, size) => truncate(path, size - 1),
  'truncated to 0': path => truncate(path, 0),
  'appended to': path => writeFile(path, 'more', {flag: 'a'}),
  'rewritten in place': rewrite,
  'replaced by rename': async (path, size) => {
    await writeFile(`${path}.new`, uniqueBytes(size));
    await rename(`${path}.new`, path);
  },
  'turned into a directory': async path => {
    await unlink(path);
    await mkdir(path);
  },
  'turned into a FIFO': async path => {
    await unlink(path);
    execFileSync('mkfifo', [path]);
  },
};

/** Rewrites it, and puts back when that was, to the nanosecond. */
async function rewriteUnseen(path: string, size: number): Promise<void> {
  execFileSync('touch', ['-r', path, `${path}.times`]);
  await rewrite(path, size);
  execFileSync('touch', ['-r', `${path}.times`, path]);
  await unlink(`${path}.times`);
}

/** What changes the content and leaves size and mtime: what is stored may be what is there now, if all of it is. */
const unseen: Record<string, Change> = {
  'rewritten, its mtime put back': rewriteUnseen,
  'rewritten, its mtime put back, chmodded': async (path, size) => {
    await rewriteUnseen(path, size);
    await chmod(path, 0o600);
  },
  'rewritten, its mtime put back, given a second name': async (path, size) => {
    await rewriteUnseen(path, size);
    await link(path, `${path}.link`);
  },
};

/** What leaves the content as it is. */
const harmless: Record<string, Change> = {
  unlinked: path => unlink(path),
  'made unreadable': path => chmod(path, 0o000),
  'given a second name': path => link(path, `${path}.link`),
};

const moments = [
  'before it is opened',
  'while it is sent',
  'just before release',
  'once the rest is read',
] as const;
type Moment = (typeof moments)[number];

interface Moving {
  path: string;
  change: () => Promise<void>;
  moment: Moment;
  /** Whether it may go the way of small files. */
  inOnePiece: boolean;
}

/** The file as a source, with the change made at the moment. */
function movingSource({path, change, moment, inOnePiece}: Moving): Source {
  const source = filesIn('/', new Disk(systemFiles))(path);
  let changed: Promise<void> | undefined;
  const once = () => {
    changed ??= change();
    return changed;
  };
  return {
    ...source,
    open: async signal => {
      if (moment === 'before it is opened') await once();
      const opened = await source.open(signal);
      const small = inOnePiece ? () => watchedPiece(opened, once, moment) : undefined;
      return {...watched(opened, once, moment), ...(small && {small})};
    },
  };
}

function watched(opened: OpenSource, change: () => Promise<void>, moment: Moment): OpenSource {
  return {
    size: opened.size,
    stat: opened.stat,
    read: async (position, length, into) => {
      // Of one chunk, the only read; of more, one in the middle.
      if (moment === 'while it is sent' && (position > 0 || length >= opened.size)) await change();
      return opened.read(position, length, into);
    },
    verify: async sent => {
      if (moment === 'just before release') await change();
      const verdict = await opened.verify(sent);
      if (moment === 'once the rest is read') await change();
      return verdict;
    },
    close: () => opened.close(),
  };
}

/** A small file is read at once; it is checked just before it is sent, which leaves no time for a change in between. */
async function watchedPiece(opened: OpenSource, change: () => Promise<void>, moment: Moment) {
  if (moment === 'while it is sent') await change();
  const content = await opened.small?.();
  if (content === undefined) throw new Error('the file is not small');
  if (moment === 'just before release') await change();
  const verify = () => {
    content.verify();
    if (moment === 'once the rest is read') void change();
  };
  return {bytes: content.bytes, verify};
}

interface Trial {
  kind: string;
  change: Change;
  moment: Moment;
  size: number;
  inOnePiece: boolean;
}

async function tryOne({kind, change, moment, size, inOnePiece}: Trial, directory: string): Promise<string[]> {
  const path = join(directory, crypto.randomUUID());
  const original = uniqueBytes(size);
  await writeFile(path, original);
  const server = await KeepingServer.start();
  let changed: Promise<void> | undefined;
  const changeIt = () => {
    changed = change(path, size);
    return changed;
  };
  const source = movingSource({path, change: changeIt, moment, inOnePiece});
  const [outcome] = await uploadEach([source], clientOf(server.url));
  await changed;
  const stored = (await server.close()).map(({sha256}) => sha256);
  const found = `${kind} ${moment}, ${size} bytes: ${outcome?.status}${outcome !== undefined && 'error' in outcome ? ` ${outcome.error.code}` : ''}, ${stored.length} records`;
  // What was changed before it was opened is a file like any other, if it is one.
  const now = moment === 'before it is opened' ? await contentOf(path) : undefined;
  const whole = sha256Of(moment === 'before it is opened' && now !== undefined ? now : original);
  const isWhole = stored.length === 1 && stored[0] === whole && outcome?.status === 'uploaded';
  const isNothing = stored.length === 0 && outcome?.status === 'failed';
  const isNew =
    kind in unseen && stored.length === 1 && stored[0] === sha256Of((await contentOf(path)) ?? Buffer.of());
  await rm(path, {recursive: true, force: true});
  const expected =
    moment === 'before it is opened'
      ? now === undefined || now.length === 0
        ? isNothing
        : isWhole
      : // All of it had been read, and found unchanged.
        kind in harmless || moment === 'once the rest is read'
        ? isWhole
        : isNew || (isNothing && outcome.error.code === 'source_changed');
  return expected ? [] : [found];
}

/** The content, if a regular file is there: reading a FIFO would wait for ever. */
async function contentOf(path: string): Promise<Buffer | undefined> {
  return (await stat(path)).isFile() ? readFile(path) : undefined;
}

/** In bytes, and whether the file may go the way of small ones: one with a journal does not. */
const sizes: [number, boolean][] = [
  [3_000, true],
  [3_000, false],
  [700_000, false],
];
if (inject('isTorture')) sizes.push([5_000_000, false]);

experiment('sources that move: no record of changed content', async ({scale, random}) => {
  const directory = await temporaryDirectory();
  const trials: Trial[] = [];
  for (let round = 0; round < (scale === 'long' ? 12 : 1); round += 1) {
    for (const [kind, change] of Object.entries({...changes, ...unseen, ...harmless})) {
      for (const moment of moments) {
        if (kind in harmless && moment === 'before it is opened') continue;
        for (const [about, inOnePiece] of sizes) {
          const size = Math.floor(about * (0.8 + 0.4 * random()));
          trials.push({kind, change, moment, size, inOnePiece});
        }
      }
    }
  }
  const broken: string[] = [];
  await concurrently(trials, 4, async trial => void broken.push(...(await tryOne(trial, directory))));
  return {tried: trials.length, held: trials.length - broken.length, broken};
});
