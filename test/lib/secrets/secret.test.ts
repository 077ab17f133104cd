import {format, inspect} from 'node:util';
import {describe, expect, it} from 'vitest';
import {Secret} from '../../../src/lib/secrets/secret.ts';

const secret = new Secret('mk_a-long-key');

describe('a Secret', () => {
  it.each<[string, string]>([
    ['String()', String(secret)],
    ['a template', `${secret}`],
    ['JSON', JSON.stringify({key: secret, list: [secret]})],
    ['inspect', inspect(secret)],
    ['inspect within', inspect({a: {b: {c: {d: secret}}}}, {depth: null, showHidden: true})],
    ['inspect without its own method', inspect(secret, {customInspect: false, showHidden: true})],
    ['format %s', format('%s', secret)],
    ['format %o', format('%o', secret)],
    ['format %O', format('%O', secret)],
    ['format %j', format('%j', secret)],
    ['format without a place', format('key', secret)],
    ['its properties', JSON.stringify(Object.entries({...secret}))],
    ['an error’s message', new Error(`bad key ${secret}`).message],
  ])('%s: nothing of the key', (_name, text) => {
    expect(text).not.toContain('long');
    expect(text).not.toContain('mk_');
  });

  it('reveal: the key itself', () => {
    expect(secret.reveal()).toBe('mk_a-long-key');
  });

  it.each([
    ['', '********'],
    ['12345678901', '********'],
    ['123456789012', '********9012'],
  ])('masked %j', (value, masked) => {
    expect(new Secret(value).mask()).toBe(masked);
  });

  it.each<[string, string, string, number]>([
    ['a key', 'abcdefghijklmnopqrst', ' abcdefghijklmnopqrst', 200],
    ['a token', `eyJ${'x'.repeat(300)}`, `"eyJ0.eyJ${'x'.repeat(300)}",`, 10],
    ['a number', '12345678901234567890', '"12345678901234567890",', 200],
    ['a very short key', 'k1', 'Bearer k1 ', 1000],
    ['a word', 'test', 'test ', 1000],
  ])(
    '%s that is repeated very often in a response: taken out of all of it, in steps that grow with its length',
    (_, key, echo, times) => {
      const own = new Secret(key);
      for (const redact of [
        (text: string) => own.redactIn(text),
        (text: string) => own.redactWholeIn(text),
      ]) {
        const [once, twice] = [times, 2 * times].map(count => {
          const text = echo.repeat(count);
          return stepsOf(() => redact(text));
        });
        expect(once?.result).not.toContain(key);
        expect(twice?.result).not.toContain(key);
        expect(once?.steps).toBeGreaterThan(times);
        expect(twice?.steps).toBeLessThan(2.2 * (once?.steps ?? 0));
      }
    },
  );
});

/** What a function returns, and how many characters it has compared or copied by the methods of strings. */
function stepsOf(action: () => string): {result: string; steps: number} {
  const {slice, indexOf, charAt} = String.prototype;
  let steps = 0;
  String.prototype.slice = function (start, end) {
    const part = slice.call(this, start, end);
    steps += 1 + part.length;
    return part;
  };
  String.prototype.indexOf = function (word, from = 0) {
    const at = indexOf.call(this, word, from);
    steps += 1 + (at < 0 ? this.length : at) - from;
    return at;
  };
  String.prototype.charAt = function (at) {
    steps += 1;
    return charAt.call(this, at);
  };
  try {
    return {result: action(), steps};
  } finally {
    Object.assign(String.prototype, {slice, indexOf, charAt});
  }
}
