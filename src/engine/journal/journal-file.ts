import type {Stats} from 'node:fs';
import {MediaError} from '../../errors.ts';
import {constants, type FileSystem} from '../../lib/files/file-system.ts';
import {ownershipProblem, type User} from '../../lib/files/ownership.ts';
import {shellQuoted} from '../../lib/shell.ts';
import {systemCode, systemReason} from '../../lib/system-code.ts';
import {journalAccessError, unusableJournalError} from './journal-errors.ts';

/** The methods of node's FileHandle that a journal needs. */
export interface JournalHandle {
  readonly fd: number;
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{bytesRead: number}>;
  /** Appends at the current end of the file. */
  write(buffer: Uint8Array, offset: number, length: number): Promise<{bytesWritten: number}>;
  stat(): Promise<Pick<Stats, 'isFile' | 'size' | 'mtimeMs' | 'uid' | 'gid' | 'mode'>>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

export type ReadHandle = Pick<JournalHandle, 'read'>;

/** Reads a journal that has no file yet. */
export const emptyHandle: ReadHandle = {read: async () => ({bytesRead: 0})};

/** A handle that opens the file for each read, so that it uses no descriptor in between. */
export function lazyHandle(files: FileSystem, path: string, displayPath: string, user?: User): ReadHandle {
  return {
    async read(buffer, offset, length, position) {
      const handle = await openJournalFile(files, path, displayPath, 'read', {user});
      return handle.read(buffer, offset, length, position).finally(() => handle.close());
    },
  };
}

/**
 * Opens a journal, which must be a regular file; access `create` creates it with mode 0600. `syncsWrites`: each write
 * resolves when it is durable. `user`: rejects if other users than this one may write the file.
 */
export async function openJournalFile(
  files: FileSystem,
  path: string,
  displayPath: string,
  access: 'read' | 'write' | 'create',
  {syncsWrites = false, user}: {syncsWrites?: boolean; user?: User | undefined} = {},
): Promise<JournalHandle> {
  const {O_RDONLY, O_RDWR, O_CREAT, O_APPEND, O_DSYNC, O_NOFOLLOW = 0, O_NONBLOCK = 0} = constants;
  const writing = O_RDWR | O_APPEND | (syncsWrites ? O_DSYNC : 0);
  const flags = access === 'read' ? O_RDONLY : writing | (access === 'create' ? O_CREAT : 0);
  // Windows has no O_NOFOLLOW. If lstat() fails, open() fails too, and its error names the reason.
  const stats = await files.lstat(path).catch(() => undefined);
  if (stats?.isSymbolicLink()) throw notRegularError(displayPath, 'a symbolic link');
  if (stats?.isDirectory()) throw notRegularError(displayPath, 'a directory');
  if (stats?.isFile() === false) throw notRegularError(displayPath, 'not a regular file');
  const handle = await files.open(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600).catch(error => {
    throw openError(displayPath, error);
  });
  try {
    const openStats = await handle.stat();
    if (!openStats.isFile()) throw notRegularError(displayPath, 'not a regular file');
    const problem = user && ownershipProblem(displayPath, openStats, user, user.groupId());
    if (problem === undefined) return handle;
    const hint = `If you trust its content, use a copy of your own: cp ${shellQuoted(displayPath)} NEW-FILE`;
    throw unusableJournalError(`${problem.why}, so it is not trusted`, problem.remedy ?? hint);
  } catch (error) {
    await handle.close();
    throw error instanceof MediaError ? error : openError(displayPath, error);
  }
}

/** The error for what no journal can be; `what` completes the sentence "FILE is ...". */
function notRegularError(displayPath: string, what: string): MediaError {
  return unusableJournalError(
    `${displayPath} is ${what}, so it is not a journal`,
    'Name the file itself, or one that does not exist yet.',
  );
}

/** The error for a journal that the system could not open. */
export function openError(displayPath: string, error: unknown): MediaError {
  switch (systemCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new MediaError('file_missing', `The journal ${displayPath} does not exist.`, {
        cause: error,
        hint: 'Check its name; the directory of a new journal has to exist.',
      });
    case 'ELOOP':
      return notRegularError(displayPath, 'a symbolic link');
    default:
      return unusableJournalError(
        `The journal ${displayPath} could not be opened: ${systemReason(error)}`,
        'Name a file that you may read and write.',
        error,
      );
  }
}

/** For `catch`: undefined for a journal that does not exist. */
export function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof MediaError) || error.code !== 'file_missing') throw error;
}

/** Appends all bytes, in several writes if necessary. */
export async function appendAll(handle: Pick<JournalHandle, 'write'>, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length; )
    offset += (await handle.write(bytes, offset, bytes.length - offset)).bytesWritten;
}

/** Reads `length` bytes from `offset` on; fewer only at the end of the file. */
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

/** One line of a file; `bytes` are without the line break. */
export interface RawLine {
  bytes: Buffer;
  offset: number;
  hasLineBreak: boolean;
}

/** In bytes: most journals fit into the first block, and later blocks grow. */
const firstBlockBytes = 64 * 1024;
const largestBlockBytes = 1024 * 1024;
/** In bytes: no line of a journal is longer. */
export const longestLine = 8 * 1024 * 1024;

/** Reads the lines from an offset on, block by block. The bytes of a block are valid until the next block is read. */
export async function* blocksOf(
  handle: ReadHandle,
  displayPath: string,
  from: number,
): AsyncGenerator<Iterable<RawLine>> {
  let buffer = Buffer.allocUnsafeSlow(firstBlockBytes);
  /** How many bytes of an incomplete line the buffer begins with. */
  let filled = 0;
  for (let position = from; ; ) {
    const reading = handle.read(buffer, filled, buffer.length - filled, position);
    const {bytesRead: length} = await reading.catch(error => {
      throw journalAccessError(displayPath, 'read', error);
    });
    const offset = position - filled;
    if (length === 0 || filled > longestLine) {
      if (filled > 0) yield [{bytes: buffer.subarray(0, filled), offset, hasLineBreak: false}];
      return;
    }
    const bytes = buffer.subarray(0, filled + length);
    const whole = bytes.lastIndexOf(10) + 1;
    if (whole > 0) yield linesIn(bytes.subarray(0, whole), offset);
    position += length;
    filled = bytes.length - whole;
    // A full block shows that more follows, and a line may be longer than what is free in this buffer.
    const isFull = bytes.length === buffer.length && buffer.length < largestBlockBytes;
    const next = isFull || 2 * filled > buffer.length ? Buffer.allocUnsafeSlow(2 * buffer.length) : buffer;
    bytes.copy(next, 0, whole);
    buffer = next;
  }
}

/** The lines of a block, which ends with a line break and begins at an offset of the file. */
function* linesIn(bytes: Buffer, offset: number): Generator<RawLine> {
  for (let begin = 0; begin < bytes.length; ) {
    const end = bytes.indexOf(10, begin);
    yield {bytes: bytes.subarray(begin, end), offset: offset + begin, hasLineBreak: true};
    begin = end + 1;
  }
}

/** The error for a line that is not a journal line; `what` completes the sentence "Line N ...". */
export function damagedLineError(displayPath: string, number: number, what: string): MediaError {
  return unusableJournalError(
    `The journal ${displayPath} is damaged: line ${number} ${what}`,
    `Nothing was changed. Check line ${number}: fix it, or delete it if you know the result of that upload.`,
  );
}
