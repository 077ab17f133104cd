import {join, resolve} from 'node:path';
import {type DocumentFile, findDocuments} from '../../../documents/documents.ts';
import {type DocumentPlan, planRewrite, type RewritePlan, withoutProblems} from '../../../documents/plan.ts';
import {rewriteDocument, writeInPlace, writeToMirror} from '../../../documents/write-plan.ts';
import {exitStatusOf, MediaError} from '../../../errors.ts';
import type {EndSignal, Host} from '../../../host.ts';
import {inodeOf} from '../../../lib/files/file-system.ts';
import {isBelow, resolveUserPath} from '../../../lib/files/typed-path.ts';
import {asMediaError} from '../../output/report.ts';
import {type ExitStatus, endSignal, type Invocation} from '../../session/invocation.ts';
import {uploadFiles} from '../upload/upload-files.ts';
import {insertedUrl, type OutcomeOf, ReferencePrinter, type RewriteFlags} from './reference-printer.ts';

/** How many documents are written at a time: most of the time, a disk is waited for. */
const writesAtOnce = 16;

/** Runs `media rewrite`: finds references, uploads their files, writes documents; resolves to the exit status. */
export async function runRewrite(flags: RewriteFlags, invocation: Invocation): Promise<ExitStatus> {
  const {write, outDir, stdout, check, allowMissing} = flags;
  const printer = new ReferencePrinter(invocation, flags);
  const whole = await planFor(flags, invocation.host).catch(error => printer.failBeforeStart(error));
  await printer.reportFailedDocuments(whole);
  printer.reportUnchanged(whole);
  if (check) return (await printer.printLocalReferences(whole)) || Number(whole.failed.length > 0);
  await printer.reportProblems(whole);
  const plan = allowMissing ? whole : withoutProblems(whole);
  const leftCount = whole.documents.length - plan.documents.length;
  printer.reportLeftDocuments(leftCount);
  const hasFailed = leftCount + plan.failed.length > 0;
  if (plan.documents.length === 0) return hasFailed ? 1 : 0;
  const dryRun = !write && !stdout && outDir === undefined;
  const {files, source, sameAs} = plan;
  // Without files, nothing is asked of settings, key or service.
  const {status: uploadStatus, outcomes} =
    files.length === 0
      ? {status: 0, outcomes: []}
      : await uploadFiles(files, {...flags, dryRun, source}, invocation);
  const byName = new Map(outcomes.map(outcome => [outcome.file, outcome]));
  const outcomeOf: OutcomeOf = (file = '') => byName.get(sameAs.get(file) ?? file);
  const written = dryRun ? 0 : await writeDocuments(plan, outcomeOf, {flags, invocation, printer});
  await printer.printResults(plan, outcomeOf);
  printer.printSummary(plan, outcomes);
  // A document that could not be written makes a success a failure; a signal during the writes wins over all.
  const status = typeof written === 'string' ? written : uploadStatus || written;
  return status === 0 && hasFailed ? (files.length > 0 ? 3 : 1) : status;
}

/** Finds the documents and what they refer to; rejects if one would be overwritten. Nothing is sent or written. */
async function planFor(flags: RewriteFlags, host: Host): Promise<RewritePlan> {
  const {root, links = false, frontMatter = [], inputs, once, outDir} = flags;
  const cwd = host.cwd();
  const publicDirectories = (flags.static ?? []).map(directory => resolveUserPath(cwd, directory));
  const documents: DocumentFile[] = [];
  const mirror = outDir === undefined ? undefined : await realPath(outDir, host);
  for await (const document of findDocuments(inputs, cwd, mirror)) documents.push(document);
  await refuseOverwrites(documents, mirror, flags, host);
  return planRewrite(documents, {
    cwd,
    places: {root: root === undefined ? undefined : resolveUserPath(cwd, root), publicDirectories},
    scan: {links, frontMatter},
    comparesContent: once === false,
  });
}

/** The real path of a file or directory; undefined if there is none. */
function realPath(path: string, {files, cwd}: Host): Promise<string | undefined> {
  return files.realpath(resolve(resolveUserPath(cwd(), path))).catch(() => undefined);
}

/** Throws a usage error if a file would be overwritten, or several printed. `mirror`: the real path of --out-dir. */
async function refuseOverwrites(
  documents: readonly DocumentFile[],
  mirror: string | undefined,
  {inputs, outDir, stdout}: RewriteFlags,
  host: Host,
): Promise<void> {
  if (stdout && documents.length !== 1)
    throw new MediaError('usage', `--stdout prints one document, but ${documents.length} were given.`, {
      hint: 'Use --out-dir for several.',
    });
  if (outDir === undefined) return;
  const {cwd, files} = host;
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
    if (mirror !== undefined && isBelow((await realPath(input, host)) ?? mirror, mirror))
      throw new MediaError('usage', `--out-dir contains ${input}: other files could be overwritten.`, {
        hint: 'Name another directory.',
      });
}

/** Writes the documents; after a signal, only those it has begun. Resolves to the exit status, or to the signal. */
async function writeDocuments(
  plan: RewritePlan,
  outcomeOf: OutcomeOf,
  {flags, invocation, printer}: {flags: RewriteFlags; invocation: Invocation; printer: ReferencePrinter},
): Promise<ExitStatus> {
  const {host, report, stdout} = invocation;
  const {outDir} = flags;
  /** Resolves to the number of URLs in a file that was written; undefined if none was. */
  const write = async (document: DocumentPlan): Promise<number | undefined> => {
    const rewritten = await rewriteDocument(document, file => insertedUrl(outcomeOf(file)));
    if (flags.stdout) return void (await stdout.write(rewritten.after));
    if (outDir !== undefined)
      await writeToMirror(resolveUserPath(host.cwd(), outDir), document, rewritten, host);
    else if (rewritten.count === 0) return undefined;
    else await writeInPlace(document, rewritten, host);
    return rewritten.count;
  };
  const end = endSignal(invocation);
  let signal: EndSignal | undefined;
  void end.received.then(received => {
    signal = received;
    stdout.hurry(host.clock);
  });
  let [status, count] = [0, 0];
  const toWrite = flags.write
    ? plan.documents.filter(({references}) => references.length > 0)
    : plan.documents;
  for (let first = 0; first < toWrite.length && signal === undefined; first += writesAtOnce) {
    const writing = toWrite.slice(first, first + writesAtOnce).map(async document => {
      return {name: document.name, result: await write(document).catch(asMediaError)};
    });
    for (const {name, result} of await Promise.all(writing)) {
      if (result instanceof MediaError) {
        await printer.reportFailedDocument(name, result);
        status = Math.max(status, exitStatusOf[result.code]);
      } else if (result !== undefined) {
        count += 1;
        await printer.printWritten(name, result);
      }
    }
  }
  end.ignore();
  if (signal !== undefined) {
    const message = `Stopped by ${signal}: ${count} of ${toWrite.length} documents were written.`;
    report.failure(new MediaError('interrupted', message));
  }
  if (status === 1 && count > 0) status = 3;
  const urlStatus = printer.reportMissingUrls(plan, outcomeOf);
  return signal ?? (urlStatus || status);
}
