import {styleText} from 'node:util';
import type {Host, TerminalOutput} from '../../host.ts';

/** Whether text on this stream is coloured: decided by NO_COLOR, FORCE_COLOR, TERM and the terminal, in this order. */
export function mayColor(stream: TerminalOutput, env: Host['env']): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR'] !== undefined) return env['FORCE_COLOR'] !== '0' && env['FORCE_COLOR'] !== 'false';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

/** Whether this stream is a terminal that supports animation. */
export function mayAnimate(stream: TerminalOutput, env: Host['env']): boolean {
  return stream.isTTY === true && (stream.columns ?? 0) > 0 && env['TERM'] !== 'dumb' && !env['CI'];
}

/** Whether the terminal certainly shows only ASCII: LC_ALL, LC_CTYPE or LANG (as in POSIX) names no UTF-8. */
export function isAscii(env: Host['env']): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || 'UTF-8';
  return !/utf-?8/i.test(locale);
}

/** Whether the terminal wraps its lines again when its width changes; xterm and the console of Linux cut them. */
export function wrapsAgain(env: Host['env']): boolean {
  return env['XTERM_VERSION'] === undefined && env['TERM'] !== 'linux';
}

/** The width for a table, in cells: infinite without a terminal, or if the terminal does not report one. */
export function widthOf(stream: TerminalOutput): number {
  return (stream.isTTY === true && stream.columns) || Number.POSITIVE_INFINITY;
}

/** Magenta is for warnings, since yellow is unreadable on a light background. */
export type Style = 'bold' | 'red' | 'green' | 'magenta';

/** Styles a text, if there is a style and colour is on. */
export function paint(style: Style | undefined, text: string, color: boolean): string {
  return color && style !== undefined ? styleText(style, text, {validateStream: false}) : text;
}
