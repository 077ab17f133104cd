import {InvalidArgumentError, Option} from 'commander';
import {autoConcurrency} from '../transfer/concurrency.ts';
import {wholeNumber} from './values.ts';

/** How many files a command uploads at the same time. */
export function concurrencyOption(): Option {
  return new Option(
    '-c, --concurrency <n>',
    'files to upload at the same time; auto: as many as make it faster',
  )
    .argParser(parseConcurrency)
    .default(autoConcurrency, 'auto');
}

/** Parses how many files to upload at a time: a number, or `auto` or `auto:N` for as many as make it faster, at most N. */
function parseConcurrency(value: string): number | {most: number} {
  const parseNumber = wholeNumber(1, 1000);
  if (value === 'auto') return autoConcurrency;
  try {
    return value.startsWith('auto:') ? {most: parseNumber(value.slice('auto:'.length))} : parseNumber(value);
  } catch {
    throw new InvalidArgumentError('Use a whole number from 1 to 1000, auto, or auto:N with such a number.');
  }
}
