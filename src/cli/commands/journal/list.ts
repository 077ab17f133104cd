import {join} from 'node:path';
import {
  entryReason,
  type IndexRow,
  type JournalReader,
  type PathKey,
} from '../../../engine/journal/journal.ts';
import {readMemory} from '../../../engine/manifest/run-manifest.ts';
import {emptyUrl, publicUrl} from '../../../engine/service/record.ts';
import {jsonLine} from '../../output/escape.ts';
import type {JournalEntryLine} from '../../output/json-output.ts';
import type {Invocation} from '../../session/invocation.ts';
import {journalDirectory} from '../../settings/paths.ts';
import {fileFields, linesTo, textLine} from './output.ts';

interface ListOptions {
  files: readonly string[];
  json?: boolean;
  template?: string;
}

/** Prints the result of each input, one per line, in the order in which their paths were started. */
export async function listJournals(options: ListOptions, {host, stdout, report}: Invocation): Promise<void> {
  const formatEntry = await listFormat(options, report);
  const lines = linesTo(stdout);
  const isNamed = options.files.length > 0;
  const files = isNamed ? options.files : await ownJournals(host);
  for (const file of files) {
    // This machine's own journals are refused if other users may write them.
    const reader = await readMemory(file, host, isNamed ? undefined : host);
    for await (const path of reader.paths()) {
      const entries = reader.index.entriesOfPath(path);
      // The newest first: it is shown, and of older ones what is stored or unknown.
      const shown = entries.filter(({state}, at) => at === 0 || state === 'done' || state === 'unknown');
      for (const entry of shown.reverse()) await lines.add(await formatEntry(reader, path, entry));
    }
  }
  await lines.end();
}

type ListFormat = (reader: JournalReader, path: PathKey, entry: IndexRow) => Promise<string | Uint8Array>;

/** How an entry is printed; by a template, only stored entries are, and all others are an empty text. */
async function listFormat({json, template}: ListOptions, report: Invocation['report']): Promise<ListFormat> {
  if (template === undefined) return json ? entryJson : entryText;
  const {parseTemplate, renderTemplate} = await import('../../output/results/template.ts');
  const parts = parseTemplate(template);
  return async (reader, path, entry) => {
    if (entry.state !== 'done') return '';
    const {file, fileBase64} = fileFields(path);
    const storedRecord = await reader.recordOf(entry);
    if (parts.hasUrl && publicUrl(storedRecord.record) === undefined) report.warning(`${file}: ${emptyUrl}`);
    return renderTemplate(parts, {
      ...{file, path: file, status: statusOf(entry.state), size: entry.size},
      ...(fileBase64 !== undefined && {nameBytes: Buffer.from(fileBase64, 'base64')}),
      ...storedRecord,
    });
  };
}

/** The name of a state in the output. */
function statusOf(state: IndexRow['state']): JournalEntryLine['status'] {
  return state === 'done' ? 'uploaded' : state;
}

/** A line for people: of a stored upload its media ID, else why it is not stored. */
async function entryText(reader: JournalReader, path: PathKey, entry: IndexRow): Promise<string> {
  const isStored = entry.state === 'done';
  const rest = isStored ? (await reader.recordOf(entry)).record.id : await entryReason(reader, entry);
  return textLine(statusOf(entry.state), path, rest);
}

/** A line of `media journal list --json` (docs/schemas). */
async function entryJson(reader: JournalReader, path: PathKey, entry: IndexRow): Promise<string> {
  const {size, state, offset} = entry;
  const {key} = await reader.lineOf(entry);
  let error: JournalEntryLine['error'];
  if (state === 'failed') error = await reader.failureOf(entry);
  if (state === 'unknown') error = {code: 'outcome_unknown', message: await entryReason(reader, entry)};
  const json = state === 'done' ? (await reader.recordOf(entry)).json : undefined;
  // A manifest has no keys, and its lines are at the offsets before a file.
  const idempotencyKey = offset < 0 ? undefined : key;
  const fields = {...fileFields(path), status: statusOf(state), error, size, idempotencyKey};
  return jsonLine<JournalEntryLine>({...fields, journal: reader.displayPath}, json);
}

/** The journals that `--once` keeps on this machine. */
async function ownJournals(host: Invocation['host']): Promise<string[]> {
  const directory = journalDirectory(host);
  const names = await host.files.readdir(directory).catch(() => []);
  return names.filter(name => name.endsWith('.ndjson')).map(name => join(directory, name));
}
