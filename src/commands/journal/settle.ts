import type {Invocation} from '../../cli/invocation.ts';
import {failed, MediaError} from '../../errors.ts';
import type {Host} from '../../host.ts';
import {
  contentOf,
  type Entry,
  type Journal,
  type JournalReader,
  openJournal,
  type PathKey,
  pathFields,
  pathKey,
  readJournal,
} from '../../journal/journal.ts';
import {readText} from '../../lib/files/read-text.ts';
import {typedPath} from '../../lib/files/typed-path.ts';
import {isSha256} from '../../lib/json.ts';
import {shellQuoted} from '../../lib/shell.ts';
import {mediaIdIn} from '../../service/record.ts';
import {normalizeName} from '../../sources/find/walk/names.ts';
import {statusOf} from './list.ts';

/** How `media journal resolve` settles unknown uploads. */
export interface ResolveOptions {
  file: string;
  /** A path, an idempotency key or the SHA-256 of the content; absent with `all`. */
  what?: string;
  /** Whether to settle all unknown uploads. */
  all?: boolean;
  /** The media ID at the service. */
  uploaded?: string;
  /** A file of media IDs, each after a path, an idempotency key or a SHA-256. */
  uploadedFrom?: string;
  resend?: boolean;
}

/** An upload to settle with its media ID; without an ID, it is sent again. */
interface Decision {
  name: string;
  entry: Entry;
  id?: string | undefined;
}

/** Records the user's decisions about unknown uploads. If none of them matches, nothing is written. */
export async function resolveUnknown(options: ResolveOptions, invocation: Invocation): Promise<void> {
  refuseUnclear(options);
  const {file, what, uploaded, uploadedFrom} = options;
  const {host, report} = invocation;
  const listed = uploadedFrom === undefined ? undefined : await mediaIdsIn(uploadedFrom, host);
  const choose = (reader: JournalReader) =>
    what === undefined ? chooseAll(reader, listed) : chooseOne(reader, what, uploaded);
  await change(file, invocation, choose, async (journal, decisions) => {
    for (const {entry, id} of decisions)
      await journal.settle(entry, id === undefined ? 'resend' : {uploaded: id});
    const [first, ...others] = decisions;
    if (first !== undefined && others.length === 0) {
      const end =
        first.id === undefined ? 'the next run sends it again' : `recorded as uploaded, ${first.id}`;
      report.note(`${first.name}: ${end}.`);
    } else report.note(`${decisions.length} unknown uploads were settled.`);
    let left = 0;
    for await (const _ of journal.reader.entriesIn('unknown')) left += 1;
    const are = left === 1 ? 'is' : 'are';
    if (left > 0) report.note(`${left} ${are} still unknown: media journal list ${shellQuoted(file)}`);
  });
}

/** Changes what `choose` finds in a journal. It is asked before the journal is opened to be written: a mistake changes nothing. */
async function change<Choice>(
  file: string,
  {host, report}: Invocation,
  choose: (reader: JournalReader) => Promise<Choice>,
  act: (journal: Journal, chosen: Choice) => Promise<void>,
): Promise<void> {
  await choose(await readJournal(file, host, {paths: true}));
  const journal = await openJournal(file, host, {note: text => report.note(text)});
  try {
    await act(journal, await choose(journal.reader));
  } finally {
    await journal.close();
  }
}

function refuseUnclear({what, all, uploaded, uploadedFrom, resend}: ResolveOptions): void {
  const hint = 'Check whether the service has the file: if so, --uploaded ID; if not, --resend.';
  if ((what === undefined) !== (all === true))
    throw new MediaError('usage', 'Give the path of the upload to settle, or --all.', {hint});
  if (all === true && uploaded !== undefined)
    throw new MediaError('usage', '--all needs a media ID for each upload, not one for all of them.', {
      hint: 'List them in a file, one path and ID per line: --all --uploaded-from FILE',
    });
  const ways = [uploaded, uploadedFrom, resend].filter(way => way !== undefined);
  if (ways.length !== 1 || uploaded === '' || (uploadedFrom !== undefined && all !== true))
    throw new MediaError('usage', 'Add either --uploaded with the media ID, or --resend.', {hint});
}

/** All unknown uploads, or those that the list has media IDs for. */
async function chooseAll(
  reader: JournalReader,
  listed: ReadonlyMap<string, string> | undefined,
): Promise<Decision[]> {
  const decisions: Decision[] = [];
  const used = new Set<string>();
  for await (const {path, entry} of reader.entriesIn('unknown')) {
    const names = await namesOf(reader, path, entry);
    const found = names.find(name => listed?.has(name));
    if (listed !== undefined && found === undefined) continue;
    const isPath = found !== undefined && found === names.at(-1);
    // Paths that are not UTF-8 may be shown alike.
    if (isPath && (used.has(found) || reader.entriesOf(path, 'unknown').length > 1))
      throw ambiguous(reader, found);
    if (isPath) used.add(found);
    decisions.push({
      name: pathFields(path).path,
      entry,
      id: found === undefined ? undefined : listed?.get(found),
    });
  }
  if (decisions.length > 0) return decisions;
  const which = listed === undefined ? '' : ' that the list names';
  throw new MediaError('usage', `The journal ${reader.shown} contains no unknown uploads${which}.`, {
    hint: `To see all uploads: media journal list ${shellQuoted(reader.shown)}`,
  });
}

