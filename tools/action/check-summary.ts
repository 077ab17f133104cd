import {markdownText} from '../../src/cli/output/escape.ts';
import {parseObject} from '../../src/lib/json.ts';
import {printable} from '../../src/lib/printable.ts';
import {withRows} from './comment-body.ts';

/** GitHub's limit for the summary of a step, less than which leaves room for other commands. */
const longestSummary = 2 ** 19;

/** What a check found: a reference to a local file, or a document that cannot be read. */
interface Finding {
  document: string;
  line: number | undefined;
  /** The reference, or what is wrong with the document. */
  text: string;
}

/** Collects what `media rewrite --check --ndjson` prints, for the log and the summary of the step. */
export class CheckSummary {
  readonly #findings: Finding[] = [];

  /** Takes a line of the output; returns what the log shows instead. */
  take(output: string): string {
    const {file, line, column, source, error} = parseObject(output) ?? {};
    if (typeof file !== 'string') return output;
    const {message} = (error ?? {}) as {message?: unknown};
    const isReference = typeof line === 'number' && typeof source === 'string';
    const text = isReference ? source : String(message);
    this.#findings.push({document: file, line: isReference ? line : undefined, text});
    const place = isReference ? `${printable(file)}:${line}:${column}` : printable(file);
    return `${place}  ${printable(text)}`;
  }

  get count(): number {
    return this.#findings.length;
  }

  markdown(): string {
    const findings = this.#findings;
    const head = ['### media rewrite --check', '', `References to local media: ${findings.length}.`, ''];
    if (findings.length === 0) return head.join('\n');
    const rows = findings.map(
      ({document, line, text}) => `| ${markdownText(document)} | ${line ?? ''} | ${markdownText(text)} |`,
    );
    head.push('| document | line | reference |', '| --- | ---: | --- |');
    return `${withRows(head, rows, {longest: longestSummary, what: 'findings', place: 'a summary'})}\n`;
  }
}
