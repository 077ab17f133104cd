import {PassThrough} from 'node:stream';
import {describe, expect, it} from 'vitest';
import {Meter} from '../../../src/cli/output/progress/meter.ts';
import {Progress, progressText} from '../../../src/cli/output/progress/progress.ts';
import {mayAnimate, mayColor, widthOf} from '../../../src/cli/output/terminal.ts';
import {systemClock, type TerminalOutput} from '../../../src/host.ts';
import {formatBytes} from '../../../src/lib/units.ts';
import {TerminalScreen} from '../../machine/docs/terminal-screen.js';

const MiB = 1024 * 1024;

/** A stream that says this of itself. */
function stream(isTTY: boolean, columns?: number): TerminalOutput & PassThrough & {columns?: number} {
  return Object.assign(new PassThrough(), {isTTY, ...(columns === undefined ? {} : {columns})});
}

describe('progressText', () => {
  it.each([
    [10 * MiB, 0, 0, '0%  0 B/10.0 MiB'],
    [10 * MiB, MiB, 100, '10%  1.0 MiB/10.0 MiB'],
    [10 * MiB, 5 * MiB, 1000, '50%  5.0 MiB/10.0 MiB  5.0 MiB/s  1s left'],
    [600 * MiB, MiB, 1000, '0%  1.0 MiB/600.0 MiB  1.0 MiB/s  9m59s left'],
    [7201 * MiB, MiB, 1000, '0%  1.0 MiB/7.0 GiB  1.0 MiB/s  2h00m left'],
    [10 * MiB, 10 * MiB, 1000, '100%  10.0 MiB sent, waiting for the response'],
    [1, 1, 0, '100%  1 B sent, waiting for the response'],
  ])('size %i, sent %i after %i ms', (size, sent, elapsedMs, expected) => {
    expect(progressText(size, sent, elapsedMs)).toBe(expected);
  });
});

describe('a terminal that becomes narrower', () => {
  it('nothing is left of what was drawn before, and what stood above stays', () => {
    const screen = new TerminalScreen(120);
    const terminal = stream(true, 120);
    const write = (text: string) => screen.write(text.replace(/\r?\n/g, '\r\n'));
    Object.assign(terminal, {
      write: (text: string) => write(text),
      cursorTo: (column: number) => write(`\u001b[${column + 1}G`),
      moveCursor: (_x: number, lines: number) => write(`\u001b[${-lines}A`),
      clearLine: () => write('\u001b[K'),
    });
    const meter = new Meter(systemClock);
    const host = {
      stderr: terminal,
      env: {NO_COLOR: '1', LANG: 'C'},
      clock: systemClock,
      isInBackground: () => false,
    };
    const progress = new Progress(host, {meter, several: true, summary: () => '0 uploaded, 0 failed'});
    const shown = () =>
      screen.rows.map(row =>
        row
          .map(({character}) => character)
          .join('')
          .trimEnd(),
      );
    write('$ media upload\r\n');
    for (const position of [0, 1]) meter.begin(position, `${'long-'.repeat(30)}${position}.png`, 1000);
    progress.start();
    expect(shown()).toHaveLength(5);
    screen.narrow(50);
    terminal.columns = 50;
    terminal.emit('resize');
    progress.draw();
    const lines = shown().filter(line => line !== '');
    expect(lines).toHaveLength(5);
    expect(lines[0]).toBe('$ media upload');
    expect(lines.at(-1)).toMatch(/^ {2}long-.*~.*1\.png {2}0% /);
    progress.stop();
    expect(shown().filter(line => line !== '')).toEqual(['$ media upload']);
  });
});

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [2 ** 30, '1.0 GiB'],
    [2 ** 50, '1024.0 TiB'],
  ])('%i', (bytes, expected) => {
    expect(formatBytes(bytes)).toBe(expected);
  });
});

describe('mayAnimate', () => {
  it.each([
    ['a terminal', stream(true, 80), {}, true],
    ['a terminal of no width', stream(true, 0), {}, false],
    ['a terminal that does not tell its width', stream(true), {}, false],
    ['a dumb terminal', stream(true, 80), {TERM: 'dumb'}, false],
    ['a terminal in CI', stream(true, 80), {CI: 'true'}, false],
    ['a pipe', stream(false), {}, false],
  ])('%s', (_name, output, env, expected) => {
    expect(mayAnimate(output, env)).toBe(expected);
  });
});

describe('widthOf', () => {
  it.each([
    [stream(true, 40), 40],
    [stream(true, 0), Number.POSITIVE_INFINITY],
    [stream(true), Number.POSITIVE_INFINITY],
    [stream(false, 40), Number.POSITIVE_INFINITY],
  ])('%#', (output, width) => {
    expect(widthOf(output)).toBe(width);
  });
});

describe('mayColor', () => {
  it.each<[string, boolean, Record<string, string>, boolean]>([
    ['a terminal', true, {}, true],
    ['a pipe', false, {}, false],
    ['a dumb terminal', true, {TERM: 'dumb'}, false],
    ['NO_COLOR=1', true, {NO_COLOR: '1'}, false],
    ['NO_COLOR= (empty)', true, {NO_COLOR: ''}, true],
    ['FORCE_COLOR=1 on a pipe', false, {FORCE_COLOR: '1'}, true],
    ['FORCE_COLOR=0 on a terminal', true, {FORCE_COLOR: '0'}, false],
    ['NO_COLOR over FORCE_COLOR', true, {NO_COLOR: '1', FORCE_COLOR: '1'}, false],
  ])('%s', (_name, isTTY, env, expected) => {
    expect(mayColor(stream(isTTY, 80), env)).toBe(expected);
  });
});
