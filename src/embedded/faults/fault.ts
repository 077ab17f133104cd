import {own} from '../../lib/object.ts';
import {millisecondsOf, sizeValue} from '../../lib/value-kinds.ts';
import type {Stage} from '../exchange/exchange.ts';
import {InvalidOption} from '../exchange/refusal.ts';

const operations = ['upload', 'graphql', 'files', 'thumbnails', 'streams', 'any'] as const;

/** A fault: which requests it is for, and what is done to them. */
export interface Fault {
  /** As it was written. */
  readonly text: string;
  readonly operation: (typeof operations)[number];
  /** The file name, where the request has one. */
  readonly name?: RegExp;
  /** The first and the last matching request that it is for, counted from 1. */
  readonly nth: readonly [first: number, last: number];
  /** The share of those requests, up to 1. */
  readonly rate: number;
  readonly after: Stage;
  readonly latency?: Latency;
  /** Bytes per second. */
  readonly bandwidth?: number;
  readonly status?: number;
  readonly withRecord: boolean;
  /** Seconds. */
  readonly retryAfter?: number;
  /** Only responses of this status get the other one. */
  readonly insteadOf?: number;
  readonly end?: 'reset' | 'silence';
  readonly isCut: boolean;
  /** The field of the record to be changed. */
  readonly wrong?: string;
}

interface Part {
  /** What a value must be. */
  readonly expected: string;
  /** The part of the fault that a value stands for; undefined if it cannot be read. */
  read(value: string): Partial<Fault> | undefined;
}

const stages: readonly Stage[] = ['head', 'body', 'store'];

const parts: Readonly<Record<string, Part>> = {
  name: {
    expected: 'a file name, in which * matches any characters',
    read: value => ({name: wildcards(value)}),
  },
  nth: {
    expected: 'the number of a request, such as 3, or a range, such as 2-5 or 2-',
    read: value => {
      const [, first, range, end] = /^([1-9]\d*)(-([1-9]\d*)?)?$/.exec(value) ?? [];
      const last = end ?? (range === undefined ? first : Number.POSITIVE_INFINITY);
      return Number(first) <= Number(last) ? {nth: [Number(first), Number(last)]} : undefined;
    },
  },
  rate: {
    expected: 'a share of the requests, such as 0.1',
    read: value => (/^(?:0?\.\d+|[01](?:\.0+)?)$/.test(value) ? {rate: Number(value)} : undefined),
  },
  after: {
    expected: stages.join(', '),
    read: value => (stages.includes(value as Stage) ? {after: value as Stage} : undefined),
  },
  latency: {
    expected: 'a time, such as 200ms, 100ms..2s or 200ms~0.5',
    read: value => optional(parseLatency(value), latency => ({latency})),
  },
  bandwidth: {
    expected: 'bytes per second, such as 500000, 64K or 2M',
    read: value => optional(sizeValue.read(value), bandwidth => ({bandwidth})),
  },
  status: statusPart(status => ({status})),
  record: {
    expected: 'yes or no',
    read: value => (value === 'yes' || value === 'no' ? {withRecord: value === 'yes'} : undefined),
  },
  'retry-after': {
    expected: 'a number of seconds',
    read: value => (/^\d{1,9}$/.test(value) ? {retryAfter: Number(value)} : undefined),
  },
  'instead-of': statusPart(insteadOf => ({insteadOf})),
  wrong: {
    expected: 'a field of the record, such as size',
    read: value => (/^\w+$/.test(value) ? {wrong: value} : undefined),
  },
};

const words: Readonly<Record<string, Partial<Fault>>> = {
  reset: {end: 'reset'},
  silence: {end: 'silence'},
  cut: {isCut: true},
};

const effects = ['status', 'latency', 'bandwidth', 'wrong', 'reset', 'silence', 'cut'];

/** Parts that make sense only with `status`. */
const ofStatus = ['record', 'retry-after', 'instead-of'];

