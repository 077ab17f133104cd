import fc from 'fast-check';
import {describe, expect} from 'vitest';
import {compactJson, parseErrorRecord, parseRecord} from '../../../../src/engine/service/record.ts';
import {isNestedTooDeeply, parseObject} from '../../../../src/lib/json.ts';
import {Secret} from '../../../../src/lib/secrets/secret.ts';
import {anyText, holdsFor} from '../../../support/property.ts';

const jsonText = fc.json({stringUnit: 'binary'});
const anyAnswer = fc.oneof(
  anyText,
  jsonText,
  jsonText.map(text => text.slice(0, -1)),
);

describe('what a service responds', () => {
  holdsFor('any text: a record with an id, an error with a message, or neither', [anyAnswer], text => {
    const received = parseRecord(text);
    if (!('problem' in received)) expect(received.record.id).toMatch(/./s);
    const error = parseErrorRecord(text);
    if (error !== undefined) expect(typeof error.message).toBe('string');
    if (error?.code !== undefined) expect(typeof error.code).toBe('number');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  const digits = fc.stringMatching(/^-?[1-9]\d{0,40}(\.\d{1,30})?([eE][+-]?\d{1,3})?$/);
  holdsFor('any number: every digit is kept', [digits], number => {
    const received = parseRecord(`{ "id" : "m_1" ,\n "size" : ${number} }`);
    if ('problem' in received) return expect.unreachable(received.problem);
    expect(received.json).toBe(`{"id":"m_1","size":${number}}`);
    const {size} = received.record as {size: unknown};
    if (/^-?\d+$/.test(number)) expect(String(size)).toBe(number);
    else expect(Number(size)).toBe(Number(number));
  });

  const spaces = fc.string({unit: fc.constantFrom(' ', '\n', '\t', '\r'), maxLength: 3});
  holdsFor(
    'any JSON: the same value on one line, whatever lies between its tokens',
    [fc.jsonValue({stringUnit: 'binary'}), spaces],
    (value, space) => {
      const spaced = JSON.stringify(value, null, space);
      const compact = compactJson(`${space}${spaced}${space}`);
      expect(JSON.parse(compact)).toEqual(JSON.parse(spaced));
      expect(compact).not.toMatch(/[\r\n]/);
      expect(compact.length).toBeLessThanOrEqual(spaced.length);
    },
  );

  holdsFor(
    'any depth: read up to 500 levels, and refused beyond',
    [fc.integer({min: 1, max: 1_500}), anyText],
    (depth, text) => {
      const json = `${'{"a":['.repeat(depth)}${JSON.stringify(text)}${']}'.repeat(depth)}`;
      expect(isNestedTooDeeply(json)).toBe(2 * depth > 500);
      expect(parseObject(json) === undefined).toBe(2 * depth > 500);
    },
  );
});

const keys = fc.string({
  unit: fc.constantFrom(...Array.from({length: 94}, (_, index) => String.fromCharCode(0x21 + index))),
  minLength: 8,
  maxLength: 40,
});

/** Spells a text as JSON may: as it is, or with any of its characters escaped. */
function spelled(text: string, choices: readonly boolean[]): string {
  return [...text]
    .map((character, index) =>
      choices[index % choices.length]
        ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
        : JSON.stringify(character).slice(1, -1),
    )
    .join('');
}

describe('a key in a response', () => {
  const choices = fc.array(fc.boolean(), {minLength: 1, maxLength: 7});
  holdsFor(
    'however it is spelled: gone, and what is left is the same JSON otherwise',
    [keys, choices, anyText],
    (key, escapes, around) => {
      const text = JSON.stringify(around).slice(1, -1);
      const json = `{"id":"m_1","message":"${text}${spelled(`Bearer ${key}`, escapes)}"}`;
      expect(JSON.parse(json).message).toBe(`${around}Bearer ${key}`);
      const value = JSON.parse(new Secret(key).redactIn(json));
      expect(JSON.stringify(value)).not.toContain(JSON.stringify(key).slice(1, -1));
      expect(value.message).toContain('[secret]');
      expect(value.id).toBe('m_1');
    },
  );

  holdsFor(
    'any JSON with or without it: stays JSON',
    [keys, fc.jsonValue({stringUnit: 'binary'}), anyText],
    (key, value, text) => {
      const json = JSON.stringify([value, {[key]: `${text}${key}${text}`}, Number(key) || 0]);
      const redacted = JSON.parse(new Secret(key).redactIn(json));
      expect(redacted).toHaveLength(3);
      expect(JSON.stringify(redacted[1])).not.toContain(JSON.stringify(key).slice(1, -1));
    },
  );

  holdsFor(
    'a text without it: stays as it is; no more than 4 characters are ever shown',
    [keys, fc.string({unit: fc.constantFrom(...'{}[]:,"\\ \n')})],
    (key, text) => {
      const secret = new Secret(key);
      if (!text.includes(key)) expect(secret.redactIn(text)).toBe(text);
      expect(secret.mask().replace(/^\*{8}/, '').length).toBeLessThanOrEqual(4);
      expect(`${secret}${JSON.stringify({secret})}`).toBe('[secret]{"secret":"[secret]"}');
    },
  );
});
