import {join} from 'node:path';
import type {Readable} from 'node:stream';
import {emptyFileError, MediaError, systemError} from '../../../errors.ts';
import {fact, phrase} from '../../../hint.ts';
import type {StopSignal} from '../../../host.ts';
import type {FileSystem} from '../../../lib/files/file-system.ts';
import {Disk} from './disk.ts';
import {OpenFile} from './open-file.ts';
import type {OpenSource, Source} from './source.ts';

/** Bytes that are no file, to be uploaded as one. */
export interface SpoolOptions {
  /** What they are, as messages begin: "Standard input". */
  what: string;
  name: string;
  stream: () => Readable;
  temporaryDirectory: string;
  files: FileSystem;
}

/**
 * A stream as a source. It is written to a temporary file first, since Content-Length must be known before the first
 * byte is sent. The file's name is removed as soon as it is open, so that nothing is left behind even if the process is
 * killed. If the system does not allow that, as on Windows, the name is removed when the source is closed.
 */
export function spooledSource(options: SpoolOptions): Source {
  const {name} = options;
  return {name, relativePath: name, isOnce: true, open: signal => spool(options, signal)};
}

/** Writes the stream to a temporary file, and opens that; rejects if the stream is empty or yields text. */
async function spool(options: SpoolOptions, signal: StopSignal<Error>): Promise<OpenSource> {
  const {what, files} = options;
  const {fd, path, remove} = await openNameless(options).catch(error => {
    throw cannotSpool(options, error);
  });
  try {
    await copy(options, fd, signal);
    const stats = await files.asyncFs.fstat(fd, {bigint: true});
    if (stats.size === 0n) throw emptyFileError(what, 'was');
    const file = new Disk(files).fileOf(fd, path, stats, false, signal);
    return new OpenFile(what, file, undefined, remove);
  } catch (error) {
    await files.asyncFs.close(fd).finally(remove);
    if (error instanceof MediaError) throw error;
    if (signal.aborted) throw signal.reason;
    throw systemError('file_unreadable', phrase`${fact('subject', what, 'could')} not be read`, error);
  }
}

/** Writes the stream to an open file until its end; rejects at once when the signal is aborted. */
async function copy(options: SpoolOptions, fd: number, signal: StopSignal<Error>): Promise<void> {
  signal.throwIfAborted();
  const stream = options.stream();
  const giveUp = () => stream.destroy(signal.reason);
  signal.addEventListener('abort', giveUp, {once: true});
  try {
    for await (const chunk of stream) {
      if (!(chunk instanceof Uint8Array)) {
        const hint = 'A stream must yield Buffer or Uint8Array: leave out setEncoding().';
        throw new MediaError('usage', `${options.what} yields text, whose bytes are unknown.`, {hint});
      }
      await options.files.writeFile(fd, chunk).catch(error => {
        throw cannotSpool(options, error);
      });
    }
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** A new open file without a name, and a function that removes the name if the system did not allow it at once. */
async function openNameless({temporaryDirectory, files}: SpoolOptions) {
  const parent = await files.mkdtemp(join(temporaryDirectory, 'media-spool-'));
  const path = join(parent, 'spool');
  const remove = () => files.rm(parent, {recursive: true, force: true}).catch(() => {});
  try {
    return {fd: await files.asyncFs.open(path, 'wx+', 0o600), path, remove};
  } finally {
    await remove();
  }
}

/** The error for a stream that the temporary directory does not take. */
function cannotSpool({what, temporaryDirectory}: SpoolOptions, error: unknown): MediaError {
  const sentence = phrase`${fact('subject', what, 'could')} not be stored in ${temporaryDirectory}`;
  return systemError('local_failure', sentence, error, 'Set TMPDIR to a directory with enough space.');
}
