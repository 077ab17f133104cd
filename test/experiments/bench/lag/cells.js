const kilobyte = 1000;
const tiny = 3 * kilobyte;
export const photo = 100 * kilobyte;
const film = 5 * 2 ** 20;

/**
 * Lines (rtt in ms, rate in Mbit/s, loss), the services at their ends (they answer after `delay` ms, or take `most` at a time and
 * refuse the rest) and the files that are sent there. `atLeast`: what auto should reach of the best fixed number, 0.9 unless given.
 * Until the first answers, 16 files are sent, then 64 and 128 (32 and 64 where these came one after the other), so that a service that
 * takes 4 refuses few: of a run that is over within a few round trips, each that passes until 128 are sent is a part that shows.
 */
export const shortCells = [
  {rtt: 1, delay: 200, files: 300, size: tiny, atLeast: 0.65},
  {rtt: 10, files: 1000, size: photo},
  {rtt: 50, files: 1000, size: photo},
  {rtt: 50, rate: 10, files: 300, size: tiny},
  {rtt: 50, rate: 100, files: 300, size: photo},
  {rtt: 150, files: 300, size: photo, atLeast: 0.6},
  {rtt: 150, loss: 0.01, files: 300, size: photo, atLeast: 0.6},
  {rtt: 50, delay: 50, most: 4, files: 300, size: tiny},
];

/** The rest, which takes a quarter of an hour. */
export const longCells = [
  // It takes 0.7 s, a fifth of which is Node's start: -c 16, 32 and 64 differ as much from run to run.
  {rtt: 1, files: 1000, size: tiny, atLeast: 0.8},
  {rtt: 1, files: 1000, size: photo},
  {rtt: 1, delay: 50, files: 1000, size: tiny},
  {rtt: 1, delay: 200, files: 1000, size: tiny, atLeast: 0.75},
  {rtt: 10, files: 300, size: photo},
  {rtt: 10, rate: 100, files: 300, size: photo},
  {rtt: 10, loss: 0.01, files: 1000, size: photo},
  {rtt: 10, delay: 200, most: 4, files: 300, size: photo},
  {rtt: 50, files: 300, size: photo, atLeast: 0.85},
  {rtt: 50, files: 1000, size: tiny, atLeast: 0.75},
  {rtt: 50, files: 40, size: film},
  // As from most homes: what is opened while the router's queue is full loses packets.
  {rtt: 50, rate: 10, files: 100, size: photo, atLeast: 0.8},
  {rtt: 50, rate: 100, files: 20, size: film},
  {rtt: 150, files: 300, size: tiny, atLeast: 0.75},
  {rtt: 150, files: 1000, size: tiny, atLeast: 0.85},
  {rtt: 150, files: 1000, size: photo, atLeast: 0.85},
  // With eight at a time until the first is stored, since a key that is refused must not cost more; then lost packets decide.
  {rtt: 150, loss: 0.01, files: 40, size: film, atLeast: 0.75},
];

/** What a cell is called in the table. */
export function nameOf({rtt, rate, loss, delay, most, files, size}) {
  const parts = [
    `${files} of ${size < film ? `${size / kilobyte} kB` : `${size / 2 ** 20} MiB`}`,
    `${rtt} ms`,
    rate && `${rate} Mbit/s`,
    loss && `${loss * 100} % lost`,
    delay && `answers after ${delay} ms`,
    most && `${most} at a time`,
  ];
  return parts.filter(Boolean).join(', ');
}
