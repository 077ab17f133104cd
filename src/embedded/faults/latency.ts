import {own} from '../../lib/own.ts';

const units: Readonly<Record<string, number>> = {ms: 1, s: 1_000, m: 60_000};

/** Draws a latency in milliseconds. */
export type Latency = (random: () => number) => number;

/**
 * Parses a latency: `200ms` is fixed, `100ms..300ms` uniform, and `200ms~0.5` log-normal with that median and that
 * standard deviation of the logarithm. Undefined for anything else.
 */
export function parseLatency(text: string): Latency | undefined {
  const [, first = '', between = '', second = ''] = /^([\d.]+[a-z]+)(?:(\.\.|~)(.+))?$/.exec(text) ?? [];
  const least = milliseconds(first);
  if (least === undefined) return undefined;
  if (between === '') return () => least;
  if (between === '..') {
    const most = milliseconds(second);
    if (most === undefined || most < least) return undefined;
    return random => least + (most - least) * random();
  }
  if (!/^\d+(?:\.\d+)?$/.test(second)) return undefined;
  return random => least * Math.exp(Number(second) * normal(random));
}

function milliseconds(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (own(units, unit) ?? 0);
}

/** A standard normal number (Box and Muller). */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
