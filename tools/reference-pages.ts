import type {CompletionData} from './command-tree.ts';
import {
  batchSystems,
  disposalFields,
  environment,
  errorCodes,
  exitStatuses,
  files,
  formats,
  type Row,
  settingsOf,
  signals,
  watchEvents,
} from './reference.ts';

interface Table {
  headings: readonly string[];
  rows: readonly Row[];
}

const optionHeadings = ['option', 'type', 'meaning'];

/** The generated tables, by page and by their name on the page. */
const tablesOf = (
  data: CompletionData,
  types: readonly Row[],
  membersOf: (name: string) => readonly Row[],
): Record<string, Record<string, Table>> => ({
  'docs/errors.md': {
    'exit statuses': {headings: ['status', 'meaning'], rows: exitStatuses},
    'error codes': {headings: ['code', 'exit', 'meaning', 'what to do'], rows: errorCodes},
  },
  'docs/library.md': {
    'fields of a result': {headings: ['field', 'type', 'meaning'], rows: membersOf('OutcomeFacts')},
    'calls of an observer': {headings: ['call', 'when'], rows: membersOf('TransferObserver')},
    'options of uploadAll': {headings: optionHeadings, rows: membersOf('UploadOptions')},
    'options of filesOf': {headings: optionHeadings, rows: membersOf('FilesOptions')},
    'options of MediaClient': {headings: optionHeadings, rows: membersOf('MediaClientOptions')},
  },
  'docs/output.md': {formats: {headings: ['option', 'prints'], rows: formats}},
  'docs/publishing.md': {
    'fields of a watched file': {headings: ['further field', 'value'], rows: disposalFields},
    'events of media watch': {headings: ['`event`', 'means', 'fields'], rows: watchEvents},
  },
  'docs/settings.md': {
    settings: {headings: ['setting', 'flag', 'environment', 'meaning'], rows: settingsOf(data)},
    environment: {headings: ['variable', 'meaning'], rows: environment},
    files: {headings: ['', 'Linux', 'macOS', 'Windows'], rows: files},
  },
  'docs/sharding.md': {
    'batch systems': {headings: ['batch system', 'variables that are read'], rows: batchSystems},
  },
  'docs/platforms.md': {signals: {headings: ['signal', 'effect', 'on Windows'], rows: signals}},
  'docs/content-types.md': {
    'content types': {
      headings: ['content type', 'extensions', 'extensions that the content must confirm'],
      rows: types,
    },
  },
});

/** The pages that contain generated tables, by their paths: each text with its tables generated again. */
export function referencePages(
  data: CompletionData,
  types: readonly Row[],
  membersOf: (name: string) => readonly Row[],
): Map<string, (text: string) => string> {
  const pages = Object.entries(tablesOf(data, types, membersOf));
  return new Map(pages.map(([path, tables]) => [path, text => withTables(path, text, tables)]));
}

/** Throws if the page has no place for a table. */
function withTables(path: string, text: string, tables: Record<string, Table>): string {
  return Object.entries(tables).reduce((page, [name, table]) => {
    const [begin, end] = [`<!-- ${name}: made by npm run completions -->\n`, `<!-- end of ${name} -->`];
    const [start, stop] = [page.indexOf(begin), page.indexOf(end)];
    if (start < 0 || stop < start) throw new Error(`${path} has no place for the table of ${name}.`);
    return `${page.slice(0, start + begin.length)}\n${markdownTable(table)}\n${page.slice(stop)}`;
  }, text);
}

function markdownTable({headings, rows}: Table): string {
  const line = (cells: readonly string[]) =>
    `|${cells.map(cell => ` ${cell} `.replace('  ', ' ')).join('|')}|\n`;
  const rule = `|${headings.map(() => '---|').join('')}\n`;
  return `${line(headings)}${rule}${rows.map(row => line(row)).join('')}`;
}
