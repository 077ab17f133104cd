import {MediaError} from '../../errors.ts';
import {fromText} from '../../lib/files/typed-path.ts';
import {
  isCount,
  isSha256,
  isString,
  oneOf,
  optional,
  type Shape,
  type ShapeOf,
  wrongField,
} from '../../lib/json.ts';
import {own} from '../../lib/object.ts';
import {type RawJson, readRawJson} from '../../lib/raw-json.ts';
import {shellQuoted} from '../../lib/shell.ts';
import {compactJson, parseRecord, type ReceivedRecord} from '../service/record.ts';

/** `others`: the JSON of the fields that this version does not know, by their names. */
type Entry<S extends Shape> = ShapeOf<S> & {others?: ReadonlyMap<string, string>};

/** Content that was sent without a known result: it may be stored. */
export type UnknownEntry = Entry<typeof unknownShape>;

/** A file that is stored, with its record. */
export type ManifestEntry = Entry<typeof entryShape> & {received: ReceivedRecord};

/**
 * What a repository knows of its uploads. Keys are paths from the directory of the manifest, with `/`. `service` is the
 * base URL, and `serviceId` the Media-Service-Id, if the service sends one; neither is used as an address.
 */
export interface Manifest extends Entry<typeof topShape> {
  files: Map<string, ManifestEntry>;
  unknown: Map<string, UnknownEntry>;
  /** The file as it was read; empty if there was none. */
  text: string;
}

// The fields in the order in which they are written.
const topShape = {service: isString, serviceId: optional(isString)};
const unknownShape = {
  sha256: isSha256,
  size: (value: unknown): value is number => value === 0 || isCount(value),
  contentType: optional(isString),
  transform: optional(isString),
  stdin: optional(oneOf(true)),
};
const entryShape = {url: optional(isString), ...unknownShape, contentType: isString};

/** A record may be nested 500 deep, and is on the fourth level. */
const nesting = {levels: 3, deepest: 503};

/** What git writes on lines of their own around the sides of a conflict. */
const conflictMarker = /^(?:<{7}|\|{7}|={7}|>{7})(?: .*)?\r?$/m;

/** The texts of both sides of a conflict, in which the lines of the other are empty; a text without one as it is. */
export function sidesOf(text: string): string[] {
  if (!conflictMarker.test(text)) return [text];
  const lines = text.split('\n');
  return ['<', '='].map(ours => {
    let part = 'both';
    return lines
      .map(line => {
        const isMarker = conflictMarker.test(line);
        if (isMarker) part = line.startsWith('>') ? 'both' : line.slice(0, 1);
        return isMarker || (part !== 'both' && part !== ours) ? '' : line;
      })
      .join('\n');
  });
}

