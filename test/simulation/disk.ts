import {constants} from 'node:fs';
import {dirname} from 'node:path';
import type {World} from './world.ts';

/** What a power cut makes of what was not synced. */
export interface PowerCut {
  /** Whether the next unsynced change is lost. */
  isLost(): boolean;
  /** How much is left of a write that is not lost. */
  lengthLeft(bytes: Buffer): number;
}

/** A power cut whose effects are drawn. */
function byChance(world: World): PowerCut {
  return {
    isLost: () => world.oneIn(2),
    lengthLeft: ({length}) => (world.oneIn(3) ? world.below(length + 1) : length),
  };
}

/** A write that a power cut may drop, tear, or leave while it drops an earlier one. */
interface Unsynced {
  offset: number;
  bytes: Buffer;
}

function blockOf(offset: number): number {
  return Math.floor(offset / 512);
}

const nothing = Buffer.alloc(0);

/** A file, whatever names it has. */
export class Inode {
  readonly dev: bigint;
  readonly ino: bigint;
  data: Buffer = nothing;
  size = 0;
  mtimeNs = 0n;
  ctimeNs = 0n;
  /** What a power cut leaves at least. */
  synced: Buffer = nothing;
  /** Whether others hold `data` too, which is then copied before it is changed. */
  #isShared = false;
  unsynced: Unsynced[] = [];

  constructor(dev: bigint, ino: bigint) {
    this.dev = dev;
    this.ino = ino;
  }

  get content(): Buffer {
    return this.data.subarray(0, this.size);
  }

  write(offset: number, bytes: Uint8Array): void {
    const end = offset + bytes.length;
    if (end > this.data.length || this.#isShared) {
      const larger = Buffer.alloc(Math.max(2 * end, 256));
      this.content.copy(larger);
      this.data = larger;
      this.#isShared = false;
    }
    this.data.set(bytes, offset);
    this.size = Math.max(this.size, end);
    this.unsynced.push({offset, bytes: Buffer.from(bytes)});
  }

  /** Replaces the content at once, by bytes that nobody changes any more. */
  replace(bytes: Buffer): void {
    this.data = bytes;
    this.#isShared = true;
    this.size = bytes.length;
    this.synced = nothing;
    this.unsynced = [{offset: 0, bytes}];
  }

  sync(): void {
    if (this.unsynced.length === 0) return;
    this.synced = this.content;
    this.#isShared = true;
    this.unsynced = [];
  }

  /** What is left of it after a power cut: any of the unsynced writes may be lost, or cut off. */
  crash(cut: PowerCut): void {
    let left = Buffer.from(this.synced);
    const lengths = this.unsynced.map(({bytes}) => (cut.isLost() ? 0 : cut.lengthLeft(bytes)));
    // What was appended within one block reaches the disk together: nothing is lost there before what is kept.
    for (let at = lengths.length - 2; at >= 0; at -= 1) {
      const [one, next] = this.unsynced.slice(at, at + 2) as [Unsynced, Unsynced];
      const end = one.offset + one.bytes.length;
      const isJoined = next.offset === end && blockOf(end) === blockOf(end - 1);
      if (isJoined && lengths[at + 1] !== 0) lengths[at] = one.bytes.length;
    }
    for (const [at, {offset, bytes}] of this.unsynced.entries()) {
      const length = lengths[at] ?? 0;
      if (length === 0) continue;
      if (offset + length > left.length)
        left = Buffer.concat([left, Buffer.alloc(offset + length - left.length)]);
      bytes.copy(left, offset, 0, length);
    }
    this.data = left;
    this.#isShared = true;
    this.size = left.length;
    this.synced = left;
    this.unsynced = [];
  }
}

/** How a disk differs from an ordinary one. */
export interface DiskTraits {
  /** The number of its file system in statfs(2). */
  type: number;
  hasHardLinks: boolean;
  /** The unit of its times, in nanoseconds. */
  timeUnitNs: bigint;
  /** Whether it is of another machine, whose clock is right. */
  isRemote: boolean;
}

export const ext4: DiskTraits = {type: 0xef53, hasHardLinks: true, timeUnitNs: 4_000_000n, isRemote: false};
/** Of another machine, as far as the program knows: each sync is a call of its own, and the lock decides who may send. */
export const nfs: DiskTraits = {type: 0x6969, hasHardLinks: true, timeUnitNs: 1n, isRemote: true};
/** A stick: no hard links, times of 2 seconds, and of an unknown type. */
export const fat: DiskTraits = {
  type: 0x4d44,
  hasHardLinks: false,
  timeUnitNs: 2_000_000_000n,
  isRemote: false,
};

/** A change of a directory that a power cut may undo until the directory is synced. */
interface Entry {
  path: string;
  before: Inode | undefined;
  /** Set for a new directory, without which everything below it is lost. */
  isDirectory: boolean;
  directory: string;
  /** Changes of one call are kept or lost together. */
  call: number;
  /** In simulated milliseconds. */
  at: number;
}

/** File systems write changes of directories down by themselves, ext4 every 5 s. */
const commitMs = 5_000;

/** All disks of a simulated machine: two devices, whose inodes have the same numbers. */
export class Disks {
  readonly #world: World;
  readonly #traits: Map<string, DiskTraits>;
  readonly #names = new Map<string, Inode>();
  readonly #directories = new Set<string>(['/']);
  #unsynced: Entry[] = [];
  #calls = 0;
  #inodes = new Map<bigint, bigint>();
  #lastNs = 0n;

