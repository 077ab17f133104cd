import {hash} from 'node:crypto';
import {dirname} from 'node:path';
import {type Change, type Image, written} from './recorder.ts';

type Write = Extract<Change, {kind: 'write'}>;
type Unsynced = Write | Extract<Change, {kind: 'empty' | 'names' | 'directory'}>;

/**
 * What a power cut may leave of an unsynced change: all of it, nothing, so many bytes, its length without its bytes, or without
 * those of its first block.
 */
type Left = 'all' | 'nothing' | 'zeros' | 'later blocks' | number;

/** A disk after a power cut. */
export interface CrashState extends Image {
  /** How many changes had been made. */
  at: number;
  /** What had happened by then. */
  events: readonly string[];
}

export interface Thoroughness {
  /** The most states of one moment: beyond it, not every combination is made. */
  limit: number;
  /** Whether writes are cut at each block and around each line, and not only in their middle. */
  cuts: 'many' | 'few';
}

const blockSize = 512;
const nothing = Buffer.alloc(0);

/**
 * The states that a power cut may leave after each of the changes: what was synced, and of the rest any part in any order, as
 * "All File Systems Are Not Created Equal" (OSDI 2014) has it. Writes are dropped, cut, or leave zeros; a name, or its end, is
 * kept although what the file contains is not. Each state once; the same ones for the same changes.
 */
export function* crashStates(
  start: Image,
  changes: readonly Change[],
  thoroughness: Thoroughness,
): Generator<CrashState> {
  const synced = new Synced(start);
  const events: string[] = [];
  const seen = new Set<string>();
  for (let at = 0; at <= changes.length; at += 1) {
    for (const left of combinations(synced.unsynced, thoroughness)) {
      const state = {...synced.after(left), at, events: [...events]};
      const digest = digestOf(state);
      if (seen.has(digest)) continue;
      seen.add(digest);
      yield state;
    }
    const change = changes[at];
    if (change?.kind === 'event') events.push(change.event);
    else if (change !== undefined) synced.change(change);
  }
}

/** What is certainly on a disk, and what else may be. */
class Synced {
  unsynced: Unsynced[] = [];
  #image: Image;

  constructor(start: Image) {
    this.#image = start;
  }

  change(change: Exclude<Change, {kind: 'event'}>): void {
    if (change.kind === 'sync') this.#settle(one => 'file' in one && one.file === change.file);
    else if (change.kind === 'sync names') this.#syncNames(change.directory);
    else this.unsynced.push(change);
  }

  /** The disk if so much is left of each unsynced change. */
  after(left: readonly Left[]): Image {
    const directories = new Set(this.#image.directories);
    const names = new Map(this.#image.names);
    const contents = new Map(this.#image.contents);
    for (const [number, change] of this.unsynced.entries()) {
      const part = left[number] ?? 'all';
      if (part === 'nothing') continue;
      if (change.kind === 'directory') directories.add(change.path);
      else if (change.kind === 'names') rename(names, change.names);
      else if (change.kind === 'empty') contents.set(change.file, Buffer.alloc(0));
      else contents.set(change.file, written(contents.get(change.file), change.offset, partOf(change, part)));
    }
    for (const path of names.keys()) if (!isBelow(path, directories)) names.delete(path);
    for (const path of directories) if (!isBelow(path, directories)) directories.delete(path);
    return {directories, names, contents};
  }

  #settle(isSynced: (change: Unsynced) => boolean): void {
    this.#image = this.after(this.unsynced.map(change => (isSynced(change) ? 'all' : 'nothing')));
    this.unsynced = this.unsynced.filter(change => !isSynced(change));
  }

  /** Of a call that changed two directories, only the change of this one is certain. */
  #syncNames(directory: string): void {
    this.unsynced = this.unsynced.flatMap((change): Unsynced[] => {
      if (change.kind !== 'names') return [change];
      const here = change.names.filter(([path]) => dirname(path) === directory);
      const elsewhere = change.names.filter(([path]) => dirname(path) !== directory);
      return [here, elsewhere].flatMap(names => (names.length === 0 ? [] : [{kind: 'names', names}]));
    });
    this.#settle(change => {
      if (change.kind === 'names') return change.names.some(([path]) => dirname(path) === directory);
      return change.kind === 'directory' && dirname(change.path) === directory;
    });
  }
}

function rename(
  names: Map<string, number>,
  changes: readonly (readonly [string, number | undefined])[],
): void {
  for (const [path, file] of changes) {
    if (file === undefined) names.delete(path);
    else names.set(path, file);
  }
}

