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
    const reader = await readMemory(file, host, {...(!isNamed && {user: host})});
    for await (const path of reader.paths())
      for (const entry of latestUploads(reader, path))
        await lines.add(await formatEntry(reader, path, entry));
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

/** The entries of a path that are shown: what is stored or unknown, any other result only if nothing newer is known. */
function latestUploads({index}: JournalReader, path: PathKey): IndexRow[] {
  const entries = index.entriesOfPath(path);
  return entries.filter((entry, place) => place === 0 || ['done', 'unknown'].includes(entry.state)).reverse();
}

/** The name of a state in the output. */
function statusOf(state: IndexRow['state']): JournalEntryLine['status'] {
  return state === 'done' ? 'uploaded' : state;
}

async function entryText(reader: JournalReader, path: PathKey, entry: IndexRow): Promise<string> {
  const id =
    entry.state === 'done' ? (await reader.recordOf(entry)).record.id : await entryReason(reader, entry);
  return textLine(statusOf(entry.state), path, id);
}

async function entryJson(reader: JournalReader, path: PathKey, entry: IndexRow): Promise<string> {
  const {size, state, offset} = entry;
  const {key} = await reader.lineOf(entry);
  const error =
    state === 'failed'
      ? await reader.failureOf(entry)
      : state === 'unknown'
        ? {code: 'outcome_unknown', message: await entryReason(reader, entry)}
        : undefined;
  const fields = {
    ...fileFields(path),
    status: statusOf(state),
    error,
    size,
    // A manifest has no keys, and its lines are at the offsets before a file.
    idempotencyKey: offset < 0 ? undefined : key,
    journal: reader.displayPath,
  };
  return jsonLine<JournalEntryLine>(
    fields,
    state === 'done' ? (await reader.recordOf(entry)).json : undefined,
  );
}

/** The journals that `--once` keeps on this machine. */
async function ownJournals(host: Invocation['host']): Promise<string[]> {
  const {journalDirectory} = await import('../../settings/paths.ts');
  const directory = journalDirectory(host);
  const names = await host.files.readdir(directory).catch(() => []);
  return names.filter(name => name.endsWith('.ndjson')).map(name => join(directory, name));
}
