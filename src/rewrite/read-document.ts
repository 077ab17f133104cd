import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {MediaError} from '../errors.ts';
import {systemReason} from '../lib/system-code.ts';
import type {DocumentFile} from './documents.ts';
import {tooComplex} from './scanner.ts';

/** How large a document may be, in MiB. */
const largestMiB = 4;

/** The bytes of a document; rejects with `file_unreadable`, `not_a_file` or `document_too_complex`. */
export async function readDocument({name, path}: DocumentFile): Promise<Buffer> {
  try {
    // Without O_NONBLOCK, a FIFO would wait for a writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new MediaError('not_a_file', `${name} is not a regular file.`);
      if (stats.size > largestMiB * 1024 ** 2)
        throw tooComplex(`${name} is too large: more than ${largestMiB} MiB.`);
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (cause instanceof MediaError) throw cause;
    throw new MediaError('file_unreadable', `${name} could not be read: ${systemReason(cause)}.`, {cause});
  }
}
