import {publicUrl} from '../../../engine/service/record.ts';
import type {Outcome} from '../../../engine/transfer/outcome.ts';
import {exitStatusOf, type MediaError, type PlainError, systemError} from '../../../errors.ts';
import {printable} from '../../../lib/printable.ts';
import {type Annotate, annotator, outputEntry} from '../../output/ci.ts';
import {markdownText, markdownUrl, printableJson} from '../../output/escape.ts';
import type {ExitStatus, Invocation} from '../../session/invocation.ts';
import type {Tally} from './tally.ts';

/** GitHub limits the outputs of a job to 1 MiB, counted as UTF-16: this many characters. */
const longestOutputs = 2 ** 19;
/** GitHub limits the summary of a step, in bytes. */
const longestSummary = 2 ** 20;
/** The bytes reserved for the text around the table. */
const summaryFrame = 1024;

/** Reports an upload to GitHub's runner in its documented formats: annotations, outputs and a step summary. */
export class GithubReport {
  readonly #invocation: Invocation;
  readonly #tally: Tally;
  readonly #ids = new Lines();
  readonly #urls = new Lines();
  readonly #records = new Lines();
  readonly #failures = new Lines();
  readonly #successes = new Lines();
  readonly #annotate: Annotate;
  /** Why the whole run failed. */
  #runFailure: PlainError | undefined;

  /** The tally is that of the run, which adds to it. */
  constructor(invocation: Invocation, tally: Tally) {
    this.#invocation = invocation;
    this.#tally = tally;
    this.#annotate = annotator(invocation.host, invocation.report);
  }

  /** Adds the result of a file; `noUrl`: why a file that is stored counts as a failure. */
  add(outcome: Outcome, noUrl?: MediaError): void {
    const {position, file: name, status} = outcome;
    const row = (result: string) => `| ${markdownText(name)} | ${status} | ${result} |`;
    if (noUrl !== undefined) this.#annotate(noUrl, name);
    if ('error' in outcome) {
      const {code, messageToKeep} = outcome.error;
      this.#annotate(outcome.error, name);
      this.#failures.add(position, row(`\`${code}\` ${markdownText(messageToKeep)}`));
    } else if ('record' in outcome) {
      const {record, json} = outcome;
      const id = printable(String(record.id));
      const url = publicUrl(record) ?? '';
      const target = markdownUrl(url);
      const label = markdownText(id);
      // Later steps may print these; escaped, they are not read as commands there either.
      this.#ids.add(position, id);
      this.#urls.add(position, printable(url));
      this.#records.add(position, printableJson(json));
      // The summary shows what this run has changed.
      if (status !== 'skipped')
        this.#successes.add(position, row(target === undefined ? label : `[${label}](${target})`));
    } else this.#successes.add(position, row(''));
  }

  /** Reports that the whole run failed. */
  addFailure(error: MediaError): void {
    this.#annotate(error);
    this.#runFailure = this.#invocation.report.inWords(error);
  }

  /** Writes the outputs and the summary. Returns `status`, or the status of a write that fails if that is 0. */
  async end(status: ExitStatus): Promise<ExitStatus> {
    const {host, report} = this.#invocation;
    const {env} = host;
    const failure =
      (await this.#append(env['GITHUB_OUTPUT'], () => this.#outputs())) ??
      (await this.#append(env['GITHUB_STEP_SUMMARY'], size => this.#summary(size)));
    if (failure === undefined) return status;
    report.failure(status === 0 ? failure.reword({hint: this.#tally.outputHint}) : failure);
    return status === 0 ? exitStatusOf[failure.code] : status;
  }

  /** The outputs `id`, `url` and `records`; an output beyond GitHub's limit for all is not set, with a warning. */
  #outputs(): string {
    const {host, report} = this.#invocation;
    const records = this.#records.join(',\n');
    const values = {
      id: this.#ids.join('\n'),
      url: this.#urls.join('\n'),
      records: records === undefined ? undefined : `[${records}]`,
    };
    let text = '';
    for (const [name, value] of Object.entries(values)) {
      const entry = outputEntry(name, value ?? '', `ghadelimiter_${host.uuid()}`);
      if (value !== undefined && text.length + entry.length <= longestOutputs) text += entry;
      else report.warning(`The output ${name} is larger than GitHub accepts, so it was not set.`);
    }
    return text;
  }

  /** The summary in Markdown, failures first, cut at GitHub's limit; `existingSize` of it is used already, in bytes. */
  #summary(existingSize: number): string {
    const room = longestSummary - existingSize - summaryFrame;
    if (room <= 0) return '';
    let text = `### media upload\n\n${this.#tally.summary()}\n\n`;
    const failure = this.#runFailure;
    if (failure !== undefined)
      text += `${markdownText(failure.messageToKeep)} ${markdownText(failure.hint ?? '')}\n\n`;
    const rows = this.#tally.total - this.#tally.counts.skipped;
    if (rows === 0) return Buffer.byteLength(text) <= room ? text : '';
    text += '| file | status | media |\n|---|---|---|\n';
    let size = Buffer.byteLength(text);
    let printedRows = 0;
    for (const line of [...this.#failures.inOrder(), ...this.#successes.inOrder()]) {
      size += Buffer.byteLength(line) + 1;
      if (size > room) break;
      text += `${line}\n`;
      printedRows += 1;
    }
    const otherRows = rows - printedRows;
    return otherRows === 0 ? `${text}\n` : `${text}\n... and ${otherRows} more.\n\n`;
  }

  /** Appends a line to a file that GitHub names, if it does; resolves to the error. `content` gets the size so far. */
  async #append(path = '', content: (size: number) => string): Promise<MediaError | undefined> {
    if (path === '') return undefined;
    const {files} = this.#invocation.host;
    try {
      const stats = await files.stat(path).catch(() => undefined);
      const before = stats?.isFile() && stats.size > 0 ? await files.readFile(path) : Buffer.of();
      const text = content(before.length);
      const lineBreak = before.length === 0 || before.at(-1) === 0x0a ? '' : '\n';
      if (text !== '') await files.writeFile(path, lineBreak + text, {flag: 'a'});
      return undefined;
    } catch (error) {
      return systemError('output_failed', `${path} could not be written`, error);
    }
  }
}

/** Lines with the positions of their inputs, as many as GitHub accepts. */
class Lines {
  readonly #lines: [number, string][] = [];
  #length = 0;

  /** Drops lines beyond GitHub's limit; once one was dropped, join() returns undefined. */
  add(position: number, line: string): void {
    this.#length += line.length + 1;
    if (this.#length <= longestSummary) this.#lines.push([position, line]);
  }

  inOrder(): string[] {
    return this.#lines.sort(([a], [b]) => a - b).map(([, line]) => line);
  }

  /** All lines in the order of the inputs; undefined if there were too many. */
  join(separator: string): string | undefined {
    return this.#length > longestSummary ? undefined : this.inOrder().join(separator);
  }
}
