import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {Secret} from '../../../src/lib/secrets/secret.ts';
import {holdsFor} from '../../support/property.ts';

const key = 'mk_7dE2u9Qx41LmZs/w+R';
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a key in what a service says', () => {
  it.each<[string, string, string]>([
    ['as it is', `No: Bearer ${key}!`, 'No: Bearer [secret]!'],
    ['twice in a row', key + key, '[secret]'],
    ['in capitals', key.toUpperCase(), '[secret]'],
    ['as in a URL', `?k=${encodeURIComponent(key)}&n=1`, '?k=[secret]&n=1'],
    ['as in JSON', JSON.stringify({m: key}).replaceAll('/', '\\/'), '{"m":"[secret]"}'],
    ['its first 12 characters', `${key.slice(0, 12)}... is unknown`, '[secret]... is unknown'],
    ['its last 12 characters', `...${key.slice(-12)}`, '...[secret]'],
    ['12 characters in its middle', `<${key.slice(5, 17)}>`, '<[secret]>'],
    ['11 characters of it', key.slice(0, 11), key.slice(0, 11)],
    ['in base64 alone', base64(key), '[secret]'],
    ['in base64 behind 3 bytes', base64(`me:${key}`), 'bWU6[secret]'],
    ['nothing of it', '{"id":"m_1","size":17}', '{"id":"m_1","size":17}'],
  ])('%s', (_name, text, shown) => {
    expect(new Secret(key).redactIn(text)).toBe(shown);
  });

  it.each([`Bearer ${key}`, `a:${key}`, `ab:${key}`, `abc:${key}:z`])(
    'in base64: of %s nothing to decode',
    text => {
      for (const encoding of ['base64', 'base64url'] as const) {
        const left = new Secret(key).redactIn(`"${Buffer.from(text).toString(encoding)}"`);
        expect(left).toContain('[secret]');
        expect(left.replace('[secret]', '').length).toBeLessThan(20);
      }
    },
  );

  it.each<[string, string, string, string]>([
    [
      '7 characters',
      'hunter2',
      'key "hunter2" of hunter22: Bearer hunter2',
      'key "[secret]" of hunter22: Bearer [secret]',
    ],
    ['3 characters', 'abc', 'abc: Bearer abc', 'abc: Bearer [secret]'],
    ['digits', '123456789', '{"size":123456789,"m":"123456789"}', '{"size":123456789,"m":"[secret]"}'],
    [
      'quotes and backslashes',
      'a"b\\c%41"d\\n',
      '{"m":"a\\"b\\\\c%41\\"d\\\\n","n":"\\\\"}',
      '{"m":"[secret]","n":"\\\\"}',
    ],
    ['quotes and backslashes, in a page', 'a"b\\c%41"d\\n', '<a"b\\c%41"d\\n>', '<[secret]>'],
  ])('a key of %s', (_name, short, text, shown) => {
    expect(new Secret(short).redactIn(text)).toBe(shown);
  });

  holdsFor(
    'any JSON around any key: still JSON, and no 12 characters of the key in it',
    [fc.string({unit: 'grapheme-ascii', minLength: 12, maxLength: 40}), fc.json(), fc.nat(20)],
    (anyKey, json, from) => {
      if (Number.isFinite(Number(anyKey))) return;
      const text = `{"a":${json},"b":${JSON.stringify(`${anyKey.slice(from, from + 15)} ${anyKey}`)}}`;
      const shown = new Secret(anyKey).redactIn(text);
      const value = JSON.stringify(JSON.parse(shown).b);
      expect(JSON.parse(value).toLowerCase()).not.toContain(anyKey.toLowerCase());
    },
  );
});