/** Reads a manifest of any layout. Throws a sentence with the line unless it is one that this version reads. */
export function parseManifest(text: string, displayPath: string): Manifest {
  const source = text.replace(/^\uFEFF/, '');
  const fail = (offset: number, what: string, hint = 'Fix that line.') => {
    const line = source.slice(0, offset).split('\n').length;
    const sentence = `The manifest ${displayPath} could not be used: line ${line} ${what}.`;
    throw new MediaError('journal_unusable', sentence, {hint: `Nothing was changed or sent. ${hint}`});
  };
  const marker = source.search(conflictMarker);
  const path = shellQuoted(displayPath);
  if (marker >= 0)
    fail(marker, 'is a conflict marker of git', `To join both sides: media journal merge ${path}`);
  const top = readRawJson(source, nesting, fail);
  const version = top.members.get('version');
  if (version?.json !== '1')
    fail(
      version?.offset ?? 0,
      'does not have "version": 1',
      'This version of media reads no others. If a newer one wrote it, use that.',
    );
  /** The members of an object by a shape; all others, except for those of `apart`, are kept as they are. */
  const fieldsOf = <S extends Shape>({members, offset}: RawJson, shape: S, ...apart: string[]): Entry<S> => {
    const known: Record<string, unknown> = {};
    const others = new Map<string, string>();
    for (const [name, {json}] of members)
      if (Object.hasOwn(shape, name)) known[name] = JSON.parse(json);
      else if (!apart.includes(name)) others.set(name, compactJson(json));
    const wrong = wrongField(known, shape);
    if (wrong !== undefined) fail(members.get(wrong)?.offset ?? offset, `has no valid ${quote(wrong)}`);
    return {...(known as ShapeOf<S>), ...(others.size > 0 && {others})};
  };
  /** The entries of "files" or "unknown"; none if it is missing. */
  const entriesOf = <T>(name: string, read: (entry: RawJson) => T) => {
    const entries = top.members.get(name) ?? {json: '{}', offset: 0, members: new Map()};
    if (!entries.json.startsWith('{')) fail(entries.offset, `has no valid ${quote(name)}`);
    return new Map([...entries.members].map(([key, entry]) => [key, read(entry)]));
  };
  return {
    ...fieldsOf(top, topShape, 'version', 'files', 'unknown'),
    files: entriesOf('files', entry => {
      const received = parseRecord(entry.members.get('record')?.json ?? '');
      if ('problem' in received) return fail(entry.offset, 'has no valid "record"');
      return {received, ...fieldsOf(entry, entryShape, 'record')};
    }),
    unknown: entriesOf('unknown', entry => fieldsOf(entry, unknownShape)),
    text,
  };
}

const quote = JSON.stringify;

/** The manifest as a file: a line for each entry, in the order of code points. Equal content has equal bytes. */
export function renderManifest({files, unknown, ...top}: Omit<Manifest, 'text'>): string {
  const fields = ['"version": 1', ...fieldTexts(top, topShape), `"files": ${renderEntries(files)}`];
  if (unknown.size > 0) fields.push(`"unknown": ${renderEntries(unknown)}`);
  return `{\n  ${fields.join(',\n  ')}\n}\n`;
}

function renderEntries(entries: ReadonlyMap<string, ManifestEntry | UnknownEntry>): string {
  // The bytes of UTF-8 have the order of code points.
  const rows = [...entries].map(([key, entry]) => ({key, entry, bytes: fromText(key)}));
  rows.sort((one, other) => (one.bytes < other.bytes ? -1 : 1));
  const lines = rows.map(({key, entry}) => `\n    ${quote(key)}: ${renderEntry(entry)}`);
  return lines.length === 0 ? '{}' : `{${lines.join(',')}\n  }`;
}

/** The JSON of an entry, on one line. */
export function renderEntry(entry: ManifestEntry | UnknownEntry): string {
  return `{${fieldTexts(entry, entryShape).join(', ')}}`;
}

/** Fields in the order of a shape, then a record and the fields that are not known. */
function fieldTexts({others, received, ...fields}: Partial<ManifestEntry>, shape: Shape): string[] {
  const values: Record<string, unknown> = fields;
  const known = Object.keys(shape).map(name => [name, quote(own(values, name))] as const);
  const texts = [...known, ['record', received?.json] as const, ...(others ?? [])];
  return texts.flatMap(([name, json]) => (json === undefined ? [] : `${quote(name)}: ${json}`));
}

/** The key of the file of unknown content, which may have a key of its own: see `addUnknown`. */
export function fileKeyOf(unknownKey: string, {sha256}: UnknownEntry): string {
  return unknownKey.replace(` (${sha256.slice(0, 8)})`, '');
}

/** Adds content without a known result. Other unknown content of the same file keeps its key. */
export function addUnknown(unknown: Map<string, UnknownEntry>, key: string, entry: UnknownEntry): void {
  const {sha256} = unknown.get(key) ?? entry;
  unknown.set(sha256 === entry.sha256 ? key : `${key} (${entry.sha256.slice(0, 8)})`, entry);
}
