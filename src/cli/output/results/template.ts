import {basename} from 'node:path';
import {type MediaRecord, publicUrl} from '../../../engine/service/record.ts';
import type {Outcome, OutcomeFacts} from '../../../engine/transfer/outcome.ts';
import {MediaError} from '../../../errors.ts';
import {valueAt} from '../../../lib/json.ts';
import {own} from '../../../lib/object.ts';
import {escapeUnit, printable, withoutCommands} from '../../../lib/printable.ts';
import {shellQuoted, shellWord} from '../../../lib/shell.ts';
import {printableJson} from '../escape.ts';
import {reportedFacts} from '../json-output.ts';
import {fieldText, recordFields} from './formats.ts';

/** The names in `--template`, besides those of the record and paths into it, and their values. */
const fields: Record<string, (of: TemplateInput) => unknown> = {
  file: ({file}) => file,
  path: ({path}) => path,
  name: ({file}) => basename(file),
  url: ({record}) => record && publicUrl(record),
  status: ({status}) => status,
  ...Object.fromEntries(reportedFacts.map(name => [name, (of: TemplateInput) => of[name]])),
};

/** A field of the record has its name too; `{size}` is that of the file. */
const fieldNames = [...new Set([...Object.keys(fields), ...recordFields])];

/** A parsed `--template`. */
export interface Template {
  readonly parts: readonly (string | Placeholder)[];
  /** Whether the template separates with zero bytes, so that any text can stand between them as it is. */
  readonly isExact: boolean;
  /** Whether it has the URL. */
  readonly hasUrl: boolean;
  /** Whether its own text has commands to CI runners, which are meant; values in it form no others. */
  readonly hasCommands: boolean;
  /** The end of the line that was printed last, which the next input may continue. */
  lineEnd: string;
}

interface Placeholder {
  field: string;
  /** The keys from the record to the value. */
  keys: readonly string[];
  filter?: 'json' | 'shell';
}

/** What a template is filled in from. */
export interface TemplateInput
  extends Pick<OutcomeFacts, 'file' | 'nameBytes'>,
    Partial<Pick<OutcomeFacts, (typeof reportedFacts)[number]>> {
  /** The absolute path, if there is one; it ends with the name. */
  path: string;
  status: string;
  record?: MediaRecord;
  /** The record as the service sent it. */
  json?: string;
}

const token = /\{\{|\}\}|\\.|\{([^{}]*)\}|[{}\\]/gsu;
const escapes: Record<string, string> = {
  '{{': '{',
  '}}': '}',
  '\\t': '\t',
  '\\n': '\n',
  '\\r': '\r',
  '\\0': '\0',
  '\\\\': '\\',
};

/** Parses the text of `--template`; throws a usage error for an unknown field, filter or escape. */
export function parseTemplate(text: string): Template {
  const parts: (string | Placeholder)[] = [];
  let end = 0;
  for (const match of text.matchAll(token)) {
    const [found, placeholder] = match;
    const plain = placeholder === undefined ? own(escapes, found) : undefined;
    if (placeholder === undefined && plain === undefined)
      throw new MediaError('usage', `The template has ${found}, which is not an escape.`, {
        hint: 'Write {{ and }} for braces. The escapes are \\t, \\n, \\r, \\0 and \\\\.',
      });
    parts.push(text.slice(end, match.index), plain ?? parsePlaceholder(placeholder ?? ''));
    end = match.index + found.length;
  }
  parts.push(text.slice(end));
  // As it is if every value is x.
  const sample = parts.map(part => (typeof part === 'string' ? part : 'x')).join('');
  const hasUrl = parts.some(part => typeof part === 'object' && part.field === 'url');
  const hasCommands = escapeCommands(sample) !== sample;
  return {parts, isExact: parts.includes('\0'), hasUrl, hasCommands, lineEnd: ''};
}

