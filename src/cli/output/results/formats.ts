import {type MediaRecord, publicUrl, webUrl} from '../../../engine/service/record.ts';
import type {UploadResult} from '../../../engine/transfer/outcome.ts';
import {isObject} from '../../../lib/json.ts';
import {own, pick} from '../../../lib/object.ts';
import {printable} from '../../../lib/printable.ts';
import {jsonLine, markdownText, markdownUrl, printableJson} from '../escape.ts';
import {type DisposalFields, type JsonOutputs, reportedFacts} from '../json-output.ts';
import {errorFields} from '../report.ts';

/** The values of `--format`. */
export const formatChoices = ['table', 'url', 'markdown'] as const;
export const formatNames = [...formatChoices, 'json', 'ndjson'] as const;
export type FormatName = (typeof formatNames)[number];

/** The fields of a media record (docs/design/interface.md) in the order in which they are shown. */
const recordFields = [
  ...['id', 'type', 'urls', 'width', 'height', 'imageType'],
  ...['fileUrl', 'duration', 'thumbnailUrl', 'hlsUrl', 'size'],
];

/** The URL without which a line of a format is empty; undefined if the lines say more than a URL. */
export const urlOfFormat: Readonly<Record<FormatName, typeof publicUrl | undefined>> = {
  ...{table: undefined, json: undefined, ndjson: undefined},
  url: publicUrl,
  markdown: webUrl,
};

/** One outcome in a line format; nothing if the format leaves it out. All but ndjson contain only successes. */
export function formatOutcome(format: Exclude<FormatName, 'table'>, outcome: UploadResult): string {
  if (format === 'ndjson') return ndjsonLine(outcome);
  if (outcome.status !== 'uploaded' && outcome.status !== 'skipped') return '';
  const {record, json} = outcome;
  switch (format) {
    case 'json':
      return `${printableJson(json)}\n`;
    case 'url':
      return `${printable(publicUrl(record) ?? '')}\n`;
    case 'markdown':
      return `${markdownLine(outcome.name, record)}\n`;
  }
}

/** The line of `media upload --ndjson`; `more`: what media watch has done with the file. */
export function ndjsonLine(outcome: UploadResult, more: DisposalFields = {}): string {
  const {name: file, nameBytes, status} = outcome;
  const error = 'error' in outcome ? outcome.error : 'unrecorded' in outcome ? outcome.unrecorded : undefined;
  const fields = {
    file,
    fileBase64: nameBytes?.toString('base64'),
    status,
    error: error && errorFields(error),
    ...pick(outcome, reportedFacts),
    ...more,
  };
  return jsonLine<JsonOutputs['watch']>(fields, 'record' in outcome ? outcome.json : undefined);
}

/** A Markdown image, or a link for other files; empty if the record has no web URL. */
function markdownLine(file: string, record: MediaRecord): string {
  const name = markdownText(file.split(/[\\/]/).pop() ?? file);
  const target = markdownUrl(publicUrl(record) ?? '');
  if (target === undefined) return '';
  return record.type === 'IMAGE' ? `![${name}](${target})` : `[${name}](${target})`;
}

/** A field's value as text: strings unchanged, null as `empty`, structures as JSON. */
export function fieldText(value: unknown, empty: string): string {
  if (value === null || value === undefined) return empty;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A record as rows of field and value: the fields of the interface first, then any others. */
export function recordRows(record: MediaRecord): [string, string][] {
  const others = Object.keys(record).filter(name => !recordFields.includes(name));
  return [...recordFields, ...others]
    .filter(name => own(record, name) !== undefined)
    .map(name => [
      printable(name),
      name === 'urls' ? urlsText(record.urls) : printable(fieldText(own(record, name), '-')),
    ]);
}

function urlsText(urls: unknown): string {
  if (!Array.isArray(urls) || urls.length === 0) return printable(fieldText(urls, '-'));
  return urls
    .map(entry => {
      const {variant, url, ...rest}: Record<string, unknown> = isObject(entry) ? entry : {url: entry};
      const parts = [variant, url, Object.keys(rest).length === 0 ? undefined : rest];
      return printable(
        parts
          .filter(part => part !== undefined)
          .map(part => fieldText(part, '-'))
          .join(' '),
      );
    })
    .join('\n');
}

export const outcomeHeadings = ['file', 'status', 'id', 'pixels', 'size', 'url or error'];

/** The row of an outcome among several inputs: file, status, id, pixels, size and URL, or the error code. */
export function outcomeRow(outcome: UploadResult): string[] {
  const start = [printable(outcome.name), outcome.status];
  if (!('record' in outcome)) return [...start, '', '', String(outcome.size ?? ''), codeOf(outcome)];
  const {record} = outcome;
  const {width, height} = record;
  const pixels = width == null || height == null ? '' : `${fieldText(width, '')}x${fieldText(height, '')}`;
  return [
    ...start,
    printable(fieldText(record.id, '')),
    printable(pixels),
    printable(fieldText(record.size, '')),
    printable(publicUrl(record) ?? ''),
  ];
}

export const checkHeadings = ['file', 'status', 'type', 'size', 'note'];

/** The row of an outcome of a dry run. */
export function checkRow(outcome: UploadResult): string[] {
  const {name, status, contentType = '', size = ''} = outcome;
  const note = codeOf(outcome) || (outcome.geotags === 'stripped' ? 'without its location' : '');
  return [printable(name), status, printable(contentType), String(size), note];
}

function codeOf(outcome: UploadResult): string {
  return 'error' in outcome ? outcome.error.code : '';
}
