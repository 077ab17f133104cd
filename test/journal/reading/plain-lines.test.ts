import {isUtf8} from 'node:buffer';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {
  formatTransition,
  formatWriterLine,
  pathKey,
  type Transition,
} from '../../../src/journal/file/lines.ts';
import {parseLine} from '../../../src/journal/file/parse.ts';
import {LineFacts} from '../../../src/journal/known/line-facts.ts';
import {PlainLines} from '../../../src/journal/reading/plain-lines.ts';
import {anyText, holdsFor} from '../../support/property.ts';

const key = '3b1e0a52-7d1f-4c0e-9a53-0c6f2b1d4e77';
const sha256 = '0123456789abcdef'.repeat(4);
const place = {path: 'a/b, c.png', size: 120, stat: '1700000000000000000 17 2050 12', types: 'extension'};
const recordJson =
  '{"id":"med_1","urls":[{"url":"http:\\/\\/h\\u00e4/1","n":-12.50},[],{}],"ok":true,"no":null}';

const plain: Transition[] = [
  {event: 'intent', key, ...place, contentType: 'image/png'},
  {event: 'intent', key, ...place, stat: undefined, contentType: 'image/png'},
  {event: 'intent', key, ...place, path: pathKey('größe/日本.png'), contentType: 'image/png'},
  {event: 'seen', key, ...place},
  {event: 'seen', key, ...place, stat: undefined},
  {event: 'commit', key, sha256},
  {event: 'commit', key, sha256, ...place, contentType: 'image/png'},
  {event: 'commit', key, sha256, ...place, stat: undefined, contentType: 'image/png'},
  {event: 'hashed', key, sha256},
  {event: 'hashed', key, sha256, ...place, contentType: 'image/png'},
  {event: 'done', key, recordJson},
  {event: 'done', key, recordJson: '{"size":1,"id":0}'},
];

const release = formatWriterLine('release', {pid: 1, hostName: 'h', token: 'writer'}, 0);
const lines = [...plain.map(transition => formatTransition(transition, 'writer')), release];

/** What was told, or that it is for the parser. */
function plainly(line: Uint8Array): unknown {
  const reader = new PlainLines();
  const bytes = Buffer.concat([Buffer.from('before\n'), line]);
  const end = isUtf8(bytes) ? reader.read(bytes, 7) : -1;
  if (end === -1) return 'for the parser';
  expect(end).toBe(bytes.length);
  const {facts, isRelease} = reader;
  return isRelease ? {event: 'release', by: facts.by} : relevant(facts);
}

/** The same as the parser tells it. */
function strictly(line: Uint8Array): unknown {
  const parsed = parseLine(Buffer.from(line).toString().trimEnd());
  if (parsed === undefined || !('key' in parsed)) return parsed;
  return relevant(new LineFacts().set(parsed, parsed.by));
}

/** What counts of what is told, as the rest may stand there from a line before. */
function relevant(facts: LineFacts): unknown {
  const {event, by, key, sha, isHashed, hasPlace, size, types, path, state, contentType} = facts;
  const common = {event, by, key: digestOf(key), isHashed, hasPlace, ...(isHashed && {sha: [...sha]})};
  if (!hasPlace) return common;
  const seen = {...common, size, types, path: digestOf(path), state: digestOf(state)};
  return event === 'seen' ? seen : {...seen, contentType};
}

function digestOf({a, b}: {a: number; b: number}): unknown {
  return {a, b};
}

/** What means something in JSON. */
const signs = Buffer.from('"\\{}[]:,0123e.-\n ');

const known = fc.constantFrom(...lines.map(line => Buffer.from(line)));

describe('lines read without the parser', () => {
  it.each(lines)('%s: tell what the parser reads', line => {
    expect(plainly(Buffer.from(line))).toEqual(strictly(Buffer.from(line)));
  });

  holdsFor(
    'one byte changed, left out or put in: what the parser reads, or left to it',
    [known, fc.nat(), fc.integer({min: 0, max: 2}), fc.oneof(fc.nat({max: 255}), fc.constantFrom(...signs))],
    (line, at, taken, byte) => {
      const place = at % (line.length - 1);
      const put = taken === 2 ? Buffer.alloc(0) : Buffer.from([byte]);
      const behind = line.subarray(place + Math.min(taken, 1));
      const changed = Buffer.concat([line.subarray(0, place), put, behind]);
      // Whoever reads looks for line breaks first.
      if (changed.indexOf(10) !== changed.length - 1) return;
      const facts = plainly(changed);
      if (facts !== 'for the parser') expect(facts).toEqual(strictly(changed));
    },
  );

  holdsFor(
    'any record and path: what the parser reads, or left to it',
    [fc.dictionary(anyText, fc.jsonValue()), fc.oneof(fc.constant(undefined), fc.jsonValue()), anyText],
    (fields, id, path) => {
      const record = JSON.stringify(id === undefined ? fields : {...fields, id});
      for (const line of [
        formatTransition({event: 'done', key, recordJson: record}, 'w'),
        formatTransition({event: 'seen', key, ...place, path: pathKey(path)}, 'w'),
      ]) {
        const facts = plainly(Buffer.from(line));
        if (facts !== 'for the parser') expect(facts).toEqual(strictly(Buffer.from(line)));
      }
    },
  );

  it.each([
    ['a record with two IDs', '{"id":"a","id":""}'],
    ['a name spelled otherwise', '{"id":"a","\\u0069d":""}'],
    ['a record in no object', '["id"]'],
    ['a record that is not closed', '{"id":"a"'],
    ['one too many', '{"id":"a"}}'],
    ['a number that is none', '{"id":"a","n":01}'],
    ['white space', '{"id": "a"}'],
    ['a deep one', `{"id":"a","x":${'['.repeat(20)}${']'.repeat(20)}}`],
  ])('%s: left to the parser', (_name, record) => {
    const line = formatTransition({event: 'done', key, recordJson: record}, 'w');
    expect(plainly(Buffer.from(line))).toBe('for the parser');
  });
});