/** Parts, each with those that exclude it. */
const exclusive: readonly (readonly [string, readonly string[]])[] = [
  ['status', ['reset', 'silence', 'wrong']],
  ['reset', ['silence', 'wrong', 'cut']],
  ['silence', ['wrong', 'cut']],
  ['instead-of', ['after', 'latency', 'bandwidth']],
];

/** Parses a fault such as `upload:status=503,after=store,rate=0.1`; throws an InvalidOption. */
export function parseFault(text: string): Fault {
  const [, start, rest = ''] = /^(\w*):(.*)$/s.exec(text) ?? [];
  const operation = operations.find(one => one === start);
  if (operation === undefined) {
    throw invalid(text, `it must begin with ${operations.map(one => `"${one}:"`).join(', ')}`);
  }
  const given = rest.split(',').map(part => /^[^=]*/.exec(part)?.[0] ?? '');
  const lonely = ofStatus.find(key => given.includes(key) && !given.includes('status'));
  if (lonely !== undefined) throw invalid(text, `${lonely} needs status`);
  for (const [key, others] of exclusive) {
    const other = given.includes(key) ? others.find(one => given.includes(one)) : undefined;
    if (other !== undefined) throw invalid(text, `${key} and ${other} exclude each other`);
  }
  const fields = rest.split(',').map(part => fieldsOf(text, part));
  if (!effects.some(key => given.includes(key))) {
    throw invalid(text, `it needs one of ${effects.join(', ')}`);
  }
  const nothing: Fault = {
    text,
    operation,
    nth: [1, Number.POSITIVE_INFINITY],
    rate: 1,
    after: 'head',
    withRecord: true,
    isCut: false,
  };
  return Object.assign(nothing, ...fields);
}

function fieldsOf(text: string, given: string): Partial<Fault> {
  const word = own(words, given);
  if (word !== undefined) return word;
  const [, key = '', value = ''] = /^([^=]*)=(.*)$/s.exec(given) ?? [];
  const part = own(parts, key);
  if (part === undefined) {
    const known = [...Object.keys(parts), ...Object.keys(words)].join(', ');
    throw invalid(text, `"${given}" is not one of ${known}`);
  }
  const read = part.read(value);
  if (value === '' || read === undefined) throw invalid(text, `${key} must be ${part.expected}`);
  return read;
}

function optional<T>(value: T | undefined, make: (value: T) => Partial<Fault>): Partial<Fault> | undefined {
  return value === undefined ? undefined : make(value);
}

function statusPart(make: (status: number) => Partial<Fault>): Part {
  return {
    expected: 'an HTTP status from 400 to 599',
    read: value => (/^[45]\d\d$/.test(value) ? make(Number(value)) : undefined),
  };
}

function wildcards(text: string): RegExp {
  const escaped = text.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${escaped}$`, 's');
}

function invalid(text: string, why: string): InvalidOption {
  return new InvalidOption(
    `The fault "${text}" cannot be used: ${why}.`,
    "Write it like 'upload:status=503,after=store,rate=0.1'.",
  );
}

/** Draws a latency in milliseconds. */
type Latency = (random: () => number) => number;

/** Parses `200ms` (fixed), `100ms..300ms` (uniform) or `200ms~0.5` (log-normal: median, deviation of the logarithm). */
function parseLatency(text: string): Latency | undefined {
  const [, first = '', between = '', second = ''] = /^([\d.]+[a-z]+)(?:(\.\.|~)(.+))?$/.exec(text) ?? [];
  const least = millisecondsOf(first);
  if (least === undefined) return undefined;
  if (between === '') return () => least;
  if (between === '..') {
    const most = millisecondsOf(second);
    if (most === undefined || most < least) return undefined;
    return random => least + (most - least) * random();
  }
  if (!/^\d+(?:\.\d+)?$/.test(second)) return undefined;
  return random => least * Math.exp(Number(second) * normal(random));
}

/** A standard normal number (Box and Muller). */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
