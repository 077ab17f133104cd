import {describe, expect, test} from 'vitest';
import {formatOutcome, recordRows} from '../../../src/cli/output/results/formats.ts';

import {
  compactJson,
  parseErrorRecord,
  parseRecord,
  publicUrl,
  serviceIdIn,
} from '../../../src/engine/service/record.ts';

import {outcomeOf} from '../../support/outcomes.ts';
import {received} from '../../support/received.ts';

/** What a user sees of a record in the two main formats. */
function shown(text: string): {json: string; table: Record<string, string>} {
  const record = received(text);
  const outcome = outcomeOf({status: 'uploaded', ...record});
  return {json: formatOutcome('json', outcome), table: Object.fromEntries(recordRows(record.record))};
}

describe('parseRecord', () => {
  test('all eleven fields', () => {
    const record = {
      id: 'm_1',
      type: 'IMAGE',
      urls: [{variant: 'PUBLIC', url: 'https://cdn.example/m_1'}],
      width: 640,
      height: 400,
      imageType: 'png',
      fileUrl: 'https://files.example/m_1',
      duration: 1.5,
      thumbnailUrl: 'https://files.example/m_1/thumbnail',
      hlsUrl: 'https://files.example/m_1.m3u8',
      size: 13_582,
    };
    expect(received(JSON.stringify(record, null, 2))).toEqual({record, json: JSON.stringify(record)});
    expect(shown(JSON.stringify(record)).table).toEqual({
      ...record,
      urls: 'PUBLIC https://cdn.example/m_1',
      width: '640',
      height: '400',
      duration: '1.5',
      size: '13582',
    });
  });

  test('only an id', () => {
    expect(received('{"id":"x"}')).toEqual({record: {id: 'x'}, json: '{"id":"x"}'});
  });

  test('unknown values of enumerations and unknown fields are kept', () => {
    const text =
      '{"id":"x","type":"HOLOGRAM","urls":[{"variant":"SECRET","url":"u","ttl":5}],"tags":["a",{"b":null}]}';
    expect(received(text)).toEqual({record: JSON.parse(text), json: text});
    expect(shown(text).table).toEqual({
      id: 'x',
      type: 'HOLOGRAM',
      urls: expect.stringContaining('SECRET'),
      tags: '["a",{"b":null}]',
    });
  });

  test('null in every field but the id', () => {
    const text =
      '{"id":"x","type":null,"urls":null,"width":null,"height":null,"imageType":null,"fileUrl":null,"duration":null,"thumbnailUrl":null,"hlsUrl":null,"size":null}';
    expect(received(text)).toEqual({record: JSON.parse(text), json: text});
    expect(shown(text).table['size']).toBe('-');
  });

  test('fields of other types than the interface says are kept', () => {
    const text = '{"id":"x","urls":"u","width":"wide","size":[1],"duration":true}';
    expect(received(text).json).toBe(text);
    expect(shown(text).table).toMatchObject({urls: 'u', width: 'wide', size: '[1]', duration: 'true'});
  });

  test.each([
    ['9007199254740991'],
    ['9007199254740993'],
    ['-9007199254740993'],
    ['123456789012345678901234567890'],
  ])('size %s: every digit in JSON and in the table', digits => {
    const {json, table} = shown(`{"id":"x","size":${digits}}`);
    expect(json).toBe(`{"id":"x","size":${digits}}\n`);
    expect(table['size']).toBe(digits);
  });

  test.each(['1e400', '-1e400'])('duration %s, past every JavaScript number: shown as it came', digits => {
    const {json, table} = shown(`{"id":"x","duration":${digits}}`);
    expect(json).toBe(`{"id":"x","duration":${digits}}\n`);
    expect(table['duration']).toBe(digits);
  });

  test.each(['1.50', '1e3', '0.1000000000000000055511151231257827', '-0'])(
    'duration %s: unchanged in JSON',
    digits => {
      expect(shown(`{"id":"x","duration":${digits}}`).json).toBe(`{"id":"x","duration":${digits}}\n`);
    },
  );

  test('digits within strings and keys stay what they are', () => {
    const text = '{"id":"9007199254740993","90071992547409931":"\\"9007199254740993"}';
    expect(received(text)).toEqual({record: JSON.parse(text), json: text});
  });

  test.each([
    ['12', '12'],
    ['0', '0'],
    ['12345678901234567890', '12345678901234567890'],
  ])('a numeric id %s: taken as text, unchanged in JSON', (id, text) => {
    expect(received(`{"id":${id}}`)).toEqual({record: {id: text}, json: `{"id":${id}}`});
  });

  test('white space between tokens goes, within strings it stays', () => {
    expect(received('\r\n{ "id" :\t"a  b\\n" ,\n"urls": [ ] } \n').json).toBe('{"id":"a  b\\n","urls":[]}');
  });

  test('the last of two fields of one name counts, both stay in JSON', () => {
    const text = '{"id":"first","id":"last"}';
    expect(received(text)).toEqual({record: {id: 'last'}, json: text});
  });

  test('__proto__, constructor and toString are fields like any other', () => {
    const text = '{"__proto__":{"id":"inherited","polluted":1},"constructor":"c","toString":"t","id":"own"}';
    const {record, json} = received(text);
    expect(json).toBe(text);
    expect(Object.getPrototypeOf(record)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(shown(text).table).toMatchObject({id: 'own', constructor: 'c', toString: 't'});
    expect(parseRecord('{"__proto__":{"id":"inherited"}}')).toEqual({problem: 'without an id'});
  });

  test('a string of a million characters', () => {
    const text = `{"id":"x","imageType":"${'\\u0061'.repeat(100_000)}${'a'.repeat(400_000)}"}`;
    expect(received(text)).toEqual({record: JSON.parse(text), json: text});
  });

  test('400 levels of nesting: shown', () => {
    const text = `{"id":"x","deep":${'['.repeat(400)}1${']'.repeat(400)}}`;
    expect(shown(text).json).toBe(`${text}\n`);
    expect(shown(text).table['deep']).toContain('[[[1]]]');
  });

  test.each(['[', '{"a":'])('half a million characters of %s: nested too deeply', opening => {
    const depth = Math.floor(250_000 / opening.length);
    const closing = opening === '[' ? ']' : '}';
    const text = `{"id":"x","deep":${opening.repeat(depth)}1${closing.repeat(depth)}}`;
    expect(parseRecord(text)).toEqual({problem: 'nested too deeply'});
  });

  test('brackets within strings are no nesting', () => {
    expect(received(`{"id":"x","imageType":"${'[{'.repeat(2_000)}"}`).record.id).toBe('x');
  });

  test.each([
    '',
    ' ',
    '<html>',
    '{"id":"x"',
    '{"id":"x"}}',
    "{'id':'x'}",
    '{"id":"x",}',
    '{"id":"x","size":01}',
    '{"id":"x","size":+1}',
    '{"id":"x","size":12345678901234567890.}',
    '{"id":"x","size":NaN}',
    'undefined',
    '{"id":"x"}\u0000',
  ])('%j: not JSON', text => {
    expect(parseRecord(text)).toEqual({problem: 'not JSON'});
  });

  test.each(['[]', '[{"id":"x"}]', 'null', '"x"', '12', '12345678901234567890', 'true'])(
    '%s: no JSON object',
    text => {
      expect(parseRecord(text)).toEqual({problem: 'not a JSON object'});
    },
  );

  test.each([
    '{}',
    '{"id":null}',
    '{"id":""}',
    '{"id":false}',
    '{"id":["x"]}',
    '{"id":{}}',
    '{"ID":"x"}',
    '{"data":{"id":"x"}}',
  ])('%s: without an id', text => {
    expect(parseRecord(text)).toEqual({problem: 'without an id'});
  });
});

describe('parseErrorRecord', () => {
  test.each([
    ['{"code":40101,"message":"bad key"}', {code: 40_101, message: 'bad key'}],
    ['{"message":"bad key"}', {message: 'bad key'}],
    ['{"code":"E1","message":"bad key"}', {message: 'bad key'}],
    ['{"code":null,"message":""}', {message: ''}],
    ['{"code":1e999,"message":"m"}', {message: 'm'}],
    ['{"code":0,"message":"m","details":[1]}', {code: 0, message: 'm'}],
    [' {"code":-1,"message":"\\u0000é"} ', {code: -1, message: '\u0000é'}],
  ])('%s', (text, expected) => {
    expect(parseErrorRecord(text)).toEqual(expected);
  });

  test.each([
    '',
    'Bad Gateway',
    '<html></html>',
    '[]',
    'null',
    '"m"',
    '{}',
    '{"code":1}',
    '{"message":null}',
    '{"message":{"text":"m"}}',
    '{"error":{"code":1,"message":"m"}}',
    '{"__proto__":{"message":"m"}}',
    '['.repeat(200_000),
  ])('%.40s: none', text => {
    expect(parseErrorRecord(text)).toBeUndefined();
  });
});

describe('publicUrl', () => {
  test.each([
    ['{"id":"x"}', undefined],
    ['{"id":"x","fileUrl":"f"}', 'f'],
    ['{"id":"x","fileUrl":"f","urls":[{"variant":"PUBLIC","url":"p"}]}', 'p'],
    ['{"id":"x","fileUrl":"f","urls":[{"variant":"SMALL","url":"s"}]}', 'f'],
    ['{"id":"x","urls":[{"variant":"SMALL","url":"s"},{"variant":"PUBLIC","url":"p"}]}', 'p'],
    [
      '{"id":"x","fileUrl":"f","urls":[null,1,"u",[],{"variant":"PUBLIC"},{"variant":"PUBLIC","url":null}]}',
      'f',
    ],
    ['{"id":"x","fileUrl":"f","urls":[{"variant":"PUBLIC","url":null}]}', 'f'],
    ['{"id":"x","fileUrl":"f","urls":[{"variant":"PUBLIC","url":""}]}', 'f'],
    ['{"id":"x","urls":[{"variant":"PUBLIC","url":7},{"variant":"PUBLIC","url":"p"}]}', 'p'],
    ['{"id":"x","fileUrl":"","urls":[{"variant":"PUBLIC","url":""}]}', undefined],
    ['{"id":"x","fileUrl":7,"urls":{}}', undefined],
  ])('%s: %s', (text, expected) => {
    expect(publicUrl(received(text).record)).toBe(expected);
  });
});

test.each([
  ['one', 'one'],
  ['a'.repeat(128), 'a'.repeat(128)],
  ['a'.repeat(129), undefined],
  ['', undefined],
  ['one two', undefined],
  ['a.b_c~d-1', 'a.b_c~d-1'],
])('the ID of a service %j: %j', (field, id) => {
  expect(serviceIdIn({headers: {'media-service-id': field}})).toBe(id);
  expect(serviceIdIn({headers: {}})).toBeUndefined();
});

test('compactJson leaves what is no white space alone', () => {
  expect(compactJson('{ "a" : "\\\\" , "b c" : [ 1 , 2.50 , "\\" : " ] }')).toBe(
    '{"a":"\\\\","b c":[1,2.50,"\\" : "]}',
  );
});