/** The names of an upload: its idempotency key, the hash of its content and, last, its path, which others may have too. */
async function namesOf(reader: JournalReader, path: PathKey, entry: Entry): Promise<string[]> {
  const {key, sha256} = await reader.lineOf(entry);
  return [key, ...(sha256 === undefined ? [] : [sha256]), pathFields(path).path];
}

async function chooseOne(reader: JournalReader, what: string, id: string | undefined): Promise<Decision[]> {
  const [entry, ...others] = await named(reader, what, 'unknown');
  if (others.length > 0) throw ambiguous(reader, what);
  if (entry !== undefined) return [{name: what, entry, id}];
  const [latest] = reader.index.entriesOf(normalizeName(pathKey(what)));
  throw latest === undefined
    ? notThere(reader, what)
    : new MediaError('usage', `${what} is not unknown: it is ${statusOf(latest.state)}.`, {
        hint: 'Only unknown uploads can be settled.',
      });
}

/** The uploads with this path; if there are none, those with this idempotency key, SHA-256 or media ID. */
async function named(reader: JournalReader, what: string, state: 'unknown' | 'done'): Promise<Entry[]> {
  const entries = reader.entriesOf(normalizeName(pathKey(what)), state);
  if (entries.length > 0) return entries;
  for await (const {path, entry} of reader.entriesIn(state)) {
    const names = await namesOf(reader, path, entry);
    if (state === 'done') names.push(mediaIdIn(await reader.recordOf(entry)));
    const isContent = isSha256(what) && reader.index.contentOf(entry.row) === contentOf(what, entry.size);
    if (isContent || names.includes(what)) entries.push(entry);
  }
  return entries;
}

function notThere({shown}: JournalReader, what: string): MediaError {
  return new MediaError('usage', `${what} is not in the journal ${shown}.`, {
    hint: `Use a path as this command prints it: media journal list ${shellQuoted(shown)}`,
  });
}

/** The same path under several roots, or of a file that was changed in between: an ID belongs to one content. */
function ambiguous({shown}: JournalReader, what: string): MediaError {
  return new MediaError('usage', `Several uploads match ${what}.`, {
    hint: `Give the idempotency key of the one that you mean: media journal list --json ${shellQuoted(shown)}`,
  });
}

/** Records that the service no longer has a file, so that the next run sends it again. */
export async function forgetUpload(
  {file, what}: {file: string; what: string},
  invocation: Invocation,
): Promise<void> {
  const choose = async (reader: JournalReader) => {
    const {index} = reader;
    const entries = await named(reader, what, 'done');
    const [content, ...others] = new Set(entries.map(({row}) => index.contentOf(row)));
    if (content === undefined) throw notThere(reader, what);
    if (others.length > 0) throw ambiguous(reader, what);
    // It may have been sent in several ways and, in merged journals, by several runs.
    return index.entriesWith(content).filter(({state}) => state === 'done');
  };
  await change(file, invocation, choose, async (journal, entries) => {
    for (const entry of entries) await journal.forget(entry);
  });
  invocation.report.note(`${what}: forgotten, so the next run sends it again.`);
}

/** Takes a journal over from a run that is gone, and releases it. Rejects if that run is certainly alive. */
export async function unlockJournal({file}: {file: string}, {host, report}: Invocation): Promise<void> {
  const journal = await openJournal(file, host, {isGone: true, note: text => report.note(text)});
  await journal.close();
  report.note(`The journal ${file} is free.`);
}

/** The media IDs of a list: on each line a path, an idempotency key or a SHA-256, then a space and the ID. */
async function mediaIdsIn(path: string, host: Host): Promise<Map<string, string>> {
  const hint = 'Use a file with a path and a media ID on each line.';
  const text = await readText(typedPath(host.cwd(), path)).catch(
    failed('file_unreadable', `The list ${path} could not be read`, hint),
  );
  const ids = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, name, id] = /^(.*\S)\s+(\S+)\s*$/.exec(line) ?? [];
    if (name === undefined || id === undefined)
      throw new MediaError('usage', `Line ${index + 1} of ${path} is not a path followed by a media ID.`, {
        hint: 'Write one on each line, as in: photos/cat.png med_123',
      });
    ids.set(name, id);
  }
  return ids;
}
