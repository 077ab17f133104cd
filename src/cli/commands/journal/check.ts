import {
  type JournalReader,
  JournalSet,
  type PathKey,
  pathKey,
  readJournals,
  requireSameService,
  type Verdict,
  writeMergedJournal,
} from '../../../engine/journal/journal.ts';
import type {InputRequest} from '../../../engine/sources/find/expand.ts';
import type {OpenSource, Source} from '../../../engine/sources/open/source.ts';
import {hasTrait, MediaError, unlessBug} from '../../../errors.ts';
import type {Host} from '../../../host.ts';
import {Stop} from '../../../lib/stop.ts';
import {countText} from '../../../lib/units.ts';
import type {TypeRule} from '../../../media/type/decide.ts';
import type {ExitStatus, Invocation} from '../../session/invocation.ts';
import {openSession} from '../../session/session.ts';
import {withoutOwnFiles} from '../upload/own-files.ts';
import {type ProofCounts, proofTally} from './output.ts';

/** The inputs after `--` and in lists, with the options by which an upload finds and refuses files. */
interface ProofOptions extends InputRequest {
  files: readonly string[];
  types: TypeRule;
  json?: boolean;
}

/** The same without what stands on both sides of `--`. */
export type ProofFlags = Omit<ProofOptions, 'files' | 'inputs'>;

/** Prints the inputs that are not recorded exactly once. Files that an upload leaves out may be missing. */
export async function checkJournals(options: ProofOptions, invocation: Invocation): Promise<ExitStatus> {
  const {host, stdout, report} = invocation;
  const tally = proofTally(stdout, options.json);
  const readers = await readJournals(options.files, host, {paths: true});
  await verifyService(readers, invocation);
  for await (const verdict of proveInputs(new JournalSet(readers), options, host)) await tally.add(verdict);
  const counts = await tally.end();
  if (counts.all === 0) {
    throw new MediaError('nothing_matched', 'The inputs contain no image and no video.', {
      hint: 'Files that you name are always checked. To check everything in directories, add --all.',
    });
  }
  return conclude(counts, report, adviceFor(counts));
}

/** Merges journals if all their inputs, and all inputs named, are recorded exactly once; else prints the others. */
export async function mergeJournals(
  options: ProofOptions & {output: string},
  {host, stdout, report}: Invocation,
): Promise<ExitStatus> {
  const tally = proofTally(stdout, options.json);
  const {inputs, filesFrom = []} = options;
  const readers = await readJournals(options.files, host, {paths: true});
  const journals = new JournalSet(readers);
  const pathsSoFar = new Set<PathKey>();
  for await (const verdict of journals.checkAllPaths()) {
    await tally.add(verdict);
    if (verdict.status !== 'once') pathsSoFar.add(verdict.path);
  }
  if (inputs.length + filesFrom.length > 0) {
    for await (const verdict of proveInputs(journals, options, host)) {
      // A path of the journals is listed already; another root may have a second one.
      if (verdict.status !== 'once' && !pathsSoFar.delete(verdict.path)) await tally.add(verdict);
    }
  }
  const counts = await tally.end();
  if (counts.all === counts.once) await writeMergedJournal(options.output, readers, host);
  return conclude(counts, report, `${adviceFor(counts)}${options.output} was not written.`);
}

/** What to do about each kind of input that is not recorded exactly once. */
function adviceFor({missing, unknown, refused}: ProofCounts): string {
  return [
    missing > 0 ? 'Upload missing inputs with the same journal. ' : '',
    unknown > 0 ? 'Settle unknown ones with media journal resolve. ' : '',
    refused > 0 ? 'Fix refused inputs, or leave them out with --exclude. ' : '',
  ].join('');
}

/** Notes that all is proven and returns 0, or reports a failure with `hint` and returns 1. */
function conclude(counts: ProofCounts, report: Invocation['report'], hint: string): ExitStatus {
  const {all, once, elsewhere} = counts;
  const inputs = countText(all, 'input');
  if (all === once) {
    report.note(`${inputs}, each recorded exactly once.`);
    if (elsewhere > 0) {
      const contents = elsewhere === 1 ? '1 of them is' : `${elsewhere} of them are`;
      report.note(`${contents} also stored under another path, by another part of the run.`);
    }
    return 0;
  }
  const others = (['missing', 'doubled', 'unknown', 'refused'] as const)
    .filter(status => counts[status] > 0)
    .map(status => `${counts[status]} ${status}`);
  const message = `${once} of ${inputs} ${once === 1 ? 'is' : 'are'} recorded exactly once: ${others.join(', ')}.`;
  report.failure(new MediaError('journal_unproven', message, {hint: hint.trim()}));
  return 1;
}

/** Rejects if the service is not the one of the journals; without a key for it, reports that this was not verified. */
async function verifyService(readers: readonly JournalReader[], invocation: Invocation) {
  const {scope, displayPath = ''} = readers.find(reader => reader.scope?.serviceId !== undefined) ?? {};
  if (scope === undefined) return;
  const session = await openSession(invocation).catch(error => {
    if (unlessBug(error).code !== 'no_key') throw error;
  });
  try {
    if (session?.identity === scope.service)
      await requireSameService(scope, {identify: () => session.client.serviceId(new Stop())}, displayPath);
    else invocation.report.note(`not verified: no key is set for ${scope.service}.`);
  } finally {
    await session?.close();
  }
}

/** Checks the inputs of `media upload -r`, and what it leaves out as not media if a journal contains it. */
async function* proveInputs(
  journals: JournalSet,
  options: ProofOptions,
  host: Host,
): AsyncGenerator<Verdict> {
  const {expandInputs, inputContext} = await import('../../../engine/sources/find/expand.ts');
  const mapFile = withoutOwnFiles(options.files, host);
  for await (const source of expandInputs({...options, recursive: true}, {...inputContext(host), mapFile})) {
    if (source.found?.isHidden) continue;
    const verdict = await proveSource(journals, source, options.types);
    if (verdict !== undefined) yield verdict;
  }
}

/** The verdict on a source; undefined if nothing is recorded of it and an upload leaves it out. */
async function proveSource(
  journals: JournalSet,
  source: Source,
  types: TypeRule,
): Promise<Verdict | undefined> {
  const path = source.relativePath ?? source.name;
  let open: OpenSource | undefined;
  try {
    const file = await source.open(new AbortController().signal);
    open = file;
    const {contentHash} = await import('../../../lib/files/content-hash.ts');
    const input = {path, size: file.size, stat: file.stat};
    const verdict = await journals.checkInput(input, () => contentHash(file));
    if (verdict.status !== 'missing') return verdict;
    const {decideSourceType} = await import('../../../media/type/decide.ts');
    await decideSourceType(source, file, {types});
    return verdict;
  } catch (error) {
    // An unreadable journal ends the check.
    if (!(error instanceof MediaError) || error.code.startsWith('journal_')) throw error;
    const {isLeftOut} = await import('../../../engine/transfer/outcome.ts');
    if (await isLeftOut(source, error)) return undefined;
    // An upload does not even try it, although it can be read.
    const isRefused = error.code !== 'file_unreadable' && hasTrait(error.code, 'as it is');
    const status = isRefused ? 'refused' : 'missing';
    return {status, path: pathKey(path), reason: error.message, ids: []};
  } finally {
    await open?.close();
  }
}
