import {commandLine} from '../../src/cli/hints/command-line.ts';
import {MediaError, type PlainError} from '../../src/errors.ts';
import {type Hint, hintText} from '../../src/hint.ts';

/** An error as the command line shows it, with its hint as text; anything else as it is. */
export function inWords(error: MediaError): PlainError;
export function inWords(error: unknown): unknown;
export function inWords(error: unknown): unknown {
  return error instanceof MediaError ? error.inWordsOf(commandLine()) : error;
}

/** A hint as the command line shows it. */
export function textOf(hint: Hint | undefined): string | undefined {
  return hint && hintText(hint, commandLine());
}

/** The hint of an error as the command line shows it. */
export function hintOf(error: MediaError | undefined): string | undefined {
  return textOf(error?.hint);
}

/** The promise; its error has the hint as text. */
export function withWords<Value>(promise: Promise<Value>): Promise<Value> {
  return promise.catch(error => {
    throw inWords(error);
  });
}
