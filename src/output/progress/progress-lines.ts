import {cellsOf, cutEnd, cutMiddle} from '../cells.ts';
import {printable} from '../escape.ts';
import {formatBytes, formatDuration} from '../units.ts';
import type {FileInFlight, Standing} from './meter.ts';
import {filesText, standingPercent, standingText, unavailableText} from './meter.ts';

/** The least cells for a name; it gets a third of the line if that is more. */
const narrowestName = 18;

/** The lines for a batch, each of at most this many cells, with the summary of its results. */
export function batchLines(standing: Standing, summary: string, room: number): string[] {
  const percent = standingPercent(standing);
  const unavailable = unavailableText(standing);
  return [
    cutEnd(`${percent === undefined ? '' : `${percent}%  `}${standingText(standing)}`, room),
    `  ${cutEnd(`${filesText(standing)}: ${summary}`, room - 2)}`,
    ...(unavailable === '' ? [] : [`  ${cutEnd(unavailable, room - 2)}`]),
  ];
}

/** The line for a file, of at most this many cells: its name, and its progress or why it waits. */
export function fileLine(file: FileInFlight, now: number, room: number): string {
  const text = fileText(file, now);
  const forName = Math.max(narrowestName, Math.floor(room / 3), room - cellsOf(text) - 2);
  return cutEnd(`${cutMiddle(printable(file.name), forName)}  ${text}`, room);
}

function fileText({size, sent, start, waiting}: FileInFlight, now: number): string {
  if (waiting === undefined) return progressText(size, sent, now - start);
  return `${whenText(waiting.until, now)}: ${printable(waiting.why)}`;
}

function whenText(until: number | undefined, now: number): string {
  if (until === undefined) return 'waiting for the service';
  const seconds = Math.ceil((until - now) / 1000);
  return seconds > 0 ? `next try in ${seconds} s` : 'trying again';
}

/** The progress of an upload: percent, bytes, rate and time left. */
export function progressText(size: number, sent: number, elapsedMs: number): string {
  if (sent >= size) return `100%  ${formatBytes(size)} sent, waiting for the response`;
  const share = `${Math.floor((100 * sent) / size)}%  ${formatBytes(sent)}/${formatBytes(size)}`;
  if (sent === 0 || elapsedMs < 500) return share;
  const rate = sent / (elapsedMs / 1000);
  return `${share}  ${formatBytes(rate)}/s  ${formatDuration((size - sent) / rate)} left`;
}
