import {constants} from 'node:fs';
import type {FileHandle} from 'node:fs/promises';
import type {FileSystem} from '../../../src/lib/files/file-system.ts';

/** A change of a disk. Files have numbers, since their names come and go. */
export type Change =
  | {kind: 'write'; file: number; offset: number; bytes: Buffer}
  | {kind: 'empty'; file: number}
  | {kind: 'sync'; file: number}
  /** What one call does to names: each leads to a file now, or to nothing. */
  | {kind: 'names'; names: readonly (readonly [path: string, file: number | undefined])[]}
  | {kind: 'directory'; path: string}
  | {kind: 'sync names'; directory: string}
  /** Something else that happened then: what was told to somebody, or what a service has. */
  | {kind: 'event'; event: string};

/** What is on a disk. */
export interface Image {
  directories: ReadonlySet<string>;
  names: ReadonlyMap<string, number>;
  contents: ReadonlyMap<number, Buffer>;
}

type Writing = (...parameters: unknown[]) => Promise<{bytesWritten: number}>;

/** Writes down what is changed through a file system, in order. */
export class Recorder {
  readonly changes: Change[] = [];
  readonly files: FileSystem;
  readonly #inner: FileSystem;
  readonly #heedsSyncFlag: boolean;
  readonly #names: Map<string, number>;
  readonly #contents: Map<number, Buffer>;

  /** `heedsSyncFlag`: whether each write of a file that was opened with O_DSYNC is durable when it returns. */
  constructor(inner: FileSystem, start: Image, heedsSyncFlag: boolean) {
    this.#inner = inner;
    this.#heedsSyncFlag = heedsSyncFlag;
    this.#names = new Map(start.names);
    this.#contents = new Map(start.contents);
    this.files = {...inner, ...this.#changing()} as unknown as FileSystem;
  }

  event(event: string): void {
    this.changes.push({kind: 'event', event});
  }

  #changing() {
    const inner = this.#inner;
    return {
      open: (...parameters: Parameters<FileSystem['open']>) => this.#open(...parameters),
      writeFile: async (path: string, content: string | Uint8Array, options: {flag?: string} = {}) => {
        await inner.writeFile(path, content, options);
        this.#write(this.#emptied(path), 0, Buffer.from(content as Uint8Array));
      },
      copyFile: async (from: string, to: string, mode?: number) => {
        await inner.copyFile(from, to, mode);
        this.#write(this.#emptied(to), 0, this.#contents.get(this.#names.get(from) ?? -1) ?? Buffer.alloc(0));
      },
      link: async (from: string, to: string) => {
        await inner.link(from, to);
        this.#name([to, this.#names.get(from)]);
      },
      rename: async (from: string, to: string) => {
        await inner.rename(from, to);
        this.#name([to, this.#names.get(from)], [from, undefined]);
      },
      unlink: async (path: string) => {
        await inner.unlink(path);
        this.#name([path, undefined]);
      },
      rm: async (path: string, options?: Parameters<FileSystem['rm']>[1]) => {
        await inner.rm(path, options);
        if (this.#names.has(path)) this.#name([path, undefined]);
      },
      mkdir: async (path: string, options?: Parameters<FileSystem['mkdir']>[1]) => {
        await inner.mkdir(path, options);
        this.changes.push({kind: 'directory', path});
      },
    };
  }

  #name(...names: [path: string, file: number | undefined][]): void {
    for (const [path, file] of names) {
      if (file === undefined) this.#names.delete(path);
      else this.#names.set(path, file);
    }
    this.changes.push({kind: 'names', names});
  }

  /** The file at a path, which is there and empty from now on. */
  #emptied(path: string): number {
    const there = this.#names.get(path);
    if (there === undefined) return this.#created(path);
    this.#contents.set(there, Buffer.alloc(0));
    this.changes.push({kind: 'empty', file: there});
    return there;
  }

  #created(path: string): number {
    const file = Math.max(0, ...this.#contents.keys()) + 1;
    this.#contents.set(file, Buffer.alloc(0));
    this.#name([path, file]);
    return file;
  }

  #write(file: number, offset: number, bytes: Buffer): void {
    this.#contents.set(file, written(this.#contents.get(file), offset, bytes));
    this.changes.push({kind: 'write', file, offset, bytes});
  }

  async #open(...[path, flags = 'r', mode]: Parameters<FileSystem['open']>) {
    const handle = await this.#inner.open(path, flags, mode);
    const bits = bitsOf(flags);
    const there = this.#names.get(String(path));
    if (there !== undefined && (bits & constants.O_TRUNC) !== 0) this.#emptied(String(path));
    const isNew = there === undefined && (bits & constants.O_CREAT) !== 0;
    const file = isNew ? this.#created(String(path)) : there;
    return Object.assign(handle, this.#noted(handle, {file, path: String(path), bits}));
  }

  #noted(handle: FileHandle, {file, path, bits}: {file: number | undefined; path: string; bits: number}) {
    const {write, writeFile, sync, datasync} = handle;
    let end = 0;
    const note = (bytes: Buffer, position: number | null | undefined) => {
      if (file === undefined) throw new Error(`${path} is not known.`);
      const appends = (bits & constants.O_APPEND) !== 0;
      const offset = appends ? (this.#contents.get(file)?.length ?? 0) : (position ?? end);
      this.#write(file, offset, bytes);
      end = offset + bytes.length;
      if ((bits & constants.O_DSYNC) === constants.O_DSYNC && this.#heedsSyncFlag)
        this.changes.push({kind: 'sync', file});
    };
    const synced = (call: () => Promise<void>) => async () => {
      await call.call(handle);
      this.changes.push(file === undefined ? {kind: 'sync names', directory: path} : {kind: 'sync', file});
    };
    return {
      write: async (bytes: string | Uint8Array, from?: number, length?: number, position?: number) => {
        const whole = Buffer.from(bytes as Uint8Array);
        const result = await (write as Writing).call(handle, bytes, from, length, position);
        const start = typeof bytes === 'string' ? 0 : (from ?? 0);
        note(whole.subarray(start, start + result.bytesWritten), typeof bytes === 'string' ? from : position);
        return result;
      },
      writeFile: async (content: string | Uint8Array) => {
        await writeFile.call(handle, content);
        note(Buffer.from(content as Uint8Array), undefined);
      },
      sync: synced(sync),
      datasync: synced(datasync),
    };
  }
}

/** A content after a write; a gap before it is filled with zeros. */
export function written(before: Buffer | undefined, offset: number, bytes: Uint8Array): Buffer {
  const after = Buffer.alloc(Math.max(before?.length ?? 0, offset + bytes.length));
  before?.copy(after);
  after.set(bytes, offset);
  return after;
}

function bitsOf(flags: string | number): number {
  if (typeof flags === 'number') return flags;
  const {O_CREAT, O_TRUNC, O_APPEND} = constants;
  const [kind] = flags;
  if (kind === 'w') return O_CREAT | O_TRUNC;
  return kind === 'a' ? O_CREAT | O_APPEND : 0;
}
