import {MediaError, type PlainError} from '../../errors.ts';
import type {TerminalOutput} from '../../host.ts';
import {omitUndefined} from '../../lib/object.ts';
import {printable} from '../../lib/printable.ts';
import {jsonLine} from './escape.ts';
import {causesOf, failureSentence} from './failure-text.ts';
import type {DialectLine, ErrorFields, ErrorLine, JsonOutputs, UnchangedLine} from './json-output.ts';
import {paint} from './terminal.ts';

export interface ReportOptions {
  stream: TerminalOutput;
  /**
   * Which failures are JSON lines: `json` all of them; `ndjson` those of the whole run, since others have a line on
   * standard output; `log` all of them, in a log of JSON lines without notes.
   */
  json?: 'json' | 'ndjson' | 'log' | undefined;
  color: boolean;
  level: 'quiet' | 'default' | 'verbose';
  inWords: (error: MediaError) => PlainError;
}

/** Standard error: failures, warnings and notes in words, and for programs, failures as JSON lines. */
export class Report {
  readonly level: ReportOptions['level'];
  readonly json: ReportOptions['json'];
  readonly #stream: TerminalOutput;
  readonly #color: boolean;
  /** Writes the hint of an error. */
  readonly inWords: ReportOptions['inWords'];
  /** What is drawn on the same terminal, and cleared while a line is written. */
  drawing: {clear: () => void; draw: () => void} | undefined;

  /** Errors of the stream are ignored, since there is no other place to report them. */
  constructor({stream, json, color, level, inWords}: ReportOptions) {
    this.level = level;
    this.json = json;
    this.#stream = stream;
    this.#color = color;
    this.inWords = inWords;
    stream.on('error', () => {});
  }

  /** Whether warnings and notes are written, not only failures. */
  get chatty(): boolean {
    return this.level === 'verbose' || (this.level === 'default' && this.json !== 'log');
  }

  /** Reports a failure at every level; `file` is the input that failed, named in text only if there are `several`. */
  failure(failure: MediaError, file?: string, several = false): void {
    const error = this.inWords(failure);
    if (this.json === undefined || (this.json === 'ndjson' && file !== undefined)) {
      const sentence = several && file !== undefined ? failureSentence(error, file) : error.message;
      this.#failureText(sentence, [], error.hint);
    } else this.#jsonLine<ErrorLine>({error: {...omitUndefined({file}), ...errorFields(error)}});
    this.causes(error);
  }

  /** Reports the causes of a failure, with --verbose. */
  causes(error: MediaError): void {
    if (this.level === 'verbose') for (const line of causesOf(error)) this.#line(printable(line));
  }

  /** Reports failures of several files for one reason: as text, one sentence and some of their names. */
  failures(error: PlainError, sentence: string, names: readonly string[], count: number): void {
    if (this.json === 'json')
      this.#jsonLine<ErrorLine>({error: {...errorFields(error), message: sentence, count}});
    else this.#failureText(sentence, names.length === 0 ? [] : [someOf(names, count)], error.hint);
  }

  #failureText(sentence: string, names: readonly string[], hint: string | undefined): void {
    this.#line(`${paint('red', 'media:', this.#color)} ${printable(sentence)}`);
    for (const line of names) this.#line(line);
    if (hint !== undefined) this.#line(`  ${printable(hint)}`);
  }

  /** Reports something that happened, as text or as a JSON line. */
  event(text: string, fields: JsonOutputs['serve'] | UnchangedLine | DialectLine): void {
    if (this.json === undefined) this.note(text);
    else if (this.level !== 'quiet') this.#jsonLine(fields);
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

  /** Writes a line, whose text is escaped already; a drawing is cleared meanwhile. */
  #line(text: string): void {
    this.drawing?.clear();
    this.#stream.write(`${text}\n`);
    this.drawing?.draw();
  }
}

/** The line below a sentence about `count` files: the names of some, and how many others there are. */
function someOf(names: readonly string[], count: number): string {
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  // A long list is complete.
  return `  ${names.map(printable).join(names.length > 3 ? '\n  ' : ', ')}${more}`;
}

/** The fields of `error` in JSON output (docs/design/contract.md, "Output"). */
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
