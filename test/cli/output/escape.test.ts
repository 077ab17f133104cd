import {describe, expect, it} from 'vitest';
import {markdownText, markdownUrl, printableJson} from '../../../src/cli/output/escape.ts';
import {printable} from '../../../src/lib/printable.ts';

describe('printable', () => {
  it.each([
    ['photo.png', 'photo.png'],
    ['é 夏 👩‍👧 \u00a0', 'é 夏 👩‍👧 \u00a0'],
    ['a\nb\rc\td', 'a\\nb\\rc\\td'],
    ['\u001b[2J', '\\u001b[2J'],
    ['\u0000\u0007\u007f\u009b', '\\u0000\\u0007\\u007f\\u009b'],
    ['\u202egnp\u2066\u2069', '\\u202egnp\\u2066\\u2069'],
    ['\u200e\u200f\u061c\ufeff', '\\u200e\\u200f\\u061c\\ufeff'],
    ['\u2028\u2029', '\\u2028\\u2029'],
    ['##[error]x', '#\\u0023[error]x'],
    ['a ###[group]', 'a ##\\u0023[group]'],
    ['##vso[task.complete]', '#\\u0023vso[task.complete]'],
    ['photo #[1] ##', 'photo #[1] ##'],
    ['::debug::x', '\\u003a:debug::x'],
    [' ::debug::x', ' \\u003a:debug::x'],
    ['[::1]:4010', '[::1]:4010'],
  ])('%j', (text, expected) => {
    expect(printable(text)).toBe(expected);
  });
});

describe('printableJson', () => {
  it.each(['plain', 'a\u009b31mb', '\u202eb\u2028', '\u007f', '\ufeff', 'a\\u202e', '##[error]x'])(
    '%j: the same value, nothing raw',
    text => {
      const json = printableJson(JSON.stringify({[text]: text}));
      expect(JSON.parse(json)).toEqual({[text]: text});
      expect(json).toBe(printable(json));
    },
  );
});

describe('markdownText', () => {
  it.each([
    ['photo.png', 'photo.png'],
    ['[a](b)', '\\[a\\]\\(b\\)'],
    ['*a* _b_ `c` ~d~', '\\*a\\* \\_b\\_ \\`c\\` \\~d\\~'],
    ['<b>&amp;', '\\<b\\>\\&amp;'],
    ['a|b\\c', 'a\\|b\\\\c'],
    ['a\n# b', 'a\\\\n\\# b'],
  ])('%j', (text, expected) => {
    expect(markdownText(text)).toBe(expected);
  });
});

describe('markdownUrl', () => {
  it.each([
    ['https://c.example/a b', 'https://c.example/a%20b'],
    ['https://c.example/(a)<b>', 'https://c.example/%28a%29%3Cb%3E'],
    ['https://c.example/?q=)', 'https://c.example/?q=%29'],
    ['https://c.example/a|b?q=`c`', 'https://c.example/a%7Cb?q=%60c%60'],
    ['https://c.example/?a=1&copy;=2', 'https://c.example/?a=1&amp;copy;=2'],
    ['https://c.example/?a=1&#38;b', 'https://c.example/?a=1&amp;#38;b'],
    ['javascript:alert(1)', undefined],
    ['data:text/html,x', undefined],
    ['/files/1', undefined],
    ['', undefined],
  ])('%j', (url, expected) => {
    expect(markdownUrl(url)).toBe(expected);
  });
});
