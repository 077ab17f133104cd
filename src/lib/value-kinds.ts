import {byWord, own} from './object.ts';

/** A kind of value that users write as text, in options and settings. */
export interface ValueKind<Value> {
  /** The kind in one word, such as `duration`. */
  readonly type: string;
  /** Completes the sentence "Use ...". */
  readonly takes: string;
  /** The value of a text; undefined if it is not of this kind. */
  readonly read: (text: string) => Value | undefined;
}

const durationUnits: Record<string, number> = {ms: 1, s: 1_000, m: 60_000, h: 3_600_000};

/** A time such as 500ms, 30s, 10m, 2h or 0s, in milliseconds; undefined for other texts. */
export function millisecondsOf(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * (own(durationUnits, unit) ?? 0);
}

/** A duration, which is longer than 0, in milliseconds. */
export const durationValue: ValueKind<number> = {
  type: 'duration',
  takes: 'a duration such as 500ms, 30s, 10m or 2h',
  read(text) {
    const ms = millisecondsOf(text) ?? 0;
    return Number.isFinite(ms) && ms > 0 ? ms : undefined;
  },
};

const support = byWord<'honoured' | 'hold' | 'declared'>([
  ['honoured', 'honoured 1'],
  ['hold', 'ignored 0'],
  ['declared', 'declared'],
]);

/** Whether a service honours Idempotency-Key, as what is done with an upload of unknown outcome. */
export const keysValue: ValueKind<'honoured' | 'hold' | 'declared'> = {
  type: 'keys',
  takes: 'honoured or 1, ignored or 0, or declared',
  read: text => support.get(text),
};

const sizeUnits: Record<string, number> = {'': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3};

/** Bytes per second, such as 500000, 500K or 1.5M; as in curl, units are powers of 1024. `none` is Infinity. */
export const rateValue: ValueKind<number> = {
  type: 'rate',
  takes: 'bytes per second, such as 500000, 500K or 2M, or none',
  read(text) {
    const rate = text === 'none' ? Number.POSITIVE_INFINITY : bytesOf(text);
    return rate >= 1 ? rate : undefined;
  },
};

/** A size in bytes, such as 500000, 500K or 1.5G, with the same units. */
export const sizeValue: ValueKind<number> = {
  type: 'size',
  takes: 'a size in bytes, such as 500000, 20M or 2G',
  read(text) {
    const size = Math.floor(bytesOf(text));
    return size >= 1 ? size : undefined;
  },
};

/** A size such as 1.5M in bytes; 0 for a text that is not a size. */
function bytesOf(value: string): number {
  const match = /^(\d+(?:\.\d+)?)([KMG]?)B?$/i.exec(value);
  return match === null ? 0 : Number(match[1]) * (own(sizeUnits, (match[2] ?? '').toUpperCase()) ?? 0);
}

/** How many files are uploaded at a time where that adapts to the network: at most this many. */
export const adaptiveConcurrency = {most: 128} as const;

/** How many files to upload at a time: a number, or `auto` or `auto:N` for as many as make it faster, at most N. */
export const concurrencyValue: ValueKind<number | {most: number}> = {
  type: 'concurrency',
  takes: 'a whole number from 1 to 1000, auto, or auto:N with such a number',
  read(text) {
    if (text === 'auto') return adaptiveConcurrency;
    const number = /^(?:auto:)?(\d+)$/.exec(text)?.[1];
    const most = Number(number);
    if (number === undefined || most < 1 || most > 1000) return undefined;
    return text.startsWith('auto:') ? {most} : most;
  },
};
