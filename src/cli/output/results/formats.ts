import {type MediaRecord, publicUrl, webUrl} from '../../../engine/service/record.ts';
import type {UploadResult} from '../../../engine/transfer/outcome.ts';
import {isObject} from '../../../lib/json.ts';
import {own, pick} from '../../../lib/object.ts';
import {printable} from '../../../lib/printable.ts';
import {formatBytes} from '../../../lib/units.ts';
import {linkTarget} from '../../../lib/url.ts';
import {jsonLine, markdownText, printableJson} from '../escape.ts';
import {type DisposalFields, type JsonOutputs, reportedFacts} from '../json-output.ts';
import {errorFields} from '../report.ts';

type StoredResult = UploadResult & {status: 'uploaded' | 'skipped'};

/** A format with a line for each stored file. */
interface LineFormat {
  /** The URL in the line, if it needs one: without it, the line is empty (`no_url`). */
  urlOf?: typeof publicUrl;
  line: (outcome: StoredResult, url: string) => string;
}

const formats = {
  url: {urlOf: publicUrl, line: (_outcome, url) => printable(url)},
  markdown: {urlOf: webUrl, line: markdownLine},
  json: {line: ({json}) => printableJson(json)},
} satisfies Record<string, LineFormat>;

type LineFormatName = keyof typeof formats;
export const lineFormats: Record<LineFormatName, LineFormat> = formats;

/** The values of `--format`, and what it does: in help, both are on one line of 80 columns. */
export const formatNames = ['table', ...(Object.keys(formats) as LineFormatName[]), 'ndjson'] as const;
export type FormatName = (typeof formatNames)[number];
export const formatHelp = 'output format';

/** The fields of a media record (docs/design/interface.md) in the order in which they are shown. */
export const recordFields = [
  ...(['id', 'type', 'urls', 'width', 'height', 'imageType'] as const),
  ...(['fileUrl', 'duration', 'thumbnailUrl', 'hlsUrl', 'size'] as const),
];

/** One outcome in a format; nothing if the format leaves it out. All but ndjson contain only successes. */
export function formatOutcome(format: Exclude<FormatName, 'table'>, outcome: UploadResult): string {
  if (format === 'ndjson') return ndjsonLine(outcome);
  if (outcome.status !== 'uploaded' && outcome.status !== 'skipped') return '';
  const {urlOf, line} = lineFormats[format];
  const url = urlOf === undefined ? '' : urlOf(outcome.record);
  return url === undefined ? '\n' : `${line(outcome, url)}\n`;
}

/** The line of `media upload --ndjson`; `more`: what media watch has done with the file. */
export function ndjsonLine(outcome: UploadResult, more: DisposalFields = {}): string {
  const {file, nameBytes, status} = outcome;
  const {id, url} = 'record' in outcome ? outcome : {};
  const error = 'error' in outcome ? outcome.error : 'unrecorded' in outcome ? outcome.unrecorded : undefined;
  const fields = {
    file,
    fileBase64: nameBytes?.toString('base64'),
    ...{status, id, url},
    error: error && errorFields(error),
    ...pick(outcome, reportedFacts),
    ...more,
  };
  return jsonLine<JsonOutputs['watch']>(fields, 'record' in outcome ? outcome.json : undefined);
}

/** A Markdown image, or a link for other files. */
function markdownLine({file, record: {type}}: StoredResult, url: string): string {
  const link = `[${markdownText(file.split(/[\\/]/).pop() ?? file)}](${linkTarget(url)})`;
  return type === 'IMAGE' ? `!${link}` : link;
}

/** A field's value as text: strings unchanged, null as `empty`, structures as JSON. */
export function fieldText(value: unknown, empty: string): string {
  if (value === null || value === undefined) return empty;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A record as rows of field and value: the fields of the interface first, then others. `size`: of the file. */
export function recordRows(record: MediaRecord, size?: number): [string, string][] {
  const urls = urlsText(record);
  const texts: Record<string, string> = {urls, ...(record.size === size && {size: formatBytes(size ?? 0)})};
  const others = Object.keys(record).filter(name => !recordFields.some(known => known === name));
  return [...recordFields, ...others]
    .filter(name => own(record, name) !== undefined && own(texts, name) !== '')
    .map(name => [printable(name), own(texts, name) ?? printable(fieldText(own(record, name), '-'))]);
}

/** The URLs of a record, one per line; empty if all that they say is `fileUrl`, which has its own row. */
function urlsText({urls, fileUrl}: MediaRecord): string {
  if (!Array.isArray(urls) || urls.length === 0) return printable(fieldText(urls, '-'));
  if (JSON.stringify(urls) === JSON.stringify([{variant: 'PUBLIC', url: fileUrl}])) return '';
  return urls
    .map(entry => {
      const {variant, url, ...rest}: Record<string, unknown> = isObject(entry) ? entry : {url: entry};
      const parts = [variant, url, Object.keys(rest).length === 0 ? undefined : rest];
      const texts = parts.filter(part => part !== undefined).map(part => fieldText(part, '-'));
      return printable(texts.join(' '));
    })
    .join('\n');
}

/** A column of a table: its heading, and what it shows of an outcome. */
export type TableColumn = readonly [heading: string, text: (outcome: UploadResult) => string | undefined];

/** The columns for several inputs, or for a dry run. Only people read them: they may change, with the docs. */
export function tableColumns(dryRun: boolean, isVerbose: boolean): readonly TableColumn[] {
  const codeOf = (outcome: UploadResult) => ('error' in outcome ? outcome.error.code : undefined);
  const file: TableColumn = ['file', outcome => outcome.file];
  const status: TableColumn = ['status', outcome => outcome.status];
  const size: TableColumn = [
    'size',
    outcome => (outcome.size === undefined ? undefined : formatBytes(outcome.size)),
  ];
  if (dryRun) {
    const note = (outcome: UploadResult) =>
      codeOf(outcome) ?? (outcome.geotags === 'stripped' ? 'without its location' : undefined);
    return [file, status, ['type', outcome => outcome.contentType], size, ['note', note]];
  }
  const url: TableColumn = ['url or error', outcome => ('record' in outcome ? outcome.url : codeOf(outcome))];
  const id: TableColumn = ['id', outcome => ('record' in outcome ? outcome.id : undefined)];
  return [file, status, size, url, ...(isVerbose ? [id] : [])];
}
