import type {CompletionData} from './command-tree.ts';
import {environment, errorCodes, exitStatuses, fieldsOf, files, type Row, settingsOf} from './reference.ts';
import type {Schema, SchemaName} from './schemas.ts';

interface Table {
  headings: readonly string[];
  rows: readonly Row[];
}

/** The generated tables, by page and by their name on the page. */
const tablesOf = (
  data: CompletionData,
  extensions: readonly Row[],
  schemas: ReadonlyMap<SchemaName, Schema>,
  optionsOfUploadAll: readonly Row[],
): Record<string, Record<string, Table>> => ({
  'docs/errors.md': {
    'exit statuses': {headings: ['status', 'meaning'], rows: exitStatuses},
    'error codes': {
      headings: ['code', 'meaning'],
      rows: errorCodes.map(([code, exit, meaning = '']) => [
        exit === '1' ? code : `${code} (${exit})`,
        meaning,
      ]),
    },
  },
  'docs/library.md': {'options of uploadAll': {headings: ['option', 'meaning'], rows: optionsOfUploadAll}},
  'docs/output.md': {
    'fields of an upload': fieldTable('field', schemas.get('upload')),
  },
  'docs/settings.md': {
    settings: {
      headings: ['setting', 'overridden by', 'meaning'],
      rows: settingsOf(data).map(([name, flag = '', variable = '', meaning = '']) => [
        name,
        [flag, variable].filter(other => other !== '').join(', '),
        meaning,
      ]),
    },
    // The first table has the variables of settings.
    environment: {
      headings: ['further variable', 'meaning'],
      rows: environment.filter(([names]) =>
        names.split(', ').some(name => settingsOf(data).every(([, , variable]) => variable !== name)),
      ),
    },
    files: {headings: ['', 'Linux', 'macOS', 'Windows'], rows: files},
  },
  'docs/content-types.md': {
    extensions: {headings: ['', 'extensions'], rows: extensions},
  },
});

function fieldTable(heading: string, schema: Schema = {}): Table {
  return {headings: [heading, 'value'], rows: fieldsOf(schema)};
}

/** The pages that contain generated tables, by their paths: each text with its tables generated again. */
export function referencePages(
  data: CompletionData,
  extensions: readonly Row[],
  schemas: ReadonlyMap<SchemaName, Schema>,
  optionsOfUploadAll: readonly Row[],
): Map<string, (text: string) => string> {
  const pages = Object.entries(tablesOf(data, extensions, schemas, optionsOfUploadAll));
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
