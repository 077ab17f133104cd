import {readdirSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {environment, upload} from '../commands.js';
import {picturesIn, placeOf} from '../files.js';
import {timed} from '../measure.js';
import {within} from '../within.js';

/** The record of the sink, which the journal keeps whole. */
const recordBytes = 86;

/** Many files: a million of them takes half an hour and 5 GB, so that only --full measures so many. */
export function million(directory, sink, isFull) {
  const [few, many] = [20_000, isFull ? 1_000_000 : 100_000];
  const {lists: onLists, ...others} = ways(directory, environment(sink.url, directory));
  const runs = isFull ? {...others, lists: onLists} : others;
  // What the first run of all reads from the disk, the others find in memory.
  for (const count of [few, many]) others.dry(count);
  const measured = Object.fromEntries(
    Object.entries(runs).map(([name, run]) => [name, {few: run(few), many: run(many)}]),
  );
  const {dry, plain, journal, lists} = measured;
  // The speed of a machine changes by a third within minutes: fewer files are sent in turns, more take too long for that.
  const turns = [{plain: plain.many, journal: journal.many}];
  for (let turn = 1; turn < (isFull ? 1 : 3); turn += 1)
    turns.push({plain: runs.plain(many), journal: runs.journal(many)});
  const seconds = name => turns.map(turn => turn[name].wall / 1000);
  const perFile = ({wall}, count) => (wall * 1000) / count;
  const what = many.toLocaleString('en');
  const linear = (name, {few: small, many: large}) => ({
    what: `${name} of ${what} files`,
    unit: 'µs a file',
    ours: [perFile(large, many)],
    against: 'of 20,000',
    peer: [perFile(small, few)],
    atMost: 1.15,
  });
  return [
    linear('dry run', dry),
    linear('upload', plain),
    linear('upload with --journal', journal),
    within(`dry run of ${what} files`, 'MiB', [dry.many.peak], isFull ? 400 : 170),
    {
      what: `upload of ${what} files with --journal`,
      unit: 's',
      ours: seconds('journal'),
      against: 'without',
      peer: seconds('plain'),
      atMost: 1.35,
    },
    within('the journal, beside the record', 'bytes a file', [journal.many.bytes / many - recordBytes], 450),
    // Of fewer files, it is less than the memory of two equal runs differs by.
    ...(lists === undefined
      ? []
      : [
          within(
            `the set of seen inputs: ${what} files on two lists each`,
            'bytes a file',
            [((lists.many.peak - lists.few.peak - (dry.many.peak - dry.few.peak)) * 2 ** 20) / (many - few)],
            40,
          ),
        ]),
  ];
}

/** Each way of going through that many files: its time, its peak of memory, and the size of its journal. */
function ways(directory, env) {
  const tree = count => picturesIn(join(placeOf(count, directory), `tree${count / 1000}`), count, 43);
  const run = (...parameters) => timed(upload(...parameters, '--ndjson'), {env});
  const journal = join(directory, 'million.journal');
  const list = count => {
    const path = join(directory, `list${count / 1000}`);
    const pictures = tree(count);
    const names = readdirSync(pictures, {recursive: true}).filter(name => name.endsWith('.gif'));
    writeFileSync(path, names.map(name => `${join(pictures, name)}\n`).join(''));
    return ['--files-from', path, '--files-from', path];
  };
  return {
    dry: count => run('-r', tree(count), '--dry-run'),
    plain: count => run('-r', tree(count)),
    journal: count => {
      rmSync(journal, {force: true});
      const time = run('-r', tree(count), '--journal', journal);
      return {...time, bytes: statSync(journal).size};
    },
    lists: count => run(...list(count), '--dry-run'),
  };
}
