import {own} from '../../lib/object.ts';
import {millisecondsOf, sizeValue} from '../../lib/value-kinds.ts';
import type {Stage} from '../exchange/exchange.ts';
import {InvalidOption} from '../exchange/refusal.ts';

const operations = ['upload', 'graphql', 'files', 'thumbnails', 'streams', 'any'] as const;

/** What a fault may consist of, by the names of its parts. */
interface Parts {
  /** The file name, where the request has one. */
  name: RegExp;
  /** The first and the last matching request that it is for, counted from 1. */
  nth: readonly [first: number, last: number];
  /** The share of those requests, up to 1. */
  rate: number;
  after: Stage;
  latency: Latency;
  /** Bytes per second. */
  bandwidth: number;
  status: number;
  /** Whether the response has an error record. */
  record: boolean;
  /** Seconds. */
  'retry-after': number;
  /** Only responses of this status get the other one. */
  'instead-of': number;
  /** The field of the record to be changed. */
  wrong: string;
  reset: true;
  silence: true;
  cut: true;
}

/** What a fault consists of unless it says something else. */
const usual = {nth: [1, Number.POSITIVE_INFINITY], rate: 1, after: 'head', record: true} as const;

/** A fault: which requests it is for, and what is done to them. */
export type Fault = Readonly<Partial<Parts>> &
  Readonly<Pick<Parts, keyof typeof usual>> & {
    /** As it was written. */
    readonly text: string;
    readonly operation: (typeof operations)[number];
  };

interface Part<Value> {
  /** What a value must be. */
  readonly expected: string;
  /** What a value stands for; undefined if it cannot be read. */
  read(value: string): Value | undefined;
}

const stages: readonly Stage[] = ['head', 'body', 'store'];

const status: Part<number> = {
  expected: 'an HTTP status from 400 to 599',
  read: value => (/^[45]\d\d$/.test(value) ? Number(value) : undefined),
};

const word: Part<true> = {
  expected: 'without a value',
  read: value => (value === '' ? true : undefined),
};

const parts: {readonly [Name in keyof Parts]: Part<Parts[Name]>} = {
  name: {
    expected: 'a file name, in which * matches any characters',
    read: value => (value === '' ? undefined : wildcards(value)),
  },
  nth: {
    expected: 'the number of a request, such as 3, or a range, such as 2-5 or 2-',
    read: value => {
      const [, first, range, end] = /^([1-9]\d*)(-([1-9]\d*)?)?$/.exec(value) ?? [];
      const last = end ?? (range === undefined ? first : Number.POSITIVE_INFINITY);
      return Number(first) <= Number(last) ? [Number(first), Number(last)] : undefined;
    },
  },
  rate: {
    expected: 'a share of the requests, such as 0.1',
    read: value => (/^(?:0?\.\d+|[01](?:\.0+)?)$/.test(value) ? Number(value) : undefined),
  },
  after: {
    expected: stages.join(', '),
    read: value => stages.find(stage => stage === value),
  },
  latency: {
    expected: 'a time, such as 200ms, 100ms..2s or 200ms~0.5',
    read: parseLatency,
  },
  bandwidth: {
    expected: 'bytes per second, such as 500000, 64K or 2M',
    read: sizeValue.read,
  },
  status,
  record: {
    expected: 'yes or no',
    read: value => (value === 'yes' || value === 'no' ? value === 'yes' : undefined),
  },
  'retry-after': {
    expected: 'a number of seconds',
    read: value => (/^\d{1,9}$/.test(value) ? Number(value) : undefined),
  },
  'instead-of': status,
  wrong: {
    expected: 'a field of the record, such as size',
    read: value => (/^\w+$/.test(value) ? value : undefined),
  },
  reset: word,
  silence: word,
  cut: word,
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
  const fields: Partial<Parts> = Object.assign({}, ...rest.split(',').map(part => fieldOf(text, part)));
  const given = Object.keys(fields);
  const lonely = ofStatus.find(key => given.includes(key) && !given.includes('status'));
  if (lonely !== undefined) throw invalid(text, `${lonely} needs status`);
  for (const [key, others] of exclusive) {
    const other = given.includes(key) ? others.find(one => given.includes(one)) : undefined;
    if (other !== undefined) throw invalid(text, `${key} and ${other} exclude each other`);
  }
  if (!effects.some(key => given.includes(key))) {
    throw invalid(text, `it needs one of ${effects.join(', ')}`);
  }
  return {...usual, ...fields, text, operation};
}

function fieldOf(text: string, given: string): object {
  const [, key = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(given) ?? [];
  const part = own<Part<unknown>>(parts, key);
  if (part === undefined) throw invalid(text, `"${given}" is not one of ${Object.keys(parts).join(', ')}`);
  const read = part.read(value);
  if (read === undefined) throw invalid(text, `${key} must be ${part.expected}`);
  return {[key]: read};
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