/** Whether all directories above a path are there. */
function isBelow(path: string, directories: ReadonlySet<string>): boolean {
  const above = dirname(path);
  return above === path || (directories.has(above) && isBelow(above, directories));
}

function partOf({offset, bytes}: Write, part: Exclude<Left, 'nothing'>): Buffer {
  if (part === 'all') return bytes;
  if (typeof part === 'number') return bytes.subarray(0, part);
  const zeros = part === 'zeros' ? bytes.length : untilNextBlock(offset);
  return Buffer.concat([Buffer.alloc(zeros), bytes.subarray(zeros)]);
}

function untilNextBlock(offset: number): number {
  return blockSize - (offset % blockSize);
}

/** What may be left of each of some unsynced changes: each combination, or, of too many, those that differ most. */
function* combinations(unsynced: readonly Unsynced[], thoroughness: Thoroughness): Generator<Left[]> {
  const choices = unsynced.map(change => choicesOf(change, thoroughness));
  const count = choices.reduce((product, {length}) => product * length, 1);
  let number = 0;
  for (const left of count <= thoroughness.limit ? all(choices) : some(choices)) {
    number += 1;
    if (number > thoroughness.limit) return;
    yield joined(unsynced, left);
  }
}

function choicesOf(change: Unsynced, {cuts}: Thoroughness): Left[] {
  if (change.kind !== 'write') return ['all', 'nothing'];
  const {offset, bytes} = change;
  const {length} = bytes;
  const at = new Set([Math.floor(length / 2)]);
  const firstBlock = untilNextBlock(offset);
  if (cuts === 'many') {
    for (let block = firstBlock; block < length; block += blockSize) at.add(block);
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, end + 1)) at.add(end).add(end + 1);
    at.add(1).add(length - 1);
  } else if (firstBlock < length) at.add(firstBlock);
  const later: Left[] = firstBlock < length ? ['later blocks'] : [];
  return ['all', 'nothing', 'zeros', ...later, ...[...at].filter(cut => cut > 0 && cut < length)];
}

function* all(choices: readonly (readonly Left[])[]): Generator<Left[]> {
  const [first, ...rest] = choices;
  if (first === undefined) {
    yield [];
    return;
  }
  for (const others of all(rest)) for (const left of first) yield [left, ...others];
}

/** Everything and nothing; of the first or last so many; and each choice of one, or of two, among all kept or all lost. */
function* some(choices: readonly (readonly Left[])[]): Generator<Left[]> {
  const every = (left: Left) => choices.map(() => left);
  yield every('all');
  yield every('nothing');
  for (let cut = 1; cut < choices.length; cut += 1) {
    yield choices.map((_, at) => (at < cut ? 'all' : 'nothing'));
    yield choices.map((_, at) => (at < cut ? 'nothing' : 'all'));
  }
  for (const [at, lefts] of choices.entries())
    for (const left of lefts)
      for (const others of ['all', 'nothing'] as const) yield every(others).with(at, left);
  for (const [at, lefts] of choices.entries())
    for (let other = 0; other < at; other += 1)
      for (const left of lefts.slice(1)) yield every('all').with(at, left).with(other, 'nothing');
}

/** Nothing is lost before what is kept of the same block: a block is on disk as it was at one moment. */
function joined(unsynced: readonly Unsynced[], left: Left[]): Left[] {
  for (let at = unsynced.length - 1; at > 0; at -= 1) {
    const next = unsynced[at];
    if (next?.kind !== 'write' || left[at] === 'nothing' || left[at] === 'later blocks') continue;
    const before = unsynced.findLastIndex(
      (one, index) => index < at && 'file' in one && one.file === next.file,
    );
    const one = unsynced[before];
    if (one?.kind !== 'write') continue;
    const end = one.offset + one.bytes.length;
    const sharesBlock = end === next.offset && end % blockSize !== 0;
    if (sharesBlock) left[before] = left[at] === 'zeros' ? 'zeros' : 'all';
  }
  return left;
}

const digests = new WeakMap<Buffer, string>();

/** Contents that no power cut changes are hashed once. */
function contentDigest(bytes: Buffer): string {
  const known = digests.get(bytes) ?? hash('md5', bytes);
  digests.set(bytes, known);
  return known;
}

function digestOf({names, contents, directories, events}: CrashState): string {
  const files = [...names].map(([path, file]) => `${path} ${contentDigest(contents.get(file) ?? nothing)}`);
  return hash('md5', JSON.stringify([files.sort(), [...directories].sort(), events]));
}
