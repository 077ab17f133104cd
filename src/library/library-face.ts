import {type ErrorCode, MediaError, type MediaErrorDetails, type PlainError} from '../errors.ts';
import {type Face, facts} from '../hint.ts';
import {shellQuoted, shellWord} from '../lib/shell.ts';

/** What the library has nothing like. */
function none<Key extends string>(...keys: readonly Key[]): Record<Key, undefined> {
  return Object.fromEntries(keys.map(key => [key, undefined])) as Record<Key, undefined>;
}

/**
 * How the library writes hints: options as its own, calls of its functions, and commands where only the program has
 * them.
 */
export const libraryFace: Face = {
  option: {
    allowHttp: 'allowHttp: true',
    baseUrl: (url, allowHttp) => `baseUrl: '${url}'${allowHttp ? ', allowHttp: true' : ''}`,
    certificateAuthorities: 'certificateAuthorities',
    concurrency: 'concurrency',
    contentType: type => (type === undefined ? 'contentType' : `contentType: '${type}'`),
    journal: 'journal',
    manifest: 'manifest',
    recursive: 'recursive: true',
    retries: 'retries',
    retryMaxWait: 'retryMaxWaitMs',
    shard: 'a shard',
    timeout: 'timeoutMs',
    types: rule => `types: '${rule}'`,
    ...none(
      'filesFrom',
      'frontMatter',
      'name',
      'noOnce',
      'once',
      'outDir',
      'output',
      'profile',
      'root',
      'static',
    ),
  },
  command: {
    mergeJournals: 'media journal merge',
    renewKey: 'Copy the key again from the profile page of the service.',
    sendAgain: (how, isLast) =>
      `. To send it again, ${{'next run': 'make the same call again', option: "add onUnknown: 'retry'", single: 'upload only that file'}[how]}${isLast ? '.' : ''}`,
    sendFewer: count => `concurrency: ${count}`,
    settle: (condition, journal, key) =>
      `${condition}: media journal resolve ${shellQuoted(journal)} ${shellWord(key)} --uploaded ID`,
    uploadDirectory: directory => `filesOf(['${directory}'], {recursive: true})`,
    uploadStream: 'Upload its content as a stream: sourceOf(name, stream).',
    uploadWithoutOnce: '.',
    waitLonger: seconds => `add retryMaxWaitMs: ${seconds}000`,
    ...none('upload', 'uploadStdin', 'uploadWithJournal'),
  },
  setting: {baseUrl: 'the base URL', clientCert: undefined, embedded: undefined},
  variable: {clientCert: undefined},
  fact: facts,
};

/** A failure that a user can understand: a stable code, one sentence, and what to do next. */
export type LibraryError = PlainError;
export const LibraryError: new (
  code: ErrorCode,
  message: string,
  details?: MediaErrorDetails<string>,
) => LibraryError = MediaError;

/** An error in the words of the library; anything else as it is. */
export function inLibraryWords<Thrown>(error: Thrown): Thrown | PlainError {
  return error instanceof MediaError ? error.inWordsOf(libraryFace) : error;
}

/** What a call returns; what it throws is in the words of the library. */
export function callInWords<Result>(call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    throw inLibraryWords(error);
  }
}
