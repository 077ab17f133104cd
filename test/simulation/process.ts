import {constants} from 'node:fs';
import {type Clock, type Host, type StopSignal, systemHost} from '../../src/host.ts';
import type {FileSystem} from '../../src/lib/files/file-system.ts';
import {type Disks, type Inode, isWriting, systemError} from './disk.ts';
import type {World} from './world.ts';

/** What goes wrong with the calls of one process. */
export interface Faults {
  /** Makes the n-th call that changes or reads a disk fail. */
  failing?: {call: number; code: string} | undefined;
  /** Bytes that still fit on the disks. */
  room?: number;
  /** After how many milliseconds on a full disk somebody makes room. */
  fullMs?: number | undefined;
  /** One in so many reads and writes does only a part of what it was asked for. */
  shortOneIn?: number;
}

export interface Machine {
  world: World;
  disks: Disks;
  /** Processes by container and id. */
  alive: Set<string>;
  bootId: string;
  /** Called before a process removes a name. */
  onUnlink?: (path: string) => void;
}

interface Descriptor {
  inode: Inode | undefined;
  path: string;
  flags: number;
}

/** One simulated process: it can be killed or stopped between any two steps. */
export class Process {
  readonly pid: number;
  readonly namespace: string;
  readonly #machine: Machine;
  readonly #faults: Faults;
  readonly #descriptors = new Map<number, Descriptor>();
  #calls = 0;
  #room: number;
  #isMakingRoom = false;
  /** None that this process really has: /proc tells who writes to those. */
  #nextDescriptor = 2 ** 24;
  #isKilled = false;
  /** What waits for a process that is stopped. */
  #waiting: (() => void)[] | undefined;
  readonly host: Host;

