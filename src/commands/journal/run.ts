import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import type {ExitStatus, Invocation} from '../../cli/invocation.ts';
import {MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import type {Entry} from '../../journal/journal.ts';
import {
  closeAll,
  entryReason,
  type JournalReader,
  JournalSet,
  journalCodes,
  openJournal,
  type PathKey,
  pathKey,
  readJournals,
  type Verdict,
  writeMerged,
} from '../../journal/journal.ts';
import {printableJson} from '../../output/escape.ts';
import {mediaIdIn, parseRecord} from '../../service/record.ts';
import {type ListedInput, type ListedInputs, listInputs} from './inputs.ts';
import {fileFields, Lines, type ProofCounts, ProofTally, textLine} from './output.ts';
import type {JournalRequest} from './request.ts';
import {verifyService} from './verify-service.ts';

type Options<Action> = Extract<JournalRequest, {action: Action}>;

/** Prints the result of each input, one per line, in the order in which they were started. */
export async function listJournals(
  options: Options<'list'>,
  {host, stdout}: Invocation,
): Promise<ExitStatus> {
  const listed = await listFormat(options);
  const lines = new Lines(stdout);
  const files = options.files.length > 0 ? options.files : await ownJournals(host);
  for (const file of files) {
    await withJournals([file], host, async ([reader]) => {
      if (reader === undefined) return;
      for await (const {number, path, entry} of reader.sightings()) {
        if (!isShown(reader, number, path, entry)) continue;
        await lines.add(await listed(reader, path, entry));
      }
    });
  }
  await lines.end();
  return 0;
}

type ListFormat = (reader: JournalReader, path: PathKey, entry: Entry) => Promise<string>;

async function listFormat({json, template}: Options<'list'>): Promise<ListFormat> {
  if (template === undefined) return json ? entryJson : entryText;
  if (json)
    throw new MediaError('usage', 'Two output formats were given: json and template.', {hint: 'Choose one.'});
  const {parseTemplate, renderTemplate} = await import('../../output/results/template.ts');
  const parsed = parseTemplate(template);
  return async (reader, path, entry) => {
    if (entry.state !== 'done') return '';
    const {file, fileBase64} = fileFields(path);
    const received = parseRecord(await reader.recordOf(entry));
    return renderTemplate(parsed, {
      ...{file, path: file, status: statusOf[entry.state], size: entry.size},
      fileBytes: fileBase64 === undefined ? undefined : Buffer.from(fileBase64, 'base64'),
      received: 'problem' in received ? undefined : received,
    });
  };
}

/** Shows stored and unknown content always, any other result only if nothing newer is known about its path. */
function isShown({index}: JournalReader, number: number, path: PathKey, {row, state}: Entry): boolean {
  const {history} = index;
  const numbers = history?.of(path) ?? [];
  // A path that was seen several times with the same content is printed once.
  const latest = numbers.find(each => history?.at(each).row === row);
  if (latest !== number) return false;
  return number === numbers[0] || state === 'done' || state === 'unknown';
}

/** The name of each upload state in the output. */
export const statusOf = {
  done: 'uploaded',
  failed: 'failed',
  unknown: 'unknown',
  pending: 'pending',
  forgotten: 'forgotten',
} as const;

async function entryText(reader: JournalReader, path: PathKey, entry: Entry): Promise<string> {
  const id =
    entry.state === 'done' ? mediaIdIn(await reader.recordOf(entry)) : await entryReason(reader, entry);
  return textLine(statusOf[entry.state], path, id);
}

async function entryJson(reader: JournalReader, path: PathKey, entry: Entry): Promise<string> {
  const {size, state} = entry;
  const {key} = await reader.lineOf(entry);
  const error =
    state === 'failed'
      ? await reader.failureOf(entry)
      : state === 'unknown'
        ? {code: 'outcome_unknown', message: await entryReason(reader, entry)}
        : undefined;
  const record = state === 'done' ? `,"record":${await reader.recordOf(entry)}` : '';
  const fields = {
    ...fileFields(path),
    status: statusOf[state],
    error,
    size,
    idempotencyKey: key,
    journal: reader.shown,
  };
  return printableJson(`${JSON.stringify(fields).slice(0, -1)}${record}}\n`);
}

/**
 * Checks that each input is recorded exactly once, and prints those that are not. Files that an upload leaves out may
 * be missing.
 */
export async function checkJournals(
  options: Options<'check'>,
  invocation: Invocation,
  list: (inputs: ListedInputs, host: Invocation['host']) => AsyncIterable<ListedInput> = listInputs,
): Promise<ExitStatus> {
  const {host, stdout, report} = invocation;
  const tally = new ProofTally(stdout, options.json === true);
  await withJournals(options.files, host, async readers => {
    await verifyService(readers, invocation);
    const journals = new JournalSet(readers);
    for await (const input of list(options, host)) {
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
  try {
    return await journals.prove(input, () =>
      input.hash().catch(error => Promise.reject(new Unreadable(error))),
    );
  } catch (error) {
    if (error instanceof Unreadable && error.cause instanceof MediaError) return unreadable(error.cause);
    throw error;
  }
}

/** Distinguishes an unreadable input from an unreadable journal. */
class Unreadable extends Error {
  constructor(cause: unknown) {
    super('unreadable', {cause});
  }
}

/** Merges journals into one if each of their inputs is recorded exactly once; otherwise prints those that are not. */
export async function mergeJournals(
  options: Options<'merge'>,
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

/** Takes a journal over from a run that is gone, and releases it. Rejects if that run is certainly alive. */
export async function unlockJournal(
  {file}: Options<'unlock'>,
  {host, report}: Invocation,
): Promise<ExitStatus> {
  const journal = await openJournal(file, host, {isGone: true, note: text => report.note(text)});
  await journal.close();
  report.note(`The journal ${file} is free.`);
  return 0;
}

/** The journals that `--once` keeps on this machine. */
async function ownJournals(host: Invocation['host']): Promise<string[]> {
  const {journalDirectory} = await import('../../settings/paths.ts');
  const directory = journalDirectory(host);
  const names = await readdir(directory).catch(() => []);
  return names.filter(name => name.endsWith('.ndjson')).map(name => join(directory, name));
}

/** Opens journals for reading and closes them after `use`. */
export async function withJournals<T>(
  files: readonly string[],
  host: Host,
  use: (readers: readonly JournalReader[]) => Promise<T>,
): Promise<T> {
  const readers = await readJournals(files, host, {paths: true});
  return use(readers).finally(() => closeAll(readers));
}
