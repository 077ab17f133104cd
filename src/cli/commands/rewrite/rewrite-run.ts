import {join, resolve} from 'node:path';
import {type DocumentFile, findDocuments} from '../../../documents/documents.ts';
import {type DocumentPlan, planRewrite, type RewritePlan, withoutProblems} from '../../../documents/plan.ts';
import {rewriteDocument, writeInPlace, writeToMirror} from '../../../documents/write-plan.ts';
import type {Outcome} from '../../../engine/transfer/outcome.ts';
import {exitStatusOf, MediaError} from '../../../errors.ts';
import type {EndSignal} from '../../../host.ts';
import {inodeOf} from '../../../lib/files/file-system.ts';
import {isBelow, resolveUserPath} from '../../../lib/files/typed-path.ts';
import {asMediaError} from '../../output/report.ts';
import {type ExitStatus, endSignal, type Invocation} from '../../session/invocation.ts';
import {uploadFiles} from '../upload/upload-files.ts';
import {insertedUrl, ReferencePrinter, type RewriteFlags} from './reference-printer.ts';

/** How many documents are written at a time: most of the time, a disk is waited for. */
const writesAtOnce = 16;

/** One run of `media rewrite`: finds the references, checks all, uploads, and writes the documents. */
export class RewriteRun {
  readonly #options: RewriteFlags;
  readonly #invocation: Invocation;
  /** The result of each file, by its name. */
  readonly #outcomes = new Map<string, Outcome>();
  /** The signal that ended the writing. */
  #endSignal: EndSignal | undefined;

  constructor(options: RewriteFlags, invocation: Invocation) {
    this.#options = options;
    this.#invocation = invocation;
  }

