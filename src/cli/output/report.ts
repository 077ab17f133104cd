import {MediaError, type PlainError} from '../../errors.ts';
import type {TerminalOutput} from '../../host.ts';
import {omitUndefined} from '../../lib/object.ts';
import {printable} from '../../lib/printable.ts';
import {jsonLine} from './escape.ts';
import {causesOf, failureSentence} from './failure-text.ts';
import type {DialectLine, ErrorFields, JsonOutputs, UnchangedLine} from './json-output.ts';
import {paint} from './terminal.ts';

export interface ReportOptions {
  stream: TerminalOutput;
  /** Print failures as JSON lines and, at the default level, nothing else. */
  json: boolean;
  color: boolean;
  level: 'quiet' | 'default' | 'verbose';
  inWords: (error: MediaError) => PlainError;
}

/** Something drawn on the same terminal, which is cleared while a line is written. */
export interface Drawing {
  clear(): void;
  draw(): void;
}

/** Standard error: failures, warnings and notes, in words or as JSON lines. */
export class Report {
  readonly level: ReportOptions['level'];
  readonly isJson: boolean;
  readonly #stream: TerminalOutput;
  readonly #color: boolean;
  /** Writes the hint of an error. */
  readonly inWords: ReportOptions['inWords'];
  drawing: Drawing | undefined;

  constructor({stream, json, color, level, inWords}: ReportOptions) {
    this.level = level;
    this.isJson = json;
    this.#stream = stream;
    this.#color = color;
    this.inWords = inWords;
    stream.on('error', () => {});
  }

  /** Whether text other than failures is shown. */
  get chatty(): boolean {
    return this.level === 'verbose' || (this.level === 'default' && !this.isJson);
  }

  /** Reports a failure at every level; `file` is the input that failed, named in text only if there are `several`. */
  failure(failure: MediaError, file?: string, several = false): void {
    const error = this.inWords(failure);
    if (this.isJson) {
      this.#jsonLine<JsonOutputs['error']>({error: {...omitUndefined({file}), ...errorFields(error)}});
      this.causes(error);
      return;
    }
    const sentence = several && file !== undefined ? failureSentence(error, file) : error.message;
    this.#line(`${paint('red', 'media:', this.#color)} ${printable(sentence)}`);
    if (error.hint !== undefined) this.#line(`  ${printable(error.hint)}`);
    this.causes(error);
  }

  /** Reports the causes of a failure, with --verbose. */
  causes(error: MediaError): void {
    if (this.level === 'verbose') for (const line of causesOf(error)) this.#line(printable(line));
  }

  /** Reports failures of several files for one reason as text: one sentence and some of their names. */
  failures({hint}: PlainError, sentence: string, names: readonly string[], count: number): void {
    this.#line(`${paint('red', 'media:', this.#color)} ${printable(sentence)}`);
    this.#line(someOf(names, count));
    if (hint !== undefined) this.#line(`  ${printable(hint)}`);
  }

  /** Reports something that happened, as text or as a JSON line. */
  event(text: string, fields: JsonOutputs['progress' | 'serve'] | UnchangedLine | DialectLine): void {
    if (!this.isJson) this.note(text);
    else if (this.level !== 'quiet') this.#jsonLine(fields);
  }

  /** Reports a warning about a file, as text or as a JSON line. */
  fileWarning(file: string, message: string): void {
    if (!this.isJson) this.warning(`${file}: ${message}`);
    else if (this.level !== 'quiet') this.#jsonLine<JsonOutputs['warning']>({warning: {file, message}});
  }

  warning(message: string): void {
    if (this.chatty) this.#line(`${paint('magenta', 'warning:', this.#color)} ${printable(message)}`);
  }

  /** Reports one warning about several files as text: a sentence and some of their names. */
  warnings(sentence: string, names: readonly string[], count: number): void {
    this.warning(sentence);
    this.note(someOf(names, count));
  }

  note(message: string): void {
    if (this.chatty) this.#line(printable(message));
  }

  /** Reports a step, with --verbose. */
  trace(message: string): void {
    if (this.level === 'verbose') this.#line(printable(message));
  }

  #jsonLine<Line extends JsonOutputs[keyof JsonOutputs]>(line: Line): void {
    this.#line(jsonLine(line).trimEnd());
  }

  #line(text: string): void {
    this.drawing?.clear();
    this.#stream.write(`${text}\n`);
    this.drawing?.draw();
  }
}

function someOf(names: readonly string[], count: number): string {
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  // A long list is complete.
  return `  ${names.map(printable).join(names.length > 3 ? '\n  ' : ', ')}${more}`;
}

/** The fields of `error` in JSON output (docs/output.md). */
export function errorFields(error: PlainError): ErrorFields {
  const {code, message, status, serviceCode, hint} = error;
  return {code, message, ...omitUndefined({status, serviceCode, hint})};
}

/** Turns any thrown value into a MediaError; one that is not a MediaError is a bug in this program. */
export function asMediaError(error: unknown): MediaError {
  if (error instanceof MediaError) return error;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new MediaError('internal', `Internal error: ${text}`, {
    cause: error,
    hint: 'This is a bug in media; please report it with the command that caused it.',
  });
}