/** Escapes commands to CI runners in each line, since they have meaning at its start only. */
function escapeCommands(text: string): string {
  return text.replace(/[^\r\n]+/g, line => withoutCommands(line));
}

/** Parses the text between two braces: a name or a path into the record, and a filter if any, as in `file|shell`. */
function parsePlaceholder(text: string): Placeholder {
  const [name = '', ...filters] = text.split('|').map(part => part.trim());
  const [field = '', ...keys] = name.split('.');
  const [filter, ...others] = filters;
  const isOfRecord = field === 'record' && !keys.includes('');
  const isKnown = isOfRecord || (keys.length === 0 && fieldNames.includes(field));
  if (!isKnown)
    throw new MediaError('usage', `The template has an unknown field: {${text}}.`, {
      hint: `The fields are ${fieldNames.join(', ')}, and paths such as record.urls.0.url.`,
    });
  if (others.length > 0 || (filter !== undefined && filter !== 'json' && filter !== 'shell'))
    throw new MediaError('usage', `The template has an unknown filter: {${text}}.`, {
      hint: 'The filters are json and shell, as in {file|shell}.',
    });
  return {field, keys, ...(filter !== undefined && {filter})};
}

/** The template with the values of an input that succeeded; empty for others. */
export function renderOutcome(
  template: Template,
  outcome: Outcome,
  pathOf: (name: string) => string,
): string | Buffer {
  if ('error' in outcome) return '';
  const {file, isOnce} = outcome;
  return renderTemplate(template, {...outcome, path: isOnce ? file : pathOf(file)});
}

/** The template with the values of an input, escaped unless zero bytes separate; bytes if a name is not UTF-8. */
export function renderTemplate(template: Template, of: TemplateInput): string | Buffer {
  const {parts, isExact, hasCommands} = template;
  const rendered = parts.map(part => (typeof part === 'string' ? part : render(part, of, isExact)));
  if (rendered.some(Buffer.isBuffer)) return Buffer.concat(rendered.map(part => Buffer.from(part)));
  const text = rendered.join('');
  if (isExact || hasCommands) return text;
  let safe = escapeCommands(text);
  const line = template.lineEnd + safe;
  if (escapeCommands(line) !== line) safe = escapeUnit(safe.charAt(0)) + safe.slice(1);
  // Long enough for the start of a CI command, which may be in two values.
  template.lineEnd = (template.lineEnd + safe).replace(/^.*[\r\n]/s, '').slice(-20);
  return safe;
}

/** The value of a placeholder, escaped unless `isExact`; then a name that is not UTF-8 comes as bytes. */
function render({field, keys, filter}: Placeholder, of: TemplateInput, isExact: boolean): string | Buffer {
  // The whole record is printed with every digit of its numbers.
  const whole = field === 'record' && keys.length === 0 ? of.json : undefined;
  const read = own(fields, field);
  const value = read === undefined ? valueAt(of.record, field === 'record' ? keys : [field]) : read(of);
  if (filter === 'json') return printableJson(whole ?? JSON.stringify(value ?? null));
  const text = whole ?? fieldText(value, '');
  const isPath = field === 'file' || field === 'path' || field === 'name';
  if (filter === 'shell') return (isPath ? shellQuoted : shellWord)(bytesOf(field, of) ?? text);
  return isExact ? (bytesOf(field, of) ?? text.replaceAll('\0', '')) : printable(text);
}

/** The bytes of a field that is or ends with a file name; undefined unless that name is not UTF-8. */
function bytesOf(field: Placeholder['field'], {file, nameBytes, path}: TemplateInput): Buffer | undefined {
  if (field === 'name') return nameBytes?.subarray(nameBytes.lastIndexOf('/') + 1);
  if (field !== 'path' || nameBytes === undefined) return field === 'file' ? nameBytes : undefined;
  return Buffer.concat([Buffer.from(path.slice(0, path.length - file.length)), nameBytes]);
}
