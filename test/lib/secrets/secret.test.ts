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
    expect(new Secret(value).masked()).toBe(masked);
  });

  it.each<[string, string, string, number]>([
    ['a key', 'abcdefghijklmnopqrst', ' abcdefghijklmnopqrst', 16_000],
    ['a token', `eyJ${'x'.repeat(900)}`, `"eyJ0.eyJ${'x'.repeat(900)}",`, 200],
    ['a number', '12345678901234567890', '"12345678901234567890",', 16_000],
    ['a very short key', 'k1', 'Bearer k1 ', 100_000],
    ['a word', 'test', 'test ', 200_000],
  ])('%s that is repeated very often in a response: taken out of all of it, soon', (_, key, echo, times) => {
    const own = new Secret(key);
    expect(own.redactIn(echo.repeat(times))).not.toContain(key);
    expect(own.redactWholeIn(echo.repeat(times))).not.toContain(key);
  });
});
