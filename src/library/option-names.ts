import {MediaError} from '../errors.ts';

/** How options of the program, with their values, are written for the library. */
const rewordings: readonly (readonly [RegExp, string])[] = [
  [/, or the word embedded|, or another --profile with --once/g, ''],
  [/Pipe its content in: media upload .*/g, 'Upload its content as a stream: sourceOf(name, stream).'],
  [/--retry-max-wait (\d+)s/g, 'retryMaxWaitMs: $1000'],
  [/--content-type (\w+\/[\w.+-]*\w)/g, "contentType: '$1'"],
  [/--types (extension|content|strict)/g, "types: '$1'"],
  [/--on-unknown (hold|retry)/g, "onUnknown: '$1'"],
  [/--base-url (\S+)/g, "baseUrl: '$1'"],
  [/ --allow-http$/g, ', allowHttp: true'],
  [/--allow-http/g, 'allowHttp: true'],
  [/--cacert FILE/g, 'certificateAuthorities'],
  [/--journal(?: FILE)?/g, 'journal'],
  [/-c (\d+)/g, 'concurrency: $1'],
  [/--retry-max-wait/g, 'retryMaxWaitMs'],
  [/--content-type/g, 'contentType'],
  [/--timeout/g, 'timeoutMs'],
  [/--shard/g, 'a shard'],
  [/--(retries|concurrency|exclude)/g, '$1'],
];

/** A sentence of ours with the names that options have in the library. */
export function withOptionNames(sentence: string): string {
  return rewordings.reduce((words, [pattern, name]) => words.replace(pattern, name), sentence);
}

/** An error in the words of the library: its hint, and its message if that is about options; others may quote files. */
export function inOptionNames<Thrown>(error: Thrown): Thrown | MediaError {
  if (!(error instanceof MediaError)) return error;
  const {code, message, hint, status, serviceCode, words} = error;
  const isOfOptions = code === 'usage' || code === 'nothing_matched';
  return new MediaError(code, isOfOptions ? withOptionNames(message) : message, {
    ...{hint: hint && withOptionNames(hint), status, serviceCode, words},
    cause: inOptionNames(error.cause),
  });
}

/** What a call returns; what it throws is in the words of the library. */
export function calling<Result>(call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    throw inOptionNames(error);
  }
}