  /** Runs the command: finds references, uploads their files, writes documents; resolves to the exit status. */
  async execute(): Promise<ExitStatus> {
    const {write, outDir, stdout, check, allowMissing} = this.#options;
    const printer = new ReferencePrinter(this.#invocation, this.#options);
    const whole = await this.#plan().catch(error => printer.failBeforeStart(error));
    await printer.reportFailedDocuments(whole);
    printer.reportUnchanged(whole);
    if (check) return (await printer.printLocalReferences(whole)) || Number(whole.failed.length > 0);
    await printer.reportProblems(whole);
    const plan = allowMissing ? whole : withoutProblems(whole);
    const leftCount = whole.documents.length - plan.documents.length;
    printer.reportLeftDocuments(leftCount);
    const hasFailed = leftCount + plan.failed.length > 0;
    if (plan.documents.length === 0) return hasFailed ? 1 : 0;
    const isDryRun = !write && !stdout && outDir === undefined;
    const uploaded = await this.#upload(plan, isDryRun);
    const writeStatus = isDryRun ? 0 : await this.#write(plan, printer);
    await printer.printResults(plan, file => this.#outcomeOf(file, plan));
    printer.printSummary(plan, this.#outcomes);
    // A document that could not be written makes a success a failure.
    const status = this.#endSignal ?? (uploaded || writeStatus);
    return status === 0 && hasFailed ? (plan.files.length > 0 ? 3 : 1) : status;
  }

  async #plan(): Promise<RewritePlan> {
    const {root, links = false, frontMatter = [], inputs, once, outDir} = this.#options;
    const cwd = this.#invocation.host.cwd();
    const publicDirectories = (this.#options.static ?? []).map(directory => resolveUserPath(cwd, directory));
    const documents: DocumentFile[] = [];
    const mirror = outDir === undefined ? undefined : await this.#realPath(outDir);
    for await (const document of findDocuments(inputs, cwd, mirror)) documents.push(document);
    await this.#refusePlaces(documents, mirror);
    return planRewrite(documents, {
      cwd,
      places: {root: root === undefined ? undefined : resolveUserPath(cwd, root), publicDirectories},
      scan: {links, frontMatter},
      comparesContent: once === false,
    });
  }

  /** The real path of a file or directory; undefined if there is none. */
  #realPath(path: string): Promise<string | undefined> {
    const {files, cwd} = this.#invocation.host;
    return files.realpath(resolve(resolveUserPath(cwd(), path))).catch(() => undefined);
  }

  /** Throws a usage error if a file would be overwritten, or if not exactly one document is to be printed. */
  async #refusePlaces(documents: readonly DocumentFile[], mirror: string | undefined): Promise<void> {
    const {inputs, outDir, stdout} = this.#options;
    if (stdout && documents.length !== 1)
      throw new MediaError('usage', `--stdout prints one document, but ${documents.length} were given.`, {
        hint: 'Use --out-dir for several.',
      });
    if (outDir === undefined) return;
    const {cwd, files} = this.#invocation.host;
    const directory = resolveUserPath(cwd(), outDir);
    const places = new Map<string, string>();
    const originals = new Map<string | undefined, string>();
    for (const {path, name} of documents) originals.set(await inodeOf(path, 'file', files), name);
    for (const {place, name} of documents) {
      const other = places.get(place);
      if (other !== undefined)
        throw new MediaError('usage', `${other} and ${name} would both be written to ${outDir}/${place}.`, {
          hint: 'Name the directory that contains both.',
        });
      // Links may lead from one to the other.
      const there = await inodeOf(join(directory, place), 'file', files);
      if (there !== undefined && originals.has(there))
        throw new MediaError('usage', `--out-dir would overwrite ${originals.get(there)}.`, {
          hint: 'Use --write for that.',
        });
      places.set(place, name);
    }
    for (const input of inputs)
      if (mirror !== undefined && isBelow((await this.#realPath(input)) ?? mirror, mirror))
        throw new MediaError('usage', `--out-dir contains ${input}: other files could be overwritten.`, {
          hint: 'Name another directory.',
        });
  }

  /** Uploads the files of a plan; without any, nothing is asked of settings, key or service. */
  async #upload({files, source}: RewritePlan, dryRun: boolean): Promise<ExitStatus> {
    if (files.length === 0) return 0;
    const {status, outcomes} = await uploadFiles(files, {...this.#options, dryRun, source}, this.#invocation);
    for (const outcome of outcomes) this.#outcomes.set(outcome.file, outcome);
    return status;
  }

  #outcomeOf(file: string, {sameAs}: RewritePlan): Outcome | undefined {
    return this.#outcomes.get(sameAs.get(file) ?? file);
  }

  /** Writes the documents; after a signal, only those it has begun. Resolves to the exit status. */
  async #write(plan: RewritePlan, printer: ReferencePrinter): Promise<number> {
    const {host, report, stdout} = this.#invocation;
    const signal = endSignal(this.#invocation);
    void signal.received.then(received => {
      this.#endSignal = received;
      stdout.hurry(host.clock);
    });
    let [status, count] = [0, 0];
    const toWrite = this.#options.write
      ? plan.documents.filter(({references}) => references.length > 0)
      : plan.documents;
    for (let first = 0; first < toWrite.length && this.#endSignal === undefined; first += writesAtOnce) {
      const writing = toWrite.slice(first, first + writesAtOnce).map(async document => {
        return {name: document.name, result: await this.#writeOne(document, plan).catch(asMediaError)};
      });
      for (const {name, result} of await Promise.all(writing)) {
        if (result instanceof MediaError) {
          await printer.reportFailedDocument(name, result);
          status = exitStatusOf[result.code];
        } else if (result !== undefined) {
          count += 1;
          await printer.printWritten(name, result);
        }
      }
    }
    signal.ignore();
    if (this.#endSignal !== undefined) {
      const message = `Stopped by ${this.#endSignal}: ${count} of ${toWrite.length} documents were written.`;
      report.failure(new MediaError('interrupted', message));
    }
    return printer.reportMissingUrls(plan, file => this.#outcomeOf(file, plan)) || status;
  }

  /** Resolves to the number of URLs in a file that was written. */
  async #writeOne(document: DocumentPlan, plan: RewritePlan): Promise<number | undefined> {
    const {host, stdout} = this.#invocation;
    const rewritten = await rewriteDocument(document, file => insertedUrl(this.#outcomeOf(file, plan)));
    if (this.#options.stdout) {
      await stdout.write(rewritten.after);
      return undefined;
    }
    const {outDir} = this.#options;
    if (outDir !== undefined)
      await writeToMirror(resolveUserPath(host.cwd(), outDir), document, rewritten, host);
    else if (rewritten.count === 0) return undefined;
    else await writeInPlace(document, rewritten, host);
    return rewritten.count;
  }
}
