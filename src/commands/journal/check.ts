import type {ExitStatus, Invocation} from '../../cli/invocation.ts';
import {openSession} from '../../cli/session.ts';
import {MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {
  type ContentHash,
  type JournalInput,
  type JournalReader,
  JournalSet,
  journalCodes,
  pathKey,
  refuseOtherStore,
  type Verdict,
  writeMerged,
} from '../../journal/journal.ts';
import {Stop} from '../../lib/stop.ts';
import type {OpenSource, Source} from '../../sources/open/source.ts';
import {withJournals} from './list.ts';
import {type ProofCounts, ProofTally} from './output.ts';

interface CheckOptions {
  files: readonly string[];
  inputs: readonly string[];
  /** Whether directories include hidden files and files that are neither images nor videos. */
  all?: boolean;
  json?: boolean;
}

interface MergeOptions {
  files: readonly string[];
  output: string;
  json?: boolean;
}

/**
 * Checks that each input is recorded exactly once, and prints those that are not. Files that an upload leaves out may
 * be missing.
 */
export async function checkJournals(options: CheckOptions, invocation: Invocation): Promise<ExitStatus> {
  const {host, stdout, report} = invocation;
  const tally = new ProofTally(stdout, options.json === true);
  await withJournals(options.files, host, async readers => {
    await verifyService(readers, invocation);
    const journals = new JournalSet(readers);
    for await (const input of listInputs(options, host)) {
      const verdict = await proveListed(journals, input);
      const isMissed = verdict.status === 'missing' && 'isLeftOut' in input && input.isLeftOut;
      if (!isMissed) await tally.add(verdict);
    }
  });
  const counts = await tally.end();
  if (counts.all === 0) {
    throw new MediaError('nothing_matched', 'The inputs contain no image and no video.', {
      hint: 'Files that you name are always checked. To check everything in directories, add --all.',
    });
  }
  return conclude(
    counts,
    report,
    'Upload missing inputs with the same journal. Settle unknown ones with media journal resolve.',
  );
}

async function proveListed(journals: JournalSet, input: ListedInput): Promise<Verdict> {
  const unreadable = (error: MediaError): Verdict => ({
    status: 'missing',
    path: pathKey(input.path),
    reason: error.message,
    ids: [],
  });
  if ('error' in input) return unreadable(input.error);
  let failure: unknown;
  const hash: ContentHash = () =>
    input.hash().catch(error => {
      failure = error;
      throw error;
    });
  try {
    return await journals.prove(input, hash);
  } catch (error) {
    // An unreadable input is missing; an unreadable journal ends the check.
    if (error === failure && error instanceof MediaError) return unreadable(error);
    throw error;
  }
}

/** Merges journals into one if each of their inputs is recorded exactly once; otherwise prints those that are not. */
export async function mergeJournals(
  options: MergeOptions,
  {host, stdout, report}: Invocation,
): Promise<ExitStatus> {
  const tally = new ProofTally(stdout, options.json === true);
  const counts = await withJournals(options.files, host, async readers => {
    for await (const verdict of new JournalSet(readers).proveAll()) await tally.add(verdict);
    const counted = await tally.end();
    if (counted.all === counted.once) await writeMerged(options.output, readers, host);
    return counted;
  });
  return conclude(counts, report, `${options.output} was not written.`);
}

function conclude(
  {all, once, elsewhere}: ProofCounts,
  report: Invocation['report'],
  hint: string,
): ExitStatus {
  const inputs = all === 1 ? '1 input' : `${all} inputs`;
  if (all === once) {
    report.note(`${inputs}, each recorded exactly once.`);
    if (elsewhere > 0) {
      const contents = elsewhere === 1 ? '1 of them is' : `${elsewhere} of them are`;
      report.note(`${contents} also stored under another path, by another part of the run.`);
    }
    return 0;
  }
  report.failure(
    new MediaError(
      journalCodes.unproven,
      `${once} of ${inputs} ${once === 1 ? 'is' : 'are'} recorded exactly once.`,
      {hint},
    ),
  );
  return 1;
}

/** Rejects unless the service is the one that the journals belong to; without a key for it, says that this was not verified. */
async function verifyService(readers: readonly JournalReader[], invocation: Invocation) {
  const {scope, shown = ''} = readers.find(reader => reader.scope?.serviceId !== undefined) ?? {};
  if (scope === undefined) return;
  const session = await openSession(invocation).catch(error => {
    if (error instanceof MediaError) return undefined;
    throw error;
  });
  try {
    if (session?.identity === scope.service)
      await refuseOtherStore(scope, () => session.client.serviceId(new Stop()), shown);
    else invocation.report.note(`not verified: there is no key for ${scope.service}, so it was not asked.`);
  } finally {
    await session?.close();
  }
}

/** An input to look up in journals; `hash` works until the next input is requested. */
type ListedInput =
  | (Omit<JournalInput, 'types'> & {hash: ContentHash; isLeftOut: boolean})
  | {path: string | Uint8Array; error: MediaError};

/**
 * Yields the inputs as `media upload -r` finds them. Files that an upload leaves out as not media are marked, since a
 * journal may still contain them; hidden ones and those that could not be opened are omitted.
 */
async function* listInputs({inputs, all = false}: CheckOptions, host: Host): AsyncGenerator<ListedInput> {
  const [{expandInputs}, {isLeftOut}] = await Promise.all([
    import('../../sources/find/expand.ts'),
    import('../../transfer/outcome.ts'),
  ]);
  const context = {cwd: host.cwd(), stdin: () => host.stdin, temporaryDirectory: host.temporaryDirectory()};
  for await (const source of expandInputs({inputs, recursive: true, all}, context)) {
    if (source.found?.isHidden) continue;
    const path = source.relativePath ?? source.name;
    let opened: OpenSource;
    try {
      opened = await source.open(new AbortController().signal);
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      if (!(await isLeftOut(source, error))) yield {path, error};
      continue;
    }
    try {
      yield await describe(path, source, opened);
    } finally {
      await opened.close();
    }
  }
}

async function describe(path: string | Uint8Array, source: Source, opened: OpenSource): Promise<ListedInput> {
  const [{contentHash}, {rejectNonMedia}, {isLeftOut}] = await Promise.all([
    import('../../lib/files/content-hash.ts'),
    import('../../sources/media-type/decide.ts'),
    import('../../transfer/outcome.ts'),
  ]);
  return {
    path,
    size: opened.size,
    stat: opened.stat,
    hash: () => contentHash(opened),
    isLeftOut: await rejectNonMedia(source, opened).then(
      () => false,
      error => isLeftOut(source, error),
    ),
  };
}
