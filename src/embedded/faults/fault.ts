import {own} from '../../lib/object.ts';
import {millisecondsOf, sizeValue} from '../../lib/value-kinds.ts';
import type {Stage} from '../exchange/http-exchange.ts';
import {InvalidOption} from '../exchange/refusal.ts';

const operations = ['upload', 'graphql', 'files', 'thumbnails', 'streams', 'any'] as const;

/** A fault: which requests it is for, what is done to them, and its `text` as it was written. */
export type Fault = ReturnType<typeof parseFault>;

/** What a fault may consist of, by the names of its parts. */
type Parts = {[Name in keyof typeof parts]: Exclude<ReturnType<(typeof parts)[Name]['read']>, undefined>};

/** A part of a fault; `read` returns its value, or undefined if the text is not what `expected` describes. */
function part<Value>(expected: string, read: (value: string) => Value | undefined) {
  return {expected, read};
}

const stages: readonly Stage[] = ['head', 'body', 'store'];

const status = part('an HTTP status from 400 to 599', value =>
  /^[45]\d\d$/.test(value) ? Number(value) : undefined,
);

const word = part('without a value', value => (value === '' ? true : undefined));

const parts = {
  /** The first and the last matching request that it is for, counted from 1. */
  nth: part('the number of a request, such as 3, or a range, such as 2-5 or 2-', value => {
    const [, first, range, end] = /^([1-9]\d*)(-([1-9]\d*)?)?$/.exec(value) ?? [];
    const last = end ?? (range === undefined ? first : Number.POSITIVE_INFINITY);
    return Number(first) <= Number(last) ? ([Number(first), Number(last)] as const) : undefined;
  }),
  rate: part('a share of the requests, such as 0.1', value =>
    /^(?:0?\.\d+|[01](?:\.0+)?)$/.test(value) ? Number(value) : undefined,
  ),
  /** Decides which requests `rate` picks, and draws latencies. */
  seed: part('a whole number', value => (/^\d{1,9}$/.test(value) ? Number(value) : undefined)),
  after: part(stages.join(', '), value => stages.find(stage => stage === value)),
  latency: part('a time, such as 200ms, 100ms..2s or 200ms~0.5', parseLatency),
  bandwidth: part('bytes per second, such as 500000, 64K or 2M', sizeValue.read),
  status,
  /** Whether the response has an error record. */
  record: part('yes or no', value => (value === 'yes' || value === 'no' ? value === 'yes' : undefined)),
  'retry-after': part('a number of seconds', value => (/^\d{1,9}$/.test(value) ? Number(value) : undefined)),
  /** Only responses of this status get the other one. */
  'instead-of': status,
  wrong: part('a field of the record, such as size', value => (/^\w+$/.test(value) ? value : undefined)),
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
export function parseFault(text: string) {
  const [, start, rest = ''] = /^(\w*):(.*)$/s.exec(text) ?? [];
  const operation = operations.find(one => one === start);
  if (operation === undefined)
    throw invalidFault(text, `it must begin with ${operations.map(one => `"${one}:"`).join(', ')}`);
  const fields: Partial<Parts> = Object.assign({}, ...rest.split(',').map(part => parsePart(text, part)));
  const names = Object.keys(fields);
  const lonely = ofStatus.find(key => names.includes(key) && !names.includes('status'));
  if (lonely !== undefined) throw invalidFault(text, `${lonely} needs status`);
  for (const [key, others] of exclusive) {
    const other = names.includes(key) ? others.find(one => names.includes(one)) : undefined;
    if (other !== undefined) throw invalidFault(text, `${key} and ${other} exclude each other`);
  }
  if (!effects.some(key => names.includes(key)))
    throw invalidFault(text, `it needs one of ${effects.join(', ')}`);
  const nth = [1, Number.POSITIVE_INFINITY] as const;
  return {nth, rate: 1, seed: 0, after: 'head' as const, record: true, ...fields, text, operation};
}

/** One part of the fault `text`, such as `rate=0.1`, as an object of one field; throws an InvalidOption. */
function parsePart(text: string, piece: string): object {
  const [, key = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(piece) ?? [];
  const field = own<ReturnType<typeof part<unknown>>>(parts, key);
  if (field === undefined)
    throw invalidFault(text, `"${piece}" is not one of ${Object.keys(parts).join(', ')}`);
  const read = field.read(value);
  if (read === undefined) throw invalidFault(text, `${key} must be ${field.expected}`);
  return {[key]: read};
}

/** The error for a fault `text` that is not valid; `why` completes its sentence. */
function invalidFault(text: string, why: string): InvalidOption {
  return new InvalidOption(
    `The fault "${text}" cannot be used: ${why}.`,
    "Write it like 'upload:status=503,after=store,rate=0.1'.",
  );
}

/** Parses `200ms` (fixed), `100ms..300ms` (uniform) or `200ms~0.5` (log-normal: median, deviation of the logarithm). */
function parseLatency(text: string): ((random: () => number) => number) | undefined {
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
  return random => {
    // A standard normal number (Box and Muller).
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return least * Math.exp(Number(second) * normal);
  };
}
