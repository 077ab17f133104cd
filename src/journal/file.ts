import {constants, type Stats} from 'node:fs';
import {MediaError} from '../errors.ts';
import type {FileSystem} from '../lib/files/file-system.ts';
import {ownershipProblem, type User} from '../lib/files/ownership.ts';
import {shellQuoted} from '../lib/shell.ts';
import {systemCode, systemReason} from '../lib/system-code.ts';
import {journalFailed, unusable} from './errors.ts';

/** The methods of an open file that a journal needs; node's FileHandle has them. */
export interface JournalHandle {
  readonly fd: number;
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{bytesRead: number}>;
  /** Appends at the current end of the file. */
  write(buffer: Uint8Array, offset: number, length: number): Promise<{bytesWritten: number}>;
  stat(): Promise<Pick<Stats, 'isFile' | 'size' | 'mtimeMs' | 'uid' | 'gid' | 'mode'>>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** The methods that are needed to read a journal. */
export type ReadHandle = Pick<JournalHandle, 'read'>;

/** A file that is opened anew for each read, so that it uses no descriptor in between. */
export function reopening(files: FileSystem, path: string, shown: string, user?: User): ReadHandle {
  return {
    async read(buffer, offset, length, position) {
      const handle = await openJournalFile(files, path, shown, 'read', {user});
      return handle.read(buffer, offset, length, position).finally(() => handle.close());
    },
  };
}

/**
 * Opens a journal, a regular file, which `create` makes (0600). `syncsWrites`: whether each write is to be durable; `user`: who is to
 * believe it, so that it is refused if others may write it.
 */
export async function openJournalFile(
  files: FileSystem,
  path: string,
  shown: string,
  access: 'read' | 'write' | 'create',
  {syncsWrites = false, user}: {syncsWrites?: boolean; user?: User | undefined} = {},
): Promise<JournalHandle> {
  const {O_RDONLY, O_RDWR, O_CREAT, O_APPEND, O_DSYNC, O_NOFOLLOW = 0, O_NONBLOCK = 0} = constants;
  const writing = O_RDWR | O_APPEND | (syncsWrites ? O_DSYNC : 0);
  const flags = access === 'read' ? O_RDONLY : writing | (access === 'create' ? O_CREAT : 0);
  // What cannot be found cannot be opened either, and that says why.
  const stats = await files.lstat(path).catch(() => undefined);
  if (stats?.isSymbolicLink()) throw notRegular(shown, 'a symbolic link');
  if (stats?.isDirectory()) throw notRegular(shown, 'a directory');
  if (stats?.isFile() === false) throw notRegular(shown, 'not a regular file');
  const handle = await files.open(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600).catch(error => {
    throw cannotOpen(shown, error);
  });
  try {
    const opened = await handle.stat();
    if (!opened.isFile()) throw notRegular(shown, 'not a regular file');
    const problem = user && ownershipProblem(shown, opened, user, user.groupId());
    if (problem === undefined) return handle;
    const hint = `If you trust its content, use a copy of your own: cp ${shellQuoted(shown)} NEW-FILE`;
    throw unusable(`${problem.why}, so it is not trusted`, problem.remedy ?? hint);
  } catch (error) {
    await handle.close();
    throw error instanceof MediaError ? error : cannotOpen(shown, error);
  }
}

function notRegular(shown: string, what: string): MediaError {
  return unusable(
    `${shown} is ${what}, so it is not a journal`,
    'Name the file itself, or one that does not exist yet.',
  );
}

/** The error for a journal that could not be opened. */
export function cannotOpen(shown: string, error: unknown): MediaError {
  switch (systemCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new MediaError('file_missing', `The journal ${shown} does not exist.`, {
        cause: error,
        hint: 'Check its name; the directory of a new journal has to exist.',
      });
    case 'ELOOP':
      return notRegular(shown, 'a symbolic link');
    default:
      return unusable(
        `The journal ${shown} could not be opened: ${systemReason(error)}`,
        'Name a file that you may read and write.',
        error,
      );
  }
}

/** Appends all bytes, in several writes if necessary. */
export async function appendAll(handle: Pick<JournalHandle, 'write'>, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await handle.write(bytes, done, bytes.length - done)).bytesWritten;
}

/** The bytes from `offset` on; fewer only at the end of the file. */
export async function readAll(handle: ReadHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const {bytesRead} = await handle.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** One line of a file, without its line break; `ended`: whether the file has that. */
export interface RawLine {
  bytes: Buffer;
  offset: number;
  ended: boolean;
}

/** Most journals fit into the first block; the next ones grow. */
const firstBlockBytes = 64 * 1024;
const largestBlockBytes = 1024 * 1024;
/** In bytes: a longer line is not one of a journal. */
export const longestLine = 8 * 1024 * 1024;

/** The lines of a file from an offset on, one block at a time; the bytes of a block are valid until the next one. */
export async function* blocksOf(
  handle: ReadHandle,
  shown: string,
  from: number,
): AsyncGenerator<Iterable<RawLine>> {
  let buffer = Buffer.allocUnsafeSlow(firstBlockBytes);
  /** The bytes in the buffer: the beginning of a line. */
  let filled = 0;
  for (let position = from; ; ) {
    const reading = handle.read(buffer, filled, buffer.length - filled, position);
    const {bytesRead: length} = await reading.catch(error => {
      throw journalFailed(shown, 'read', error);
    });
    const offset = position - filled;
    if (length === 0 || filled > longestLine) {
      if (filled > 0) yield [{bytes: buffer.subarray(0, filled), offset, ended: false}];
      return;
    }
    const bytes = buffer.subarray(0, filled + length);
    const whole = bytes.lastIndexOf(10) + 1;
    if (whole > 0) yield linesIn(bytes.subarray(0, whole), offset);
    position += length;
    filled = bytes.length - whole;
    const isFull = bytes.length === buffer.length && buffer.length < largestBlockBytes;
    const next = isFull || 2 * filled > buffer.length ? Buffer.allocUnsafeSlow(2 * buffer.length) : buffer;
    bytes.copy(next, 0, whole);
    buffer = next;
  }
}

function* linesIn(bytes: Buffer, offset: number): Generator<RawLine> {
  for (let begin = 0; begin < bytes.length; ) {
    const end = bytes.indexOf(10, begin);
    yield {bytes: bytes.subarray(begin, end), offset: offset + begin, ended: true};
    begin = end + 1;
  }
}

/** The error for an unusable line; `what` completes the sentence "Line N ...". */
export function damagedLine(shown: string, number: number, what: string): MediaError {
  return unusable(
    `The journal ${shown} is damaged: line ${number} ${what}`,
    `Nothing was changed. Check line ${number}: fix it, or delete it if you know the result of that upload.`,
  );
}
