import type {FoundReference, RewritePlan} from '../../../documents/plan.ts';
import {type MediaRecord, noUrlError, webUrl} from '../../../engine/service/record.ts';
import type {Outcome} from '../../../engine/transfer/outcome.ts';
import {MediaError} from '../../../errors.ts';
import {resolveUserPath} from '../../../lib/files/typed-path.ts';
import {printable} from '../../../lib/printable.ts';
import {shellQuoted, shellWord} from '../../../lib/shell.ts';
import {countText} from '../../../lib/units.ts';
import {type Annotate, annotator, isOnGithub} from '../../output/ci.ts';
import {jsonLine} from '../../output/escape.ts';
import type {DialectLine, ReferenceLine, UnchangedLine} from '../../output/json-output.ts';
import {asMediaError, errorFields} from '../../output/report.ts';
import {parseTemplate, renderOutcome, type Template} from '../../output/results/template.ts';
import type {Invocation} from '../../session/invocation.ts';
import type {uploadFiles} from '../upload/upload-files.ts';

type SharedFlag = 'ndjson' | 'template' | 'concurrency' | 'geotags' | 'journal' | 'manifest' | 'once' | 'ci';

/** The options of `media rewrite`, as they were read from the command line. */
export interface RewriteFlags extends Pick<Parameters<typeof uploadFiles>[1], SharedFlag> {
  inputs: string[];
  write?: boolean;
  outDir?: string;
  stdout?: boolean;
  check?: boolean;
  links?: boolean;
  frontMatter?: string[];
  root?: string;
  static?: string[];
  allowMissing?: boolean;
}

/** How documents are read beside a file of a project. */
const readings: readonly (readonly [file: DialectLine['dialect']['projectFile'], how: string])[] = [
  ['mkdocs.yml', 'Markdown is read as in MkDocs'],
  ['mkdocs.yaml', 'Markdown is read as in MkDocs'],
  ['.obsidian', 'Files are also found by name, as in Obsidian'],
];

/** What stays as it is, though it names local media. */
const unchangedNames: readonly (readonly [kind: UnchangedLine['unchanged']['kind'], one: string])[] = [
  ['shortcode', 'Hugo shortcode'],
  ['template', 'template expression'],
  ['import', 'import'],
  ['expression', 'JavaScript expression'],
  ['link', 'link'],
  ['front-matter', 'front matter value'],
];

/** An outcome, or with --check only that the file is local. */
interface FileResult extends Pick<Outcome, 'geotags'> {
  status: ReferenceLine['status'];
  error?: MediaError | undefined;
  record?: MediaRecord;
}

/** The result of a file that a document refers to; undefined if it was not uploaded. */
export type OutcomeOf = (file?: string) => Outcome | undefined;

/** Prints what a run found and did. */
export class ReferencePrinter {
  readonly #invocation: Invocation;
  readonly #flags: RewriteFlags;
  readonly #template: Template | undefined;
  readonly #annotate: Annotate | undefined;

  /** Throws a usage error if the template is not valid. */
  constructor(invocation: Invocation, flags: RewriteFlags) {
    const {host} = invocation;
    this.#invocation = invocation;
    this.#flags = flags;
    this.#template = flags.template === undefined ? undefined : parseTemplate(flags.template);
    this.#annotate = flags.ci && isOnGithub(host.env) ? annotator(host, invocation.report) : undefined;
  }

  /** Prints every local reference; the exit status is 1 if there is one. */
  async printLocalReferences(plan: RewritePlan): Promise<number> {
    const references = referencesOf(plan);
    const options = this.#invocation.optionWords(new Set(['check', 'ci', 'ndjson', 'template']));
    const command = ['media rewrite --write', ...options.map(shellWord)].join(' ');
    for (const reference of references) {
      const local = new MediaError('local_reference', `${reference.source} is a local file.`, {
        hint: `To upload it, run: ${command} ${shellQuoted(reference.document)}`,
      });
      // What cannot be uploaded needs another remedy.
      const error = reference.problem ?? local;
      await this.#line(reference, {status: 'local', error: reference.problem});
      this.#annotate?.(error, reference.document, reference);
    }
    this.#invocation.report.note(`${countsText(plan)}.`);
    return references.length === 0 ? 0 : 1;
  }

  /** Annotates the error that ends a run before anything is found, and throws it. */
  failBeforeStart(error: unknown): never {
    this.#annotate?.(asMediaError(error), undefined, {});
    throw error;
  }

  /** Reports how documents were read: by the rules of a project, as Markdown although they are called MDX, or not. */
  async reportFailedDocuments({documents, failed}: RewritePlan): Promise<void> {
    const {report} = this.#invocation;
    for (const [projectFile, how] of readings) {
      const count = documents.filter(({projectFiles}) => projectFiles.includes(projectFile)).length;
      const line = {dialect: {projectFile, documents: count}};
      if (count > 0) report.event(`${how}, since there is ${projectFile}.`, line);
    }
    for (const {name, notMdx} of documents)
      if (notMdx !== undefined)
        report.warning(`${name}: It was read as Markdown, since it is not valid MDX: ${notMdx}.`);
    for (const {name, error} of failed) await this.reportFailedDocument(name, error);
  }

