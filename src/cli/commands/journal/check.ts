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
import {expandInputs, type InputRequest, inputContext} from '../../../engine/sources/find/expand.ts';
import type {OpenSource, Source} from '../../../engine/sources/open/source.ts';
import {isLeftOut} from '../../../engine/transfer/outcome.ts';
import {hasTrait, MediaError, unlessBug} from '../../../errors.ts';
import type {Host} from '../../../host.ts';
import {contentHash} from '../../../lib/files/content-hash.ts';
import {Stop} from '../../../lib/stop.ts';
import {countText} from '../../../lib/units.ts';
import {decideSourceType, type TypeRule} from '../../../media/type/decide.ts';
import type {ExitStatus, Invocation} from '../../session/invocation.ts';
import {openSession} from '../../session/session.ts';
import {withoutOwnFiles} from '../upload/own-files.ts';
import {type ProofCounts, proofTally} from './output.ts';

/** The inputs after `--` and in lists, with the options by which an upload finds and refuses files. */
interface ProofOptions extends InputRequest {
  /** The journals. */
  files: readonly string[];
  types: TypeRule;
  json?: boolean;
}

/** The options alone, without the journals and inputs. */
export type ProofFlags = Omit<ProofOptions, 'files' | 'inputs'>;

/** Prints the inputs that the journals do not record exactly once, but for those that an upload leaves out. */
export async function checkJournals(options: ProofOptions, invocation: Invocation): Promise<ExitStatus> {
  const {host, stdout, report} = invocation;
  const tally = proofTally(stdout, options.json);
  const readers = await readJournals(options.files, host, {paths: true});
  await verifyService(readers, invocation);
  for await (const verdict of proveInputs(new JournalSet(readers), options, host)) await tally.add(verdict);
  const counts = await tally.end();
  if (counts.all === 0)
    throw new MediaError('nothing_matched', 'The inputs contain no image and no video.', {
      hint: 'Files that you name are always checked. To check everything in directories, add --all.',
    });
  return conclude(counts, report);
}

/** Merges journals if all their inputs, and all inputs named, are recorded exactly once; else prints the others. */
export async function mergeJournals(options: ProofOptions & {output: string}, invocation: Invocation) {
  const {host, stdout, report} = invocation;
  const tally = proofTally(stdout, options.json);
  const {inputs, filesFrom = []} = options;
  const readers = await readJournals(options.files, host, {paths: true});
  const journals = new JournalSet(readers);
  const reportedPaths = new Set<PathKey>();
  for await (const verdict of journals.checkAllPaths()) {
    await tally.add(verdict);
    if (verdict.status !== 'once') reportedPaths.add(verdict.path);
  }
  if (inputs.length + filesFrom.length > 0) {
    for await (const verdict of proveInputs(journals, options, host)) {
      // Another root may have a second input of the same path, which is reported too.
      if (verdict.status !== 'once' && !reportedPaths.delete(verdict.path)) await tally.add(verdict);
    }
  }
  const counts = await tally.end();
  if (counts.all === counts.once) await writeMergedJournal(options.output, readers, host);
  return conclude(counts, report, `${options.output} was not written.`);
}

/** Notes that all is proven and returns 0, or reports the failure and returns 1. `result` ends its hint. */
function conclude(counts: ProofCounts, report: Invocation['report'], result = ''): ExitStatus {
  const {all, once, elsewhere, missing, doubled, unknown, refused} = counts;
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
  const message = `${once} of ${inputs} ${once === 1 || all === 1 ? 'is' : 'are'} recorded exactly once: ${others.join(', ')}.`;
  const advice = [
    missing > 0 ? 'Upload missing inputs with the same journal. ' : '',
    doubled > 0 ? 'Delete the extra copies of doubled inputs at the service. ' : '',
    unknown > 0 ? 'Settle unknown ones with media journal resolve. ' : '',
    refused > 0 ? 'Fix refused inputs, or leave them out with --exclude. ' : '',
  ].join('');
  report.failure(new MediaError('journal_unproven', message, {hint: `${advice}${result}`.trim()}));
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
async function* proveInputs(journals: JournalSet, options: ProofOptions, host: Host) {
  const mapFile = withoutOwnFiles(options.files, host);
  for await (const source of expandInputs({...options, recursive: true}, {...inputContext(host), mapFile})) {
    if (source.found?.isHidden) continue;
    const verdict = await proveSource(journals, source, options.types);
    if (verdict !== undefined) yield verdict;
  }
}

/** What the journals say of an input, or why an upload would refuse it; undefined if an upload would leave it out. */
async function proveSource(journals: JournalSet, source: Source, types: TypeRule) {
  const path = source.relativePath ?? source.name;
  let file: OpenSource | undefined;
  try {
    const opened = await source.open(new Stop());
    file = opened;
    const {size, stat} = opened;
    const verdict = await journals.checkInput({path, size, stat}, () => contentHash(opened));
    // Throws if an upload would leave the file out or refuse it for its type.
    if (verdict.status === 'missing') await decideSourceType(source, opened, {types});
    return verdict;
  } catch (error) {
    // An unreadable journal ends the check.
    if (!(error instanceof MediaError) || error.code.startsWith('journal_')) throw error;
    if (await isLeftOut(source, error)) return undefined;
    // What cannot be read now may be uploaded later; of the others, an upload does not even try these.
    const isRefused = error.code !== 'file_unreadable' && hasTrait(error.code, 'as it is');
    const status: Verdict['status'] = isRefused ? 'refused' : 'missing';
    return {status, path: pathKey(path), reason: error.message, ids: []};
  } finally {
    await file?.close(true);
  }
}
