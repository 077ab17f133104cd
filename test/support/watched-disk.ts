import {constants} from 'node:fs';
import {basename} from 'node:path';
import {type FileSystem, systemFiles} from '../../src/lib/files/file-system.ts';

/**
 * The disk of this machine, as far as journals and locks use it: it notes what is changed and what is made durable, counts
 * what is open, and fails when it is told to. Writes are not durable by themselves.
 */
export class WatchedDisk {
  /** What was done, in order: `write NAME`, `sync NAME`, `rename NAME`, `rm NAME`. */
  readonly calls: string[] = [];
  /** The names of what is open. */
  readonly open: string[] = [];
  mostOpen = 0;
  /** Called before each call with its name and that of the file; what it throws is what the call fails with. */
  onCall: (call: string, name: string) => void | Promise<void> = () => {};
  readonly files: FileSystem;

  constructor(changes: Partial<FileSystem> = {}) {
    const watched = {
      ...systemFiles,
      open: (...parameters: Parameters<FileSystem['open']>) => this.#open(...parameters),
      // Nothing is known of the file system.
      statfs: () => Promise.reject(new Error('not known')),
      rename: async (from: string, to: string) => {
        await this.#call('rename', to);
        await systemFiles.rename(from, to);
      },
      rm: async (...[path, options]: Parameters<FileSystem['rm']>) => {
        this.calls.push(`rm ${basename(String(path))}`);
        await systemFiles.rm(path, options);
      },
      ...changes,
    };
    this.files = watched as unknown as FileSystem;
  }

  async #call(call: string, path: string): Promise<void> {
    await this.onCall(call, basename(path));
    this.calls.push(`${call} ${basename(path)}`);
  }

  async #open(...[path, flags, mode]: Parameters<FileSystem['open']>) {
    const name = basename(String(path));
    await this.onCall('open', name);
    const handle = await systemFiles.open(
      path,
      typeof flags === 'number' ? flags & ~constants.O_DSYNC : flags,
      mode,
    );
    this.open.push(name);
    this.mostOpen = Math.max(this.mostOpen, this.open.length);
    const {read, write, stat, sync, datasync, close} = handle;
    const noted =
      <Parameters extends unknown[], Result>(
        call: string,
        action: (...parameters: Parameters) => Promise<Result>,
      ) =>
      async (...parameters: Parameters) => {
        await this.#call(call, name);
        return action.apply(handle, parameters);
      };
    Object.assign(handle, {
      read: async (...parameters: Parameters<typeof read>) => {
        await this.onCall('read', name);
        return read.apply(handle, parameters);
      },
      stat: async (...parameters: Parameters<typeof stat>) => {
        await this.onCall('stat', name);
        return stat.apply(handle, parameters);
      },
      write: noted('write', write as (...parameters: unknown[]) => Promise<unknown>),
      sync: noted('sync', sync),
      datasync: noted('sync', datasync),
      close: async () => {
        this.open.splice(this.open.indexOf(name), 1);
        await close.call(handle);
        await this.onCall('close', name);
      },
    });
    return handle;
  }
}

/** An error as the system reports it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), {code});
}
