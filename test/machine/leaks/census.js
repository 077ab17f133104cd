import {getEventListeners} from 'node:events';
import {readdirSync, readlinkSync} from 'node:fs';
import {join} from 'node:path';
import {queryObjects} from 'node:v8';

/**
 * Counts what this process holds: descriptors, active resources (timers, sockets, child processes, requests of other threads),
 * listeners of the process, of its streams and of `signals`, and the files below `directories`.
 */
function counts({directories = [], signals = []}) {
  const counted = {};
  const add = (name, count = 1) => {
    counted[name] = (counted[name] ?? 0) + count;
  };
  for (const target of openFiles()) add(`open: ${target}`);
  for (const name of process.getActiveResourcesInfo()) add(`active: ${name}`);
  const emitters = {process, stdout: process.stdout, stderr: process.stderr};
  for (const [owner, emitter] of Object.entries(emitters))
    for (const name of emitter.eventNames())
      add(`listeners of ${owner}: ${String(name)}`, emitter.listenerCount(name));
  for (const signal of signals) add('listeners of signals', getEventListeners(signal, 'abort').length);
  for (const directory of directories)
    for (const name of readdirSync(directory, {recursive: true})) add(`file: ${join(directory, name)}`);
  for (const warning of warnings) add(`warning: ${warning}`);
  return counted;
}

/** What Node warned of: too many listeners, or a file that nobody closed and nobody can close any more. */
const warnings = [];
process.on('warning', ({name, message}) => {
  if (name !== 'ExperimentalWarning') warnings.push(message.replace(/\d+/g, 'N'));
});

/** What there is more of: names with the count before and after. */
function grown(before, after) {
  const more = Object.entries(after).filter(([name, count]) => count > (before[name] ?? 0));
  return Object.fromEntries(more.map(([name, count]) => [name, [before[name] ?? 0, count]]));
}

/** How many objects are in use, of any class, functions and buffers included; what is unused is freed first. */
function objectsInUse() {
  // The first call makes objects of its own.
  queryObjects(Object, {format: 'count'});
  return queryObjects(Object, {format: 'count'});
}

/** What a process holds at one time. */
function census(watched) {
  return {counts: counts(watched), objects: objectsInUse()};
}

/**
 * Makes `rounds` rounds, of `each` things, after some that warm up. Resolves to what the process holds more than before them, and
 * how many objects for each thing.
 */
export async function leftBy(watched, round, {rounds, each = 1, warmUp = 5}) {
  for (let number = 0; number < warmUp; number += 1) await round(number);
  const begun = await begin(watched);
  for (let number = 0; number < rounds; number += 1) await round(warmUp + number);
  return compared(begun, watched, rounds * each);
}

/** A census, once nothing more is being closed. */
export async function begin(watched) {
  let last = '';
  for (let same = 0; same < 5; ) {
    await pause();
    const now = JSON.stringify(counts(watched));
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return census(watched);
}

/** What there is more of than at a census, once what is being closed has been closed, and how many objects for each of `things`. */
export async function compared(begun, watched, things) {
  await moreThan(begun, watched);
  const objectsForEach = (objectsInUse() - begun.objects) / things;
  // What was freed just now may bring a warning.
  await pause();
  return {more: await moreThan(begun, watched), objectsForEach};
}

/** What there is more of than at a census, for as long as a test waits: a process that watches a directory also reads it now and then. */
async function moreThan(begun, watched) {
  const end = performance.now() + Number(process.env.PATIENCE);
  let more = grown(begun.counts, counts(watched));
  while (Object.keys(more).length > 0 && performance.now() < end) {
    await pause();
    more = grown(begun.counts, counts(watched));
  }
  return more;
}

function pause() {
  return new Promise(resolve => setTimeout(resolve, 10));
}

function openFiles() {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd').flatMap(name => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`).replace(/:\[.*/, '')];
    } catch {
      return [];
    }
  });
}

/** Prints what a program found, for the test that started it. */
export function tell(found) {
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
