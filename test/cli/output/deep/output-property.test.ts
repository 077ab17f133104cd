import fc from 'fast-check';
import {describe, expect} from 'vitest';
import {cellsOf, cutMiddle, wrap} from '../../../../src/cli/output/cells.ts';
import {markdownText, markdownUrl, printableJson} from '../../../../src/cli/output/escape.ts';
import {formatNames, formatOutcome} from '../../../../src/cli/output/results/formats.ts';
import {renderTable} from '../../../../src/cli/output/results/table.ts';
import {parseRecord} from '../../../../src/engine/service/record.ts';
import {printable} from '../../../../src/lib/printable.ts';
import {rawControl, runnerCommands} from '../../../support/experiment/hostile-text.ts';
import {outcomeOf} from '../../../support/outcomes.ts';
import {anyText, holdsFor} from '../../../support/property.ts';

const plainText = fc.string({unit: fc.constantFrom(...'abc XYZ 019 éü写真')});

describe('printable', () => {
  holdsFor('any text: one line, nothing that steers a terminal or a CI runner', [anyText], text => {
    expect(printable(text)).not.toMatch(rawControl);
    expect(printable(text)).not.toContain('\n');
    expect(runnerCommands(printable(text))).toEqual([]);
  });

  holdsFor('what is printable: stays as it is', [anyText, plainText], (text, plain) => {
    expect(printable(printable(text))).toBe(printable(text));
    expect(printable(plain)).toBe(plain);
  });
});

describe('printableJson', () => {
  const anyValue = fc.jsonValue({stringUnit: 'binary'});
  holdsFor('any value: the same value', [anyValue, anyText], (value, text) => {
    const json = JSON.stringify([value, text, {[text]: text}]);
    expect(JSON.parse(printableJson(json))).toEqual(JSON.parse(json));
    expect(printableJson(json)).not.toMatch(rawControl);
    expect(runnerCommands(printableJson(json))).toEqual([]);
  });
});

describe('Markdown', () => {
  holdsFor('any text: every mark is escaped, and without the escapes it is the text', [anyText], text => {
    const escaped = markdownText(text);
    expect(escaped.replace(/\\([!-/:-@[-`{-~])/g, '$1')).toBe(printable(text));
    expect(escaped.replace(/\\[!-/:-@[-`{-~]/g, '')).not.toMatch(/[\\`*_{}[\]()<>#+\-!|~&=$^]/);
  });

  const anyUrl = fc.oneof(
    anyText,
    fc.webUrl({withQueryParameters: true, withFragments: true}),
    anyText.map(text => `https://c.example/${text}`),
  );
  holdsFor('any address: none, or one of the web that ends no link', [anyUrl], url => {
    const target = markdownUrl(url);
    if (target === undefined) return;
    expect(target).toMatch(/^https?:\/\/[^\s()<>\\|`"']+$/);
    expect(target).not.toMatch(rawControl);
    expect(new URL(target).origin).toBe(new URL(url).origin);
  });
});

describe('lines and tables', () => {
  const letters = fc.string({unit: fc.constantFrom(...'ab cd写é😀')});
  holdsFor(
    'wrap: no character is lost, and no line is too long',
    [letters, fc.integer({min: 2, max: 30})],
    (text, cells) => {
      const lines = wrap(text, cells);
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
      for (const line of lines) expect(cellsOf(line)).toBeLessThanOrEqual(cells);
    },
  );

  holdsFor(
    'cutMiddle: fits, and is the text where that fits',
    [letters, fc.integer({min: 0, max: 30})],
    (text, cells) => {
      const cut = cutMiddle(text, cells);
      expect(cellsOf(cut)).toBeLessThanOrEqual(cells);
      if (cellsOf(text) <= cells) expect(cut).toBe(text);
    },
  );

  const cells = fc.array(fc.tuple(letters, letters, letters), {minLength: 1, maxLength: 4});
  holdsFor(
    'a table: no line is wider than the terminal',
    [cells, fc.integer({min: 12, max: 120})],
    (rows, width) => {
      const text = renderTable(rows, {headings: ['file', 'status', 'url'], width, color: false});
      for (const line of text.split('\n')) expect(cellsOf(line)).toBeLessThanOrEqual(width);
      const shown = text.replace(/[^abcd写é😀]/gu, '');
      for (const row of rows)
        for (const cell of row) expect(shown.length).toBeGreaterThanOrEqual(cell.replaceAll(' ', '').length);
    },
  );
});

describe('outcomes', () => {
  const record = fc.dictionary(anyText, fc.jsonValue()).map(fields => JSON.stringify({...fields, id: 'm_1'}));
  holdsFor(
    'any name and record: in every line format fit to print, JSON where it says so',
    [anyText, record],
    (name, json) => {
      const received = parseRecord(json);
      if ('problem' in received) return;
      const outcome = outcomeOf({status: 'uploaded', file: name, ...received});
      for (const format of formatNames) {
        if (format === 'table') continue;
        const text = formatOutcome(format, outcome);
        expect(runnerCommands(text)).toEqual([]);
        expect(text).not.toMatch(rawControl);
        expect(text.split('\n').length).toBeLessThanOrEqual(2);
        if (format === 'json') expect(JSON.parse(text)).toEqual(JSON.parse(json));
        if (format === 'ndjson')
          expect(JSON.parse(text)).toMatchObject({file: name, record: JSON.parse(json)});
      }
    },
  );
});
