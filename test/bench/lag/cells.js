const kilobyte = 1000;
const tiny = 3 * kilobyte;
const photo = 100 * kilobyte;
const film = 5 * 2 ** 20;

/**
 * Lines (rtt in ms, rate in Mbit/s, loss), the services at their ends (they answer after `delay` ms, or take `most` at a time and
 * refuse the rest) and the files that are sent there. `atLeast`: what auto should reach of the best fixed number. With few files whose
 * answers take long it cannot be 0.9: until the first of them, no more than 16 are sent, so that a service that takes 4 refuses few.
 */
export const shortCells = [
  {rtt: 1, delay: 200, files: 300, size: tiny, atLeast: 0.8},
  {rtt: 10, files: 1000, size: photo},
  {rtt: 50, files: 1000, size: photo},
  {rtt: 50, rate: 10, files: 300, size: tiny},
  {rtt: 50, rate: 100, files: 300, size: photo},
  {rtt: 150, files: 300, size: photo, atLeast: 0.7},
  {rtt: 150, loss: 0.01, files: 300, size: photo, atLeast: 0.7},
  {rtt: 50, delay: 50, most: 4, files: 300, size: tiny},
];

/** The rest, which takes a quarter of an hour. */
export const longCells = [
  {rtt: 1, files: 1000, size: tiny},
  {rtt: 1, files: 1000, size: photo},
  {rtt: 1, delay: 50, files: 1000, size: tiny},
  {rtt: 1, delay: 200, files: 1000, size: tiny},
  {rtt: 10, files: 300, size: photo},
  {rtt: 10, rate: 100, files: 300, size: photo},
  {rtt: 10, loss: 0.01, files: 1000, size: photo},
  {rtt: 10, delay: 200, most: 4, files: 300, size: photo},
  {rtt: 50, files: 300, size: photo, atLeast: 0.7},
  {rtt: 50, files: 1000, size: tiny, atLeast: 0.7},
  {rtt: 50, files: 40, size: film},
  {rtt: 50, rate: 100, files: 20, size: film},
  {rtt: 150, files: 300, size: tiny, atLeast: 0.7},
  {rtt: 150, files: 1000, size: tiny, atLeast: 0.7},
  {rtt: 150, files: 1000, size: photo},
  {rtt: 150, loss: 0.01, files: 40, size: film},
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
