import type {Dirent} from 'node:fs';
import {opendir, stat} from 'node:fs/promises';
import {type ByteName, joinNames, resolveName, toPath} from './names.ts';

/** What a walk comes across; the paths are relative to its root, '' for the root itself. */
export type Found =
  /** Anything but a directory: regular files, links to them, broken links, FIFOs, devices. */
  | {kind: 'file'; relative: ByteName; isLink: boolean; isRegular: boolean}
  | {kind: 'unreadable'; relative: ByteName; error: unknown};

export interface WalkRules {
  /** Whether a file is wanted. */
  takes(relative: ByteName): boolean;
  /** Whether a directory is to be read. */
  enters(relative: ByteName): boolean;
  /** Whether links to directories are directories. */
  follow: boolean;
}

interface Entry {
  name: ByteName;
  kind: 'regular' | 'directory' | 'link' | 'other';
}

/** A directory whose names are being gone through. */
interface Level {
  relative: ByteName;
  /** The last name first, so that those done with are let go. */
  entries: Entry[];
  /** Device and inode, where links are followed. */
  identity: string;
}

/**
 * Walks a directory depth first, each directory's names in byte order. A directory is read when its turn comes, and
 * only the names of the directories on the way to the current one are kept. Nothing but directories is ever opened.
 */
export async function* walk(root: ByteName, cwd: string, rules: WalkRules): AsyncGenerator<Found> {
  const absolute = resolveName(cwd, root);
  const levels: Level[] = [];
  const first = await readLevel(absolute, '', rules, levels);
  if ('error' in first) yield first;
  else levels.push(first);
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const entry = level.entries.pop();
    if (entry === undefined) {
      levels.pop();
      continue;
    }
    const relative = joinNames(level.relative, entry.name);
    if (!mayMatter(entry, relative, rules)) continue;
    const kind = entry.kind === 'link' ? await kindOfTarget(joinNames(absolute, relative)) : entry.kind;
    if (kind !== 'directory') {
      const isFile = {isLink: entry.kind === 'link', isRegular: kind === 'regular'};
      if (rules.takes(relative)) yield {kind: 'file', relative, ...isFile};
    } else if (rules.enters(relative) && (entry.kind === 'directory' || rules.follow)) {
      const next = await readLevel(absolute, relative, rules, levels);
      if ('error' in next) yield next;
      else levels.push(next);
    }
  }
}

/** Spares a look at the target of a link that is not wanted either way. */
function mayMatter(entry: Entry, relative: ByteName, rules: WalkRules): boolean {
  return entry.kind !== 'link' || rules.takes(relative) || (rules.follow && rules.enters(relative));
}

async function kindOfTarget(link: ByteName): Promise<'other' | 'directory'> {
  try {
    return (await stat(toPath(link))).isDirectory() ? 'directory' : 'other';
  } catch {
    // A link that leads nowhere fails when it is opened, and says so.
    return 'other';
  }
}

/** Reads a directory's names; none when it is one of those that lead to it, which only a link can bring about. */
async function readLevel(
  absolute: ByteName,
  relative: ByteName,
  {follow}: WalkRules,
  above: readonly Level[],
): Promise<Level | (Found & {kind: 'unreadable'})> {
  try {
    const path = toPath(joinNames(absolute, relative));
    const identity = follow ? await identityOf(path) : '';
    const isCycle = follow && above.some(level => level.identity === identity);
    return {relative, identity, entries: isCycle ? [] : await readEntries(path)};
  } catch (error) {
    return {kind: 'unreadable', relative, error};
  }
}

async function identityOf(path: string | Buffer): Promise<string> {
  const {dev, ino} = await stat(path, {bigint: true});
  return `${dev}:${ino}`;
}

async function readEntries(path: string | Buffer): Promise<Entry[]> {
  // In batches and as buffers, turned at once into strings of a byte each: a directory of 200,000 names takes some
  // 20 MB so, and 150 MB by readdir(). The types do not know of 'buffer' here; the documentation of opendir() does.
  const directory = await opendir(path, {encoding: 'buffer' as BufferEncoding, bufferSize: 1024});
  const entries: Entry[] = [];
  for await (const entry of directory as AsyncIterable<unknown> as AsyncIterable<Dirent<Buffer>>) {
    entries.push({name: entry.name.toString('latin1'), kind: kindOf(entry)});
  }
  return entries.sort((one, other) => (one.name < other.name ? 1 : -1));
}

function kindOf(entry: Dirent<Buffer>): Entry['kind'] {
  if (entry.isFile()) return 'regular';
  return entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'other';
}
