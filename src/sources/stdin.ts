import {type FileHandle, mkdtemp, open, rm} from 'node:fs/promises';
import {basename, join} from 'node:path';
import type {Readable} from 'node:stream';
import {MediaError, systemCode} from '../errors.ts';
import {OpenFile} from './file.ts';
import type {OpenSource, Source} from './source.ts';

export interface StdinOptions {
  stdin: Readable;
  /** The name that speaks for the content type; the bytes decide without one. */
  name?: string;
  temporaryDirectory: string;
}

/**
 * Standard input as a source. It is written to a temporary file first, since Content-Length has to be known before
 * the first byte is sent. The file loses its name as soon as it is open: not even a kill leaves it behind.
 */
export function stdinSource(options: StdinOptions): Source {
  const name = options.name === undefined ? '-' : basename(options.name);
  return {name, typeName: name, isOnce: true, open: signal => spool(options, signal)};
}

async function spool(options: StdinOptions, signal: AbortSignal): Promise<OpenSource> {
  const {handle, path} = await openNameless(options.temporaryDirectory).catch(error => {
    throw cannotSpool(options, error);
  });
  try {
    await copy(options, handle, signal);
    const stats = await handle.stat({bigint: true});
    if (stats.size === 0n) {
      throw new MediaError('empty_file', 'Standard input was empty: there is nothing to upload.');
    }
    return new OpenFile('Standard input', path, handle, stats);
  } catch (error) {
    await handle.close();
    if (error instanceof MediaError) throw error;
    throw signal.aborted ? signal.reason : cannotRead(error);
  }
}

async function copy(options: StdinOptions, handle: FileHandle, signal: AbortSignal): Promise<void> {
  const {stdin} = options;
  const giveUp = () => stdin.destroy(signal.reason as Error);
  signal.addEventListener('abort', giveUp, {once: true});
  try {
    signal.throwIfAborted();
    for await (const chunk of stdin) {
      await handle.appendFile(chunk as Uint8Array).catch(error => {
        throw cannotSpool(options, error);
      });
    }
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

async function openNameless(directory: string): Promise<{handle: FileHandle; path: string}> {
  const parent = await mkdtemp(join(directory, 'media-stdin-'));
  const path = join(parent, 'spool');
  try {
    return {handle: await open(path, 'wx+', 0o600), path};
  } finally {
    await rm(parent, {recursive: true, force: true});
  }
}

function cannotSpool(options: StdinOptions, error: unknown): MediaError {
  const text = systemCode(error) === 'ENOSPC' ? 'the disk is full' : reason(error);
  return new MediaError(
    'local_failure',
    `Standard input could not be kept in ${options.temporaryDirectory}: ${text}.`,
    {cause: error, hint: 'Set TMPDIR to a directory with room for it.'},
  );
}

function cannotRead(error: unknown): MediaError {
  return new MediaError('file_unreadable', `Standard input could not be read: ${reason(error)}.`, {
    cause: error,
  });
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
