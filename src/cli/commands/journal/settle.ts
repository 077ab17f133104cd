import {
  type IndexRow,
  type Journal,
  type JournalReader,
  openJournal,
  pathFields,
  pathKey,
  readJournal,
} from '../../../engine/journal/journal.ts';
import {isManifest} from '../../../engine/manifest/manifest-store.ts';
import {openManifest} from '../../../engine/manifest/run-manifest.ts';
import type {ReceivedRecord} from '../../../engine/service/record.ts';
import {normalizeName} from '../../../engine/sources/find/walk/names.ts';
import {MediaError, throwAs} from '../../../errors.ts';
import type {Host} from '../../../host.ts';
import {readText} from '../../../lib/files/read-text.ts';
import {resolveUserPath} from '../../../lib/files/typed-path.ts';
import {isSha256} from '../../../lib/json.ts';
import {omitUndefined} from '../../../lib/object.ts';
import {shellQuoted} from '../../../lib/shell.ts';
import type {Invocation} from '../../session/invocation.ts';

/** How `media journal resolve` settles unknown uploads. */
export interface ResolveOptions {
  file: string;
  /** A path, an idempotency key or the SHA-256 of the content; absent with `all`. */
  what?: string;
  /** Whether to settle all unknown uploads. */
  all?: boolean;
  /** The media ID at the service. */
  uploaded?: string;
  /** The URL that the service has given the file. */
  url?: string;
  /** A file of media IDs and URLs, each after a path, an idempotency key or a SHA-256. */
  uploadedFrom?: string;
  resend?: boolean;
}

/** An upload to settle with what is known of its record; without a record, it is sent again. */
interface Decision {
  name: string;
  entry: IndexRow;
  record?: ReceivedRecord['record'] | undefined;
}

/** Records the user's decisions about unknown uploads. If none of them matches, nothing is written. */
export async function resolveUnknown(options: ResolveOptions, invocation: Invocation): Promise<void> {
  requireOneDecision(options);
  const {file, what, uploaded: id, url: fileUrl, uploadedFrom} = options;
  const {host, report} = invocation;
  const list = uploadedFrom === undefined ? undefined : await recordsIn(uploadedFrom, host);
  const records =
    what === undefined ? list : new Map([[what, id === undefined ? id : omitUndefined({id, fileUrl})]]);
  /** The decisions on what was named, or with --all on all unknown uploads; throws if there is none. */
  const decide = async (reader: JournalReader) => {
    const decisions: Decision[] = records === undefined ? [] : await decisionsFor(file, reader, records);
    if (records === undefined)
      for await (const {path, entry} of reader.entriesIn('unknown'))
        decisions.push({name: pathFields(path).path, entry});
    if (decisions.length > 0) return decisions;
    const which = list === undefined ? what : 'that the list names';
    throw noSuchUploadError(file, `no unknown upload${which === undefined ? '' : ` ${which}`}`);
  };
  const notes: string[] = [];
  await changeJournal(file, invocation, decide, async (journal, decisions) => {
    for (const decision of decisions) await journal.settle(decision.entry, decision.record);
    const [first, second] = decisions;
    const record = first?.record;
    const end = record ? `recorded as uploaded, ${record.id}` : 'the next run sends it again';
    notes.push(second ? `${decisions.length} unknown uploads were settled.` : `${first?.name}: ${end}.`);
    let remaining = 0;
    for await (const _ of journal.reader.entriesIn('unknown')) remaining += 1;
    const are = remaining === 1 ? 'is' : 'are';
    if (remaining > 0)
      notes.push(`${remaining} ${are} still unknown: media journal list ${shellQuoted(file)}`);
  });
  for (const note of notes) report.note(note);
}

/** Chooses from a journal, then opens it for writing and chooses again, so that a mistake changes nothing. */
async function changeJournal<Choice>(
  file: string,
  {host, report}: Invocation,
  choose: (reader: JournalReader) => Promise<Choice>,
  act: (journal: Journal, choice: Choice) => Promise<void>,
): Promise<void> {
  const note = (text: string) => report.note(text);
  const isOfRepository = await isManifest(file, host);
  // A manifest first gets what a run that was cut off has left beside it; without a change, it is not written.
  if (isOfRepository) await (await openManifest(file, host, {note})).close();
  else await choose(await readJournal(file, host, {paths: true}));
  const journal = await (isOfRepository ? openManifest : openJournal)(file, host, {note});
  try {
    await act(journal, await choose(journal.reader));
  } finally {
    await journal.close();
  }
}