  constructor(
    machine: Machine,
    {pid, namespace, faults = {}}: {pid: number; namespace: string; faults?: Faults},
  ) {
    this.#machine = machine;
    this.pid = pid;
    this.namespace = namespace;
    this.#faults = faults;
    this.#room = faults.room ?? Number.POSITIVE_INFINITY;
    machine.alive.add(this.#identity);
    this.host = this.#makeHost();
  }

  get #identity(): string {
    return `${this.namespace} ${this.pid}`;
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** The paths of what it has open. */
  get openPaths(): string[] {
    return [...this.#descriptors.values()].map(({path}) => path);
  }

  /** Ends it at once: nothing that it has begun goes on. */
  kill(): void {
    this.#isKilled = true;
    this.#descriptors.clear();
    this.#machine.alive.delete(this.#identity);
  }

  /** The process has ended by itself. */
  exit(): void {
    this.#machine.alive.delete(this.#identity);
  }

  /** Stops it, as SIGSTOP or a laptop that sleeps does; what it waits for comes when it goes on. */
  stop(): void {
    this.#waiting ??= [];
  }

  continue(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const action of waiting) this.#machine.world.after(0, () => this.#act(action));
  }

  /** Calls the action after some time, unless the process was killed by then; while it is stopped, later. */
  after(ms: number, action: () => void) {
    return this.#machine.world.after(ms, () => this.#act(action));
  }

  /** Resolves to the result of an action that takes some time and may fail. */
  step<T>(action: () => T, ms = this.#machine.world.random() * 2): Promise<T> {
    return new Promise((resolve, reject) => {
      this.after(ms, () => {
        try {
          resolve(action());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #act(action: () => void): void {
    if (this.#isKilled) return;
    if (this.#waiting === undefined) action();
    else this.#waiting.push(action);
  }

  #makeHost(): Host {
    const {world, alive} = this.#machine;
    return {
      ...systemHost(),
      env: {},
      platform: 'linux',
      clock: this.#clock(),
      files: this.#files() as unknown as FileSystem,
      cwd: () => '/a',
      processId: () => this.pid,
      hostName: () => 'machine',
      bootId: () => this.#machine.bootId,
      pidNamespace: () => this.namespace,
      processStart: pid => `start of ${pid}`,
      isProcessAlive: pid => alive.has(`${this.namespace} ${pid}`),
      nextTurn: () => this.step(() => {}, 0),
      processorTime: () => 0,
      random: () => world.random(),
      uuid: () => uuid(world),
    };
  }

  #clock(): Clock {
    const {world} = this.#machine;
    const after = (ms: number, action: () => void) => {
      const happening = this.after(ms, action);
      return () => {
        happening.isCancelled = true;
      };
    };
    return {
      now: () => world.now + world.clockOffset,
      monotonic: () => world.now,
      idle: () => world.now,
      after,
      every(ms, action) {
        let cancel = () => {};
        const again = () => {
          cancel = after(ms, () => {
            again();
            action();
          });
        };
        again();
        return () => cancel();
      },
      sleep: (ms: number, signal?: StopSignal) =>
        new Promise((resolve, reject) => {
          signal?.throwIfAborted();
          const onAbort = () => {
            cancel();
            reject(signal?.reason);
          };
          const cancel = after(ms, () => {
            signal?.removeEventListener('abort', onAbort);
            resolve();
          });
          signal?.addEventListener('abort', onAbort, {once: true});
        }),
    };
  }

  /** One call of the system; throws where it is to fail. */
  #call(): void {
    this.#calls += 1;
    const {failing} = this.#faults;
    if (failing !== undefined && this.#calls === failing.call) {
      this.#machine.world.tell(`a call of process ${this.pid} fails with ${failing.code}`);
      throw systemError(failing.code);
    }
  }

  /** How much of so many bytes a read or write does. */
  #part(length: number): number {
    const {shortOneIn} = this.#faults;
    const {world} = this.#machine;
    return shortOneIn !== undefined && length > 1 && world.oneIn(shortOneIn)
      ? 1 + world.below(length - 1)
      : length;
  }

  #files() {
    const {disks} = this.#machine;
    const call = <T>(action: () => T) =>
      this.step(() => {
        this.#call();
        return action();
      });
    const stats = (inode: Inode | undefined, bigint: boolean) => {
      if (inode === undefined) throw systemError('ENOENT');
      return statsOf(inode, bigint);
    };
    const statPath = (path: string, bigint: boolean) =>
      disks.isDirectory(path) ? directoryStats(bigint) : stats(disks.get(path), bigint);
    const fstat = (fd: number, bigint: boolean) => stats(this.#inode(fd), bigint);
    return {
      openSync: (path: string, flags: number) => this.#open(path, flags),
      readSync: (fd: number, into: Uint8Array, offset: number, length: number, position: number) =>
        this.#read(fd, into, offset, length, position),
      fstatSync: (fd: number) => fstat(fd, true),
      lstatSync: (path: string, {bigint = false, throwIfNoEntry = true} = {}) =>
        throwIfNoEntry || disks.get(path) !== undefined ? statPath(path, bigint) : undefined,
      closeSync: (fd: number) => void this.#descriptors.delete(fd),
      asyncFs: {
        open: (path: string, flags: number) => call(() => this.#open(path, flags)),
        read: (fd: number, into: Uint8Array, offset: number, length: number, position: number) =>
          call(() => ({bytesRead: this.#read(fd, into, offset, length, position), buffer: into})),
        fstat: (fd: number) => call(() => fstat(fd, true)),
        close: async (fd: number) => void this.#descriptors.delete(fd),
      },
      open: (path: string, flags: number | string) =>
        call(() => this.#handle(this.#open(path, flagsOf(flags)))),
      readFile: (path: string, encoding?: string) =>
        call(() => {
          const {content} = this.#there(path);
          return encoding === undefined ? Buffer.from(content) : content.toString('utf8');
        }),
      writeFile: (path: string, content: string | Uint8Array, {flag = 'w'} = {}) =>
        call(() => {
          const fd = this.#open(path, flagsOf(flag));
          const inode = this.#inode(fd);
          this.#descriptors.delete(fd);
          this.#takeRoom(content.length);
          inode.replace(Buffer.from(content));
          this.#touch(inode, path);
        }),
      copyFile: (from: string, to: string, mode = 0) =>
        call(() => {
          const source = this.#there(from);
          if ((mode & constants.COPYFILE_EXCL) !== 0 && disks.get(to) !== undefined)
            throw systemError('EEXIST');
          this.#takeRoom(source.size);
          const target = disks.get(to) ?? disks.create(to);
          target.replace(Buffer.from(source.content));
          this.#touch(target, to);
        }),
      link: (from: string, to: string) => call(() => disks.link(from, to)),
      rename: (from: string, to: string) => call(() => disks.rename(from, to)),
      unlink: (path: string) =>
        call(() => {
          if (disks.get(path) !== undefined) this.#machine.onUnlink?.(path);
          disks.unlink(path);
        }),
      rm: (path: string, {force = false} = {}) =>
        call(() => {
          if (!force || disks.get(path) !== undefined) disks.unlink(path);
        }),
      mkdir: (path: string) => call(() => disks.mkdir(path)),
      utimes: (path: string, _: unknown, mtime: Date | number) =>
        call(() => {
          const inode = this.#there(path);
          inode.mtimeNs =
            BigInt(Math.round(Number(mtime instanceof Date ? mtime.getTime() : mtime * 1000))) * 1_000_000n;
          inode.ctimeNs = disks.timeNs(path);
        }),
      stat: (path: string, {bigint = false} = {}) => call(() => statPath(path, bigint)),
      lstat: (path: string, {bigint = false} = {}) => call(() => statPath(path, bigint)),
      access: (path: string) =>
        call(() => {
          if (!disks.isDirectory(path)) this.#there(path);
        }),
      realpath: (path: string) => call(() => path),
      statfs: (path: string) => call(() => ({type: disks.traitsOf(path).type})),
    };
  }

  #there(path: string): Inode {
    const inode = this.#machine.disks.get(path);
    if (inode === undefined) throw systemError('ENOENT');
    return inode;
  }

  #inode(fd: number): Inode {
    const inode = this.#descriptors.get(fd)?.inode;
    if (inode === undefined) throw systemError('EBADF');
    return inode;
  }

  #open(path: string, flags: number): number {
    const {disks} = this.#machine;
    let inode = disks.get(path);
    if (inode !== undefined && (flags & constants.O_EXCL) !== 0) throw systemError('EEXIST');
    if (inode === undefined && !disks.isDirectory(path)) {
      if ((flags & constants.O_CREAT) === 0) throw systemError('ENOENT');
      inode = disks.create(path);
    }
    if (inode !== undefined && (flags & constants.O_TRUNC) !== 0) inode.replace(Buffer.alloc(0));
    const fd = this.#nextDescriptor++;
    this.#descriptors.set(fd, {inode, path, flags});
    return fd;
  }

  #read(fd: number, into: Uint8Array, offset: number, length: number, position: number): number {
    const found = this.#inode(fd).content.subarray(position, position + this.#part(length));
    into.set(found, offset);
    return found.length;
  }

  async *#stream(fd: number): AsyncGenerator<Buffer> {
    const block = Buffer.alloc(65_536);
    for (let position = 0; ; ) {
      const length = await this.step(() => this.#read(fd, block, 0, block.length, position));
      if (length === 0) return;
      yield block.subarray(0, length);
      position += length;
    }
  }

  #write(fd: number, bytes: Uint8Array, position?: number): number {
    const descriptor = this.#descriptors.get(fd);
    const inode = this.#inode(fd);
    if (descriptor === undefined || !isWriting(descriptor.flags)) throw systemError('EBADF');
    const length = this.#takeRoom(this.#part(bytes.length));
    const appends = (descriptor.flags & constants.O_APPEND) !== 0;
    inode.write(appends ? inode.size : (position ?? 0), bytes.subarray(0, length));
    this.#touch(inode, descriptor.path);
    if ((descriptor.flags & constants.O_DSYNC) === constants.O_DSYNC && this.#heedsSyncFlag(descriptor.path))
      inode.sync();
    return length;
  }

  #heedsSyncFlag(path: string): boolean {
    return this.#machine.disks.traitsOf(path).type === 0xef53;
  }

  #takeRoom(bytes: number): number {
    if (this.#room <= 0 && bytes > 0) {
      const {fullMs} = this.#faults;
      if (fullMs !== undefined && !this.#isMakingRoom) this.after(fullMs, () => this.#makeRoom());
      this.#isMakingRoom = true;
      throw systemError('ENOSPC');
    }
    const taken = Math.min(bytes, this.#room);
    this.#room -= taken;
    return taken;
  }

  #makeRoom(): void {
    this.#machine.world.tell('there is room on the disks again');
    this.#room = Number.POSITIVE_INFINITY;
  }

  #touch(inode: Inode, path: string): void {
    inode.mtimeNs = inode.ctimeNs = this.#machine.disks.timeNs(path);
  }

  #handle(fd: number) {
    const call = <T>(action: () => T) =>
      this.step(() => {
        this.#call();
        return action();
      });
    const sync = () =>
      call(() => {
        const {inode, path} = this.#descriptors.get(fd) ?? {};
        if (path === undefined) throw systemError('EBADF');
        if (inode === undefined) this.#machine.disks.syncDirectory(path);
        else inode.sync();
      });
    return {
      fd,
      read: (into: Uint8Array, offset: number, length: number, position: number) =>
        call(() => ({bytesRead: this.#read(fd, into, offset, length, position)})),
      write: (bytes: Uint8Array | string, offset = 0, length?: number) =>
        call(() => {
          const whole = Buffer.from(bytes as Uint8Array);
          // A string is written at a position, which is then the second parameter.
          if (typeof bytes === 'string') return {bytesWritten: this.#write(fd, whole, offset)};
          return {
            bytesWritten: this.#write(fd, whole.subarray(offset, offset + (length ?? whole.length - offset))),
          };
        }),
      readFile: () => call(() => this.#inode(fd).content.toString('utf8')),
      writeFile: (bytes: Uint8Array | string) =>
        call(() => {
          const whole = Buffer.from(bytes as Uint8Array);
          for (let at = 0; at < whole.length; ) at += this.#write(fd, whole.subarray(at), at);
        }),
      chmod: async () => {},
      chown: async () => {},
      createReadStream: () => this.#stream(fd),
      stat: ({bigint = false} = {}) => call(() => statsOf(this.#inode(fd), bigint)),
      utimes: (_: unknown, mtime: Date) =>
        call(() => {
          this.#inode(fd).mtimeNs = BigInt(mtime.getTime()) * 1_000_000n;
        }),
      sync,
      datasync: sync,
      close: async () => void this.#descriptors.delete(fd),
    };
  }
}

function flagsOf(flags: number | string): number {
  if (typeof flags === 'number') return flags;
  const {O_CREAT, O_EXCL, O_APPEND, O_RDWR, O_TRUNC, O_WRONLY} = constants;
  const known: Record<string, number> = {
    r: 0,
    'r+': O_RDWR,
    w: O_WRONLY | O_CREAT | O_TRUNC,
    wx: O_WRONLY | O_CREAT | O_EXCL,
    'wx+': O_RDWR | O_CREAT | O_EXCL,
    'ax+': O_RDWR | O_CREAT | O_EXCL | O_APPEND,
  };
  const found = known[flags];
  if (found === undefined) throw new Error(`The simulated disk knows no flags ${flags}.`);
  return found;
}

/** What stat(2) found is asked through its prototype, as in Node: to copy these took a tenth of a story. */
const kind = {isSymbolicLink: () => false, isFIFO: () => false, isSocket: () => false};
const fileKind = {...kind, isFile: () => true, isDirectory: () => false};
const directoryKind = {...kind, isFile: () => false, isDirectory: () => true};

function statsOf(inode: Inode, bigint: boolean) {
  const {dev, ino, size, mtimeNs, ctimeNs} = inode;
  return bigint
    ? {__proto__: fileKind, dev, ino, size: BigInt(size), mtimeNs, ctimeNs, nlink: 1n, mode: 0o100644n}
    : {
        __proto__: fileKind,
        dev: Number(dev),
        ino: Number(ino),
        size,
        atimeMs: Number(mtimeNs) / 1e6,
        mtimeMs: Number(mtimeNs) / 1e6,
        atime: new Date(0),
        mtime: new Date(Number(mtimeNs / 1_000_000n)),
        mode: 0o100644,
        uid: process.getuid?.(),
      };
}

function directoryStats(bigint: boolean) {
  return bigint ? {...directoryKind, dev: 1n, ino: 0n} : {...directoryKind, dev: 1, ino: 0};
}

/** Which files are whose is told by tokens that this process remembers: the same story told twice must not meet its own. */
let told = 0;

function uuid(world: World): string {
  told += 1;
  const hex = () =>
    Math.floor(world.random() * 2 ** 16)
      .toString(16)
      .padStart(4, '0');
  const number = told.toString(16).padStart(8, '0');
  return `${number}-${hex()}-4${hex().slice(1)}-a${hex().slice(1)}-${hex()}${hex()}${hex()}`;
}
