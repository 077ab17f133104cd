// Measures the program against the tools that people would use instead, each row in turns with its peer, and prints one
// table. --check fails past the bounds with a quarter of slack; --only WORD measures the rows whose name has it,
// --full those too that take long.

import {spawnSync} from 'node:child_process';
import {mkdirSync} from 'node:fs';
import {cpus, loadavg, tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {median, quantile} from './measure.js';
import {rows} from './rows.js';

const {values} = parseArgs({
  options: {
    check: {type: 'boolean', default: false},
    only: {type: 'string', default: ''},
    full: {type: 'boolean', default: false},
  },
});
const slack = 1.25;
const directory = process.env.MEDIA_BENCH_DIRECTORY ?? join(tmpdir(), 'media-bench');
mkdirSync(directory, {recursive: true});

const curl = spawnSync('curl', ['--version'], {encoding: 'utf8'}).stdout?.split(' ', 2)[1] ?? 'none';
console.log(
  `Node ${process.version}, curl ${curl}, ${cpus().length} x ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}\n`,
);
console.log('| what | measured | against | measured | ratio | bound | |');
console.log('|---|---|---|---|---|---|---|');
// What is made in memory goes with this process.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
let isGood = true;
const chosen = rows.filter(row => row.name.includes(values.only) && (values.full || !row.isLong));
for (const {name, measure, skip} of chosen) {
  const reason = skip?.();
  if (reason !== undefined) {
    console.log(`| ${name} | skipped: ${reason} | | | | | |`);
    continue;
  }
  try {
    for (const result of await measure(directory, values.full)) isGood = print(name, result) && isGood;
  } catch (error) {
    isGood = false;
    console.log(`| ${name} | ${String(error.message).trim().split('\n')[0]} | | | | | ✗ |`);
  }
}
if (values.check && !isGood) process.exitCode = 1;

/** Prints a line; whether what was measured is within its bound, or within the slack when checking. */
function print(
  name,
  {what = name, unit, ours, against, peer, ratio = quotients(ours, peer), atMost, atLeast},
) {
  const shown = median(ratio);
  const isWithin = factor =>
    (atMost === undefined || shown <= atMost * factor) &&
    (atLeast === undefined || shown >= atLeast / factor);
  const bound =
    atMost === undefined && atLeast === undefined
      ? ''
      : atMost === undefined
        ? `≥ ${atLeast}`
        : `≤ ${atMost}`;
  const mark = bound === '' ? '' : isWithin(1) ? '✓' : isWithin(slack) ? '~' : '✗';
  const cells = [
    what,
    spread(ours, unit),
    against,
    peer === undefined ? '' : spread(peer, unit),
    spread(ratio, ''),
    bound,
    mark,
  ];
  console.log(`| ${cells.join(' | ')} |`);
  return isWithin(slack);
}

/** Each run with the peer of its own turn: what slows the machine down for a while slows both. */
function quotients(ours, peer) {
  return ours.map((value, turn) => value / peer[turn]);
}

/** The middle and, where there are several, the quarters around it. */
function spread(numbers, unit) {
  const shown = number => number.toFixed(number < 10 ? 2 : number < 100 ? 1 : 0);
  const [low, middle, high] = [0.25, 0.5, 0.75].map(part => shown(quantile(numbers, part)));
  return `${middle}${unit === '' ? '' : ` ${unit}`}${numbers.length > 1 ? ` (${low}–${high})` : ''}`;
}
