import type {UploadResult} from '../engine/transfer/outcome.ts';
import {LibraryError} from './library-face.ts';
import {checkOptions} from './option-checks.ts';
import type {UploadInput} from './sources.ts';
import {type UploadOptions, uploadAll, uploadChecks} from './upload-all.ts';

/** The result of `upload`: the file is stored, now or by an earlier call with the same journal. */
export type OneUploadResult = Extract<UploadResult, {status: 'uploaded' | 'skipped'}>;

/** The options of `upload`: those of `uploadAll`, except for those that are for several files, and dry runs. */
export type OneUploadOptions = Omit<UploadOptions, 'concurrency' | 'dryRun'>;

/**
 * Uploads one file and resolves to its result. Rejects with the MediaError of a result that has one: `code` is
 * `outcome_unknown` if the file may be stored, and `record_mismatch` if it is, but differs. Rejects like `uploadAll`
 * otherwise: once `signal` is aborted, with its reason, unless the file is or may be stored.
 */
export async function upload(input: UploadInput, options: OneUploadOptions): Promise<OneUploadResult> {
  const {concurrency, dryRun, ...ofOne} = uploadChecks;
  checkOptions(options, ofOne);
  let result: UploadResult | undefined;
  try {
    for await (const each of uploadAll([input], options)) result = each;
  } catch (error) {
    if (options.signal?.aborted !== true || result === undefined || result.status === 'failed') throw error;
  }
  if (result === undefined) throw new LibraryError('not_media', 'The file is neither an image nor a video.');
  if (result.status === 'uploaded' || result.status === 'skipped') return result;
  throw 'error' in result ? result.error : new Error('Only a dry run checks a file without sending it.');
}