  /** Reports a document that could not be read or written. */
  async reportFailedDocument(file: string, error: MediaError): Promise<void> {
    const {report, stdout} = this.#invocation;
    report.failure(error, file);
    this.#annotate?.(error, file, {line: 1, column: 1});
    const line = {file, status: 'failed', error: errorFields(report.inWords(error))} as const;
    if (this.#flags.ndjson) await stdout.write(jsonLine<ReferenceLine>(line));
  }

  /** Reports how much stays as it is, though it names local media: of each kind, as JSON for each document. */
  reportUnchanged({documents}: RewritePlan): void {
    const {report} = this.#invocation;
    for (const [kind, one] of unchangedNames) {
      let sum = 0;
      for (const {name, left} of documents) {
        const count = left?.[kind] ?? 0;
        sum += count;
        if (count > 0 && report.json) report.event('', {unchanged: {file: name, kind, count}});
      }
      if (sum > 0 && !report.json)
        report.note(`${countText(sum, one)} ${sum === 1 ? 'was' : 'were'} left unchanged.`);
    }
  }

  /** Reports every reference that cannot be uploaded. */
  async reportProblems(plan: RewritePlan): Promise<void> {
    for (const reference of referencesOf(plan)) {
      const {problem} = reference;
      if (problem === undefined) continue;
      this.#reportProblem(reference, problem);
      if (this.#flags.ndjson) await this.#line(reference, {status: 'failed', error: problem});
    }
  }

  /** Reports a problem at its place on standard error, as text also with --ndjson, which has its own line for it. */
  #reportProblem(reference: FoundReference, error: MediaError): void {
    const message = `${placeOf(reference)}: ${error.message}`;
    this.#invocation.report.failure(error.reword({message}), reference.document);
    this.#annotate?.(error, reference.document, reference);
  }

  /** Notes how many documents stay as they are because a reference cannot be uploaded. */
  reportLeftDocuments(count: number): void {
    if (count === 0) return;
    const stay = count === 1 ? '1 document stays as it is.' : `${count} documents stay as they are.`;
    this.#invocation.report.note(
      `${stay} To leave only such references as they are, add this option: --allow-missing`,
    );
  }

  /** Prints the template for each file, or the references with the results of their files. */
  async printResults(plan: RewritePlan, outcomeOf: OutcomeOf): Promise<void> {
    const {host, stdout} = this.#invocation;
    const {ndjson, write, outDir, stdout: isPrinted} = this.#flags;
    if (this.#template !== undefined) {
      const pathOf = (name: string) => resolveUserPath(host.cwd(), name);
      for (const outcome of plan.files.flatMap(file => outcomeOf(file) ?? []))
        await stdout.write(renderOutcome(this.#template, outcome, pathOf));
    } else if (ndjson || !(write || isPrinted || outDir !== undefined)) {
      for (const reference of referencesOf(plan)) {
        const outcome = outcomeOf(reference.file);
        if (outcome !== undefined) await this.#line(reference, outcome);
      }
    }
  }

  /** Reports each reference to a stored file without a web URL; returns 0, 1, or 3 if others have one. */
  reportMissingUrls(plan: RewritePlan, outcomeOf: OutcomeOf): number {
    let [status, others] = [0, 0];
    for (const reference of referencesOf(plan)) {
      const outcome = outcomeOf(reference.file);
      const error = missingUrl(reference, outcome);
      if (error !== undefined) {
        this.#reportProblem(reference, error);
        status = 1;
      } else if (insertedUrl(outcome) !== undefined) others += 1;
    }
    return status > 0 && others > 0 ? 3 : status;
  }

  /** Prints a line for people about a written document, unless NDJSON or a template uses standard output. */
  async printWritten(name: string, count: number): Promise<void> {
    if (this.#flags.ndjson || this.#template !== undefined) return;
    await this.#invocation.stdout.write(`${printable(name)}: ${countText(count, 'URL')}\n`);
  }

  /** Notes how many references and files there were. */
  printSummary(plan: RewritePlan, outcomes: readonly Outcome[]): void {
    const byStatus = new Map<string, number>();
    for (const {status} of outcomes) byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    const files =
      [...byStatus].map(([status, count]) => `${count} ${status}`).join(', ') || 'nothing to upload';
    this.#invocation.report.note(`${countsText(plan)}; files: ${files}.`);
  }

  /** Prints a reference and its result; as text, without the error, which standard error has. */
  async #line(reference: FoundReference, result: FileResult): Promise<void> {
    const {stdout, report} = this.#invocation;
    const {document, line, column, source, file: path} = reference;
    const {status, geotags, error = missingUrl(reference, result)} = result;
    if (!this.#flags.ndjson) return stdout.write(`${placeOf(reference)}  ${printable(source)}  ${status}\n`);
    const fields = {file: document, line, column, source, path, url: insertedUrl(result), status, geotags};
    const errorText = error && errorFields(report.inWords(error));
    await stdout.write(jsonLine<ReferenceLine>({...fields, error: errorText}));
  }
}

/** The URL that takes the place of an uploaded file, if its record has a web URL. */
export function insertedUrl(result: FileResult | undefined): string | undefined {
  return result?.record && webUrl(result.record);
}

/** Why a reference to a stored file stays as it is. */
function missingUrl({file = ''}: FoundReference, result: FileResult | undefined): MediaError | undefined {
  return result?.record && noUrlError(file, result.record, webUrl);
}

function referencesOf({documents}: RewritePlan): FoundReference[] {
  return documents.flatMap(({references}) => references);
}

/** How much was found: `2 local references in 1 document`. */
function countsText(plan: RewritePlan): string {
  const references = countText(referencesOf(plan).length, 'local reference');
  return `${references} in ${countText(plan.documents.length, 'document')}`;
}

function placeOf({document, line, column}: FoundReference): string {
  return `${printable(document)}:${line}:${column}`;
}