/** Throws a usage error unless the options say what to settle, and exactly one way to settle it. */
function requireOneDecision({what, all, uploaded, url, uploadedFrom, resend}: ResolveOptions): void {
  const hint = 'Check whether the service has the file: if so, --uploaded ID --url URL; if not, --resend.';
  if ((what === undefined) !== (all === true))
    throw new MediaError('usage', 'Give the path of the upload to settle, or --all.', {hint});
  if (all === true && uploaded !== undefined)
    throw new MediaError('usage', '--all needs a media ID for each upload, not one for all of them.', {
      hint: 'List them in a file, one path and ID per line: --all --uploaded-from FILE',
    });
  const ways = [uploaded, uploadedFrom, resend].filter(way => way !== undefined);
  const isMisplaced = (url !== undefined && uploaded === undefined) || (uploadedFrom !== undefined && !all);
  if (ways.length !== 1 || uploaded === '' || isMisplaced)
    throw new MediaError('usage', 'Add either --uploaded with the media ID, or --resend.', {hint});
}

/** Gives unknown uploads the records of their names; ignores a name without an upload. */
async function decisionsFor(
  file: string,
  reader: JournalReader,
  records: ReadonlyMap<string, ReceivedRecord['record'] | undefined>,
): Promise<Decision[]> {
  const decisions = new Map<number, Decision>();
  for (const [name, entries] of await uploadsByName(reader, [...records.keys()], 'unknown')) {
    if (entries.length > 1) throw ambiguousError(file, name);
    for (const entry of entries) decisions.set(entry.row, {name, entry, record: records.get(name)});
  }
  return [...decisions.values()];
}

/** The uploads of each name: those with this path, else those with this idempotency key, SHA-256 or media ID. */
async function uploadsByName(reader: JournalReader, names: readonly string[], state: 'unknown' | 'done') {
  const uploads = new Map(names.map(name => [name, reader.entriesOf(normalizeName(pathKey(name)), state)]));
  const others = new Map<string | undefined, IndexRow[]>();
  for (const [name, entries] of uploads) {
    // The index has the first half of each hash.
    if (entries.length === 0) others.set(isSha256(name) ? name.slice(0, 32) : name, entries);
  }
  if (others.size === 0) return uploads;
  for await (const {path, entry} of reader.entriesIn(state)) {
    const {key} = await reader.lineOf(entry);
    const hash = reader.index.contentOf(entry.row)?.slice(0, 32);
    const id = state === 'done' ? (await reader.recordOf(entry)).record.id : undefined;
    for (const alias of [key, hash, pathFields(path).path, id]) others.get(alias)?.push(entry);
  }
  return uploads;
}

function noSuchUploadError(file: string, what: string): MediaError {
  return new MediaError('usage', `${file} contains ${what}.`, {
    hint: `To see its uploads and their paths: media journal list ${shellQuoted(file)}`,
  });
}

/** The error if a name means several uploads: an ID belongs to one content, and a path may have had several. */
function ambiguousError(file: string, what: string): MediaError {
  return new MediaError('usage', `Several uploads match ${what}.`, {
    hint: `Give the idempotency key of the one that you mean: media journal list --json ${shellQuoted(file)}`,
  });
}

/** Records that the service no longer has a file, so that the next run sends it again. */
export async function forgetUpload(file: string, what: string, invocation: Invocation): Promise<void> {
  /** All stored uploads of the content that `what` names; throws if it names none, or several. */
  const findUploads = async (reader: JournalReader) => {
    const {index} = reader;
    const entries = (await uploadsByName(reader, [what], 'done')).get(what) ?? [];
    const [content, ...others] = new Set(entries.map(({row}) => index.contentOf(row)));
    if (content === undefined) throw noSuchUploadError(file, `no stored upload ${what}`);
    if (others.length > 0) throw ambiguousError(file, what);
    // It may have been sent in several ways and, in merged journals, by several runs.
    return index.entriesWithContent(content).filter(({state}) => state === 'done');
  };
  await changeJournal(file, invocation, findUploads, async (journal, entries) => {
    for (const entry of entries) await journal.forget(entry);
  });
  invocation.report.note(`${what}: forgotten, so the next run sends it again.`);
}

/** What a list knows: on each line a path, an idempotency key or a SHA-256, the media ID and, if known, the URL. */
async function recordsIn(path: string, host: Host): Promise<Map<string, ReceivedRecord['record']>> {
  const hint = 'Use a file with a path and a media ID on each line.';
  const text = await readText(resolveUserPath(host.cwd(), path), host.files).catch(
    throwAs('file_unreadable', `The list ${path} could not be read`, hint),
  );
  const records = new Map<string, ReceivedRecord['record']>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, name, id, fileUrl] = /^(.*?\S)\s+(\S+)(?:\s+(https?:\/\/\S+))?\s*$/.exec(line) ?? [];
    if (name === undefined || id === undefined)
      throw new MediaError('usage', `Line ${index + 1} of ${path} is not a path followed by a media ID.`, {
        hint: 'Write one on each line, as in: photos/cat.png med_123',
      });
    records.set(name, omitUndefined({id, fileUrl}));
  }
  return records;
}
