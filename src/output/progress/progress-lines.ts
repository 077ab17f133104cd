import {cellsOf, cutEnd, cutMiddle} from '../cells.ts';
import {printable} from '../escape.ts';
import {formatBytes, formatDuration} from '../units.ts';
import type {FileInFlight, Standing} from './meter.ts';
import {filesText, standingBar, standingPercent, standingTexts, unavailableText} from './meter.ts';

/** The least cells for a name; it gets a third of the line if that is more. */
const narrowestName = 12;
const widestBar = 40;

/** The results so far: the summary, and shorter texts for narrow terminals. */
export type Counts = readonly string[];

/** The lines for a batch, each of at most this many cells: the percentage and the counts are kept longest. */
export function batchLines(standing: Standing, counts: Counts, room: number): string[] {
  const percent = standingPercent(standing);
  const texts = standingTexts(standing);
  const [full = ''] = texts;
  const bar = standingBar(standing, Math.min(widestBar, room - cellsOf(full) - 2));
  const shorter =
    percent === undefined ? texts : [...texts.map(text => `${percent}%  ${text}`), `${percent}%`];
  const files = filesText(standing);
  const unavailable = unavailableText(standing);
  return [
    longestFitting(bar === '' ? shorter : [`${bar}  ${full}`], room),
    `  ${longestFitting([...counts.map(text => `${files}: ${text}`), files], room - 2)}`,
    ...(unavailable === '' ? [] : [`  ${cutEnd(unavailable, room - 2)}`]),
  ];
}

/** The line for a file, of at most this many cells: its name and percentage are kept longest, the time left and the rate go first. */
export function fileLine(file: FileInFlight, now: number, room: number): string {
  const name = printable(file.name);
  const forName = Math.min(cellsOf(name), Math.max(narrowestName, Math.floor(room / 3)));
  const text = longestFitting(fileTexts(file, now, room - forName - 2), room - forName - 2);
  return cutEnd(`${cutMiddle(name, Math.max(0, room - cellsOf(text) - 2))}  ${text}`, room);
}

function fileTexts({size, sent, start, waiting}: FileInFlight, now: number, room: number): string[] {
  if (waiting === undefined) return progressTexts(size, sent, now - start);
  const when = whenText(waiting.until, now);
  return [cutEnd(`${when}: ${printable(waiting.why)}`, Math.max(room, when.length + 12)), when];
}

function whenText(until: number | undefined, now: number): string {
  if (until === undefined) return 'waiting for the service';
  const seconds = Math.ceil((until - now) / 1000);
  return seconds > 0 ? `next try in ${seconds} s` : 'trying again';
}

/** The progress of an upload: percent, bytes, rate and time left; then ever shorter texts. */
export function progressTexts(size: number, sent: number, elapsedMs: number): string[] {
  if (sent >= size)
    return [`${formatBytes(size)} sent, waiting for the response`, '100%  waiting for the response', '100%'];
  const percent = `${Math.floor((100 * sent) / size)}%`;
  const share = `${percent}  ${formatBytes(sent)}/${formatBytes(size)}`;
  if (sent === 0 || elapsedMs < 500) return [share, percent];
  const rate = sent / (elapsedMs / 1000);
  const pace = `${share}  ${formatBytes(rate)}/s`;
  return [`${pace}  ${formatDuration((size - sent) / rate)} left`, pace, share, percent];
}

/** The first text that fits, or the last one shortened. */
function longestFitting(texts: readonly string[], room: number): string {
  return texts.find(text => cellsOf(text) <= room) ?? cutEnd(texts.at(-1) ?? '', room);
}