  /** `traits`: the traits of each device by its mount point, such as `/a`. */
  constructor(world: World, traits: Record<string, DiskTraits>) {
    this.#world = world;
    this.#traits = new Map(Object.entries(traits));
    for (const mount of this.#traits.keys()) this.#directories.add(mount);
  }

  traitsOf(path: string): DiskTraits {
    return this.#traits.get(mountOf(path)) ?? ext4;
  }

  deviceOf(path: string): bigint {
    return BigInt([...this.#traits.keys()].indexOf(mountOf(path)) + 1);
  }

  /** The time as the file system of a path writes it down. */
  timeNs(path: string): bigint {
    const {timeUnitNs: unit, isRemote} = this.traitsOf(path);
    const now =
      BigInt(Math.round((this.#world.now + (isRemote ? 0 : this.#world.clockOffset)) * 1000)) * 1000n;
    if (unit > 1n) return (now / unit) * unit;
    // Two changes are never made in the same nanosecond, where those are counted.
    this.#lastNs = now > this.#lastNs ? now : this.#lastNs + 1n;
    return this.#lastNs;
  }

  isDirectory(path: string): boolean {
    return this.#directories.has(path);
  }

  mkdir(path: string): void {
    if (this.#directories.has(path) || this.#names.has(path)) throw systemError('EEXIST');
    if (!this.#directories.has(dirname(path))) throw systemError('ENOENT');
    this.#unsynced.push({
      ...{path, before: undefined, isDirectory: true},
      ...{directory: dirname(path), call: this.#calls++, at: this.#world.now},
    });
    this.#directories.add(path);
  }

  get(path: string): Inode | undefined {
    return this.#names.get(path);
  }

  /** By how many names a file is known. */
  countNames(inode: Inode): number {
    return [...this.#names.values()].filter(one => one === inode).length;
  }

  list(directory: string): string[] {
    const start = `${directory}/`;
    const below = [...this.#names.keys()].filter(path => path.startsWith(start));
    return below.map(path => path.slice(start.length)).sort();
  }

  create(path: string): Inode {
    if (!this.#directories.has(dirname(path))) throw systemError('ENOENT');
    const dev = this.deviceOf(path);
    const ino = (this.#inodes.get(dev) ?? 0n) + 1n;
    this.#inodes.set(dev, ino);
    const inode = new Inode(dev, ino);
    inode.mtimeNs = inode.ctimeNs = this.timeNs(path);
    this.#name(path, inode);
    this.#calls += 1;
    return inode;
  }

  link(from: string, to: string): void {
    const inode = this.#there(from);
    if (!this.#directories.has(dirname(to))) throw systemError('ENOENT');
    if (this.#names.has(to)) throw systemError('EEXIST');
    if (this.deviceOf(to) !== inode.dev) throw systemError('EXDEV');
    if (!this.traitsOf(to).hasHardLinks) throw systemError('EPERM');
    inode.ctimeNs = this.timeNs(from);
    this.#name(to, inode);
    this.#calls += 1;
  }

  rename(from: string, to: string): void {
    const inode = this.#there(from);
    if (this.deviceOf(to) !== inode.dev) throw systemError('EXDEV');
    this.#name(to, inode);
    this.#name(from, undefined);
    this.#calls += 1;
  }

  unlink(path: string): void {
    const inode = this.#there(path);
    inode.ctimeNs = this.timeNs(path);
    this.#name(path, undefined);
    this.#calls += 1;
  }

  /** Makes the names in a directory durable. */
  syncDirectory(path: string): void {
    this.#unsynced = this.#unsynced.filter(({directory}) => directory !== path);
  }

  /** Cuts the power: what was not synced may be lost, in any combination. */
  crash(cut = byChance(this.#world)): void {
    this.#unsynced = this.#unsynced.filter(({at}) => this.#world.now - at < commitMs);
    const lost = new Map<number, boolean>();
    for (const {call} of this.#unsynced) if (!lost.has(call)) lost.set(call, cut.isLost());
    const kept = new Set<string>();
    // What came last is undone first.
    for (const {path, before, call, isDirectory} of this.#unsynced.reverse()) {
      if (!lost.get(call)) kept.add(path);
      if (kept.has(path)) continue;
      if (isDirectory) this.#loseDirectory(path);
      else if (before === undefined) this.#names.delete(path);
      else this.#names.set(path, before);
    }
    this.#unsynced = [];
    for (const inode of new Set(this.#names.values())) inode.crash(cut);
  }

  #loseDirectory(path: string): void {
    const isBelow = (other: string) => other === path || other.startsWith(`${path}/`);
    for (const name of this.#names.keys()) if (isBelow(name)) this.#names.delete(name);
    for (const directory of this.#directories) if (isBelow(directory)) this.#directories.delete(directory);
  }

  /** Everything is on disk, as if a long time had passed. */
  settle(): void {
    this.#unsynced = [];
    for (const inode of this.#names.values()) inode.sync();
  }

  #there(path: string): Inode {
    const inode = this.#names.get(path);
    if (inode === undefined) throw systemError(this.#directories.has(path) ? 'EISDIR' : 'ENOENT');
    return inode;
  }

  #name(path: string, inode: Inode | undefined): void {
    const directory = dirname(path);
    if (!this.#directories.has(directory)) throw systemError('ENOENT');
    const before = this.#names.get(path);
    this.#unsynced.push({
      path,
      before,
      isDirectory: false,
      directory,
      call: this.#calls,
      at: this.#world.now,
    });
    if (inode === undefined) this.#names.delete(path);
    else this.#names.set(path, inode);
  }
}

/** An error as the system reports it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), {code});
}

/** The first part of an absolute path, where a device is mounted. */
function mountOf(path: string): string {
  return path.slice(0, path.indexOf('/', 1) === -1 ? undefined : path.indexOf('/', 1));
}

/** Whether open(2) was called to write. */
export function isWriting(flags: number): boolean {
  return (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0;
}
